"""Mutation testing: measure which injected bugs the test suite detects. See `tools/mutants`."""
