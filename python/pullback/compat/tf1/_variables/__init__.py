"""Variables and variable scopes."""
