"""Checks of gradients for tests, `pb.testing`."""

from ._autodiff.gradient_check import GradientError, check_gradients

__all__ = ["GradientError", "check_gradients"]
