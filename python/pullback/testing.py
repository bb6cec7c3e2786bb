"""Checks for tests: `pb.testing`."""

from ._autodiff.checks import GradientError, check_gradients

__all__ = ["GradientError", "check_gradients"]
