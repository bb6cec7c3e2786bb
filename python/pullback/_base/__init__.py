"""Argument checks, dtypes, pytrees and process settings, which every other folder may import.

Files here import `_core` and each other, nothing else of the package.
"""
