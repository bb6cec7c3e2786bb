"""`tf.logging`: Python's, with TensorFlow's names."""

from __future__ import annotations

import logging as _logging
from typing import Any

from .names import absent

__all__ = [
    "DEBUG", "ERROR", "FATAL", "INFO", "WARN", "debug", "error", "fatal", "get_verbosity", "info",
    "log", "set_verbosity", "warn", "warning",
]  # fmt: skip

DEBUG, INFO, WARN, ERROR, FATAL = 10, 20, 30, 40, 50
_logger = _logging.getLogger("pullback")
debug, info, error, fatal = _logger.debug, _logger.info, _logger.error, _logger.critical
warn = warning = _logger.warning


def log(level: int, msg: str, *args: Any) -> None:
    """Logs a message at a level."""
    _logger.log(level, msg, *args)


def get_verbosity() -> int:
    """The level from which on messages are shown."""
    return _logger.getEffectiveLevel()


def set_verbosity(v: int) -> None:
    """Shows messages from a level on."""
    _logger.setLevel(v)


__getattr__ = absent(__name__)
