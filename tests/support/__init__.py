"""Helpers of the tests: pyproject.toml has pytest look for imports in tests/ and beside it."""
