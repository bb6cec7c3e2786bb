"""Argument checks, dtypes, pytrees and process settings: everything else may import these, and they
import nothing of the package but `_core` and each other."""
