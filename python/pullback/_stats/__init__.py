"""Probability distributions; `pullback.stats` has the public names."""
