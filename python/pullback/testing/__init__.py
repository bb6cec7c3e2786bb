"""Checks for tests: `pb.testing`."""

from ._check_gradients import GradientError, check_gradients

__all__ = ["GradientError", "check_gradients"]
