"""`pb.implicit`: solutions of equations with derivatives by the implicit function theorem."""

from ._solutions import fixed_point, minimum, root

__all__ = ["fixed_point", "minimum", "root"]
