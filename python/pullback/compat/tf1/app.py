"""`tf.app`: the entry point of a program."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from . import flags as flags

__all__ = ["flags", "run"]


def run(main: Callable[[list[str]], Any] | None = None, argv: Sequence[str] | None = None
        ) -> NoReturn:  # fmt: skip
    """Parse the flags, call `main` with the remaining arguments, and exit with its result.

    The default is the `main` of the program.
    """
    left = flags.FLAGS(list(sys.argv if argv is None else argv), known_only=True)
    function = main if main is not None else sys.modules["__main__"].main
    sys.exit(function(left))
