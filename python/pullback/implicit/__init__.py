"""Solutions of equations and their derivatives: `pb.implicit`."""

from ._solutions import fixed_point, minimum, root

__all__ = ["fixed_point", "minimum", "root"]
