"""Loops and branches that are operations."""
