"""Broken programs and what `explain` says of them."""
