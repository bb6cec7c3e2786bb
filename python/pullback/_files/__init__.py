"""Files: pytrees that are saved and loaded."""

from . import saving

__all__ = ["saving"]
