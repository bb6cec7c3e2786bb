"""Loops, branches and Python functions in a graph."""
