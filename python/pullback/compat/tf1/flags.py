"""`tf.flags`: options of the command line, parsed at the first access to one of them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

from ..._base.hints import did_you_mean
from .names import named, public_names


class _Flags:
    """The values of the options that a program has defined."""

    def __init__(self) -> None:
        self._parsers: dict[str, Callable[[str], Any]] = {}
        self._help: dict[str, str | None] = {}
        self._defaults: dict[str, Any] = {}
        self._values: dict[str, Any] | None = None

    def _define(
        self, name: str, default: Any, help: str | None, parse: Callable[[str], Any]
    ) -> None:
        if name in self._parsers:
            raise ValueError(f"flags: the flag {name!r} is defined twice; give another name")
        if isinstance(default, str):
            try:
                default = parse(default)
            except (ValueError, argparse.ArgumentTypeError) as error:
                raise ValueError(
                    f"flags: the default {default!r} of {name!r} is invalid: {error}"
                ) from None
        self._parsers[name], self._help[name] = parse, help
        self._defaults[name] = default
        if self._values is not None:
            self._values.setdefault(name, default)

    def __call__(self, argv: Sequence[str], known_only: bool = False) -> list[str]:
        """Parse a command line; return the rest, with the program first.

        An unknown option is an error, unless `known_only`.
        """
        parser = argparse.ArgumentParser(prog=argv[0] if argv else None, allow_abbrev=False)
        for name, parse in self._parsers.items():
            options: dict[str, Any] = {"default": argparse.SUPPRESS, "help": self._help[name]}
            if parse is _truth:
                parser.add_argument(f"--{name}", nargs="?", const=True, type=parse, **options)
                parser.add_argument(f"--no{name}", dest=name, action="store_false", **options)
            else:
                parser.add_argument(f"--{name}", type=parse, **options)
        given, left = parser.parse_known_args([*argv[1:]])
        if not known_only and any(text.startswith("--") for text in left):
            parser.error(f"unknown options: {' '.join(left)}")
        self._values = self._defaults | vars(given)
        return [*argv[:1], *left]

    def flag_values_dict(self) -> dict[str, Any]:
        """Return all values by name."""
        return dict(self._read())

    def _read(self) -> dict[str, Any]:
        if self._values is None:
            self(sys.argv, known_only=True)
        assert self._values is not None
        return self._values

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        values = self._read()
        if name not in values:
            raise AttributeError(_absent(name, values))
        return values[name]

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            object.__setattr__(self, name, value)
        elif name not in self._read():
            raise AttributeError(_absent(name, self._read()))
        else:
            self._read()[name] = value

    def __contains__(self, name: str) -> bool:
        return name in self._defaults

    def __iter__(self) -> Any:
        return iter(self._defaults)


def _absent(name: str, values: dict[str, Any]) -> str:
    return f"flags: expected a defined flag, got {name}{did_you_mean(name, values)}"


FLAGS = _Flags()


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "t", "1", "false", "f", "0"):
        raise argparse.ArgumentTypeError(f"flags: expected true or false, got {text!r}")
    return text.lower() in ("true", "t", "1")


def _defining(kind: str, parse: Callable[[str], Any]) -> Callable[..., None]:
    def function(
        name: str, default: Any, help: str | None, flag_values: Any = FLAGS, **args: Any
    ) -> None:
        flag_values._define(name, default, help, parse)

    doc = f"Define an option `--name` of the kind {kind}."
    return named(function, f"DEFINE_{kind}", doc)


DEFINE_string = _defining("string", str)
DEFINE_integer = _defining("integer", int)
DEFINE_float = _defining("float", float)
DEFINE_boolean = DEFINE_bool = _defining("boolean", _truth)
DEFINE_list = _defining("list", lambda text: [part.strip() for part in text.split(",")])


def DEFINE_enum(
    name: str, default: Any, enum_values: Sequence[str], help: str | None, flag_values: Any = FLAGS,
    **args: Any,
) -> None:  # fmt: skip
    """Define an option `--name` with a set of allowed values."""

    def parse(text: str) -> str:
        if text not in enum_values:
            names = ", ".join(enum_values)
            raise argparse.ArgumentTypeError(f"flags: {name} must be one of {names}; got {text!r}")
        return text

    flag_values._define(name, default, help, parse)


__all__ = public_names(globals())
