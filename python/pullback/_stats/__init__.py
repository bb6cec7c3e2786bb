"""Probability distributions: what `pullback.stats` names."""
