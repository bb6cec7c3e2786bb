"""Derivatives: `gradients`, tapes, custom rules, transforms, traced functions."""
