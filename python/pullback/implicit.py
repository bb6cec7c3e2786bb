"""Solutions of equations and their derivatives: `pb.implicit`."""

from ._autodiff.implicit import fixed_point, minimum, root

__all__ = ["fixed_point", "minimum", "root"]
