"""Loops, branches and Python functions inside of a graph."""
