"""Optimizers, learning rates, moving averages, and saved variables and graphs."""
