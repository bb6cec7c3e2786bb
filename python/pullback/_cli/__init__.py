"""The commands of `python -m pullback`."""
