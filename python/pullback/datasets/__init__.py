"""Small data sets to try things on. See README.md beside this file for source and licence."""

from ._mnist import Mnist, load_mnist

__all__ = ["Mnist", "load_mnist"]
