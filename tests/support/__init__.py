"""Helpers of the tests: conftest.py puts this folder's parent on sys.path."""
