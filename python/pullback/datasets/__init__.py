"""Small data sets for examples. README.md in this folder gives source and licence."""

from ._mnist import Mnist, load_mnist

__all__ = ["Mnist", "load_mnist"]
