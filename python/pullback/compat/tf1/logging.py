"""`tf.logging`: Python's logging under TensorFlow's names."""

from __future__ import annotations

import logging as _logging

__all__ = [
    "DEBUG", "ERROR", "FATAL", "INFO", "WARN", "debug", "error", "fatal", "get_verbosity", "info",
    "log", "set_verbosity", "warn", "warning",
]  # fmt: skip

DEBUG, INFO, WARN, ERROR, FATAL = 10, 20, 30, 40, 50
_logger = _logging.getLogger("pullback")
debug, info, error, fatal = _logger.debug, _logger.info, _logger.error, _logger.critical
warn = warning = _logger.warning
log, get_verbosity = _logger.log, _logger.getEffectiveLevel


def set_verbosity(v: int) -> None:
    """Show messages of a level and above."""
    _logger.setLevel(v)
