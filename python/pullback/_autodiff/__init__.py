"""Derivatives: `gradients`, tapes, rules of one's own, transforms, traced functions."""
