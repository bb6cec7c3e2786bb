"""The state of an optimizer: variables (slots) for each variable that it updates, and slots of all
steps. A slot is saved and loaded under its name.
"""

from __future__ import annotations

from _thread import RLock  # `threading` imports slowly
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any
from warnings import warn

import numpy as np

from .. import _core
from .._core import Variable

# One lock for all optimizers, which can be copied and pickled. A step only builds operations, so
# it is short.
_lock = RLock()


class Slots:
    """Store slots by (owner, name); the owner is None for a slot of all steps."""

    def __init__(self, who: str) -> None:
        self._who = who
        self._made: dict[tuple[Variable | None, str], Variable] = {}
        self._keys: dict[Variable, str] = {}  # permanent: a slot keeps its name
        self._taken: set[str] = set()
        self._counts: dict[str, int] = {}  # number of variables by name
        self._loaded: dict[str, Any] = {}  # entries of variables that were not updated yet
        self._owners_loaded: list[str] | None = None

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Serialise a step; if it fails, remove the slots that were created inside."""
        with _lock:
            before = len(self._made)
            try:
                yield
            except BaseException:
                while len(self._made) > before:
                    self._made.popitem()
                raise
            for owner, name in islice(self._made, before, None):
                self._loaded.pop(self._key(owner, name), None)

    def get(
        self,
        owner: Variable | None,
        name: str,
        initial: float = 0,
        shape: tuple[int, ...] = (),
    ) -> Variable:
        """Return a slot; create it from the loaded state or with `initial` everywhere.

        A slot of a variable has its dtype; the others are integers.
        """
        slot = self._made.get((owner, name))
        if slot is None:
            slot = self._made[owner, name] = self._new(owner, name, initial, shape)
        return slot

    def _new(
        self, owner: Variable | None, name: str, initial: float, shape: tuple[int, ...]
    ) -> Variable:
        key = self._key(owner, name)
        dtype = "int64" if owner is None else owner.dtype
        if key in self._loaded:
            value = _core.constant(self._loaded[key], dtype, f"{self._who}: {key!r}")
            if value.shape != shape:
                raise ValueError(
                    f"{self._who}: expected shape {shape} for the loaded {key!r}, got {value.shape}"
                )
        else:
            value = _core.full(shape, initial, dtype)
            if owner is not None and self._keys[owner] in (self._owners_loaded or ()):
                raise ValueError(
                    f"{self._who}: expected {name!r} in the loaded state of {self._keys[owner]!r}, "
                    f"whose shape is {owner.shape}; the state is that of a variable of another rank"
                )
            if owner is not None and self._owners_loaded is not None:
                self._warn(f"{self._keys[owner]!r}, which starts from its initial state")
        slot: Variable = _core.slot_variable(value, f"{self._who}/{name}" if owner is None else key)
        return slot

    def shared(self, name: str) -> Any:
        """Return the value of a slot of all steps: a Variable, an array or None."""
        return self._made.get((None, name), self._loaded.get(name))

    def variables(self) -> list[Variable]:
        return list(self._named().values())

    def state_dict(self) -> dict[str, Any]:
        with _lock:
            loaded, named = dict(self._loaded), self._named()
        state: dict[str, Any] = _core.evaluate(named)
        return loaded | state

    def load(
        self,
        state: Mapping[str, Any],
        sets: tuple[tuple[str, ...], ...],
        shared: Mapping[str, bool],
    ) -> None:
        """Load a state: for each variable the names of one of the sets, and shared slots.

        A shared slot is required if its value in `shared` is True.
        """
        who = f"{self._who}.load_state_dict"
        check_mapping(state, who)
        names = tuple(chain(*sets))
        arrays = {key: _checked(key, value, names, shared, who) for key, value in state.items()}
        owners = list(dict.fromkeys(key.rpartition("/")[0] for key in arrays if key not in shared))
        wanted = [name for name, needed in shared.items() if needed and owners]
        for owner in owners:
            begun = [kind for kind in sets if any(f"{owner}/{name}" in arrays for name in kind)]
            wanted += [f"{owner}/{name}" for kind in begun for name in kind]
        if missing := [key for key in wanted if key not in arrays]:
            raise ValueError(
                f"{who}: expected the entries {', '.join(map(repr, missing))}, got none"
            )
        with _lock:
            present = self._named()
            values = {}
            for key in present.keys() & arrays.keys():
                values[key] = _core.constant(arrays[key], present[key].dtype, f"{who}: {key!r}")
                if values[key].shape != present[key].shape:
                    raise ValueError(
                        f"{who}: expected shape {present[key].shape} for {key!r}, got "
                        f"{values[key].shape}"
                    )
            for key, value in values.items():
                present[key].assign(value)
            self._loaded = {key: array for key, array in arrays.items() if key not in present}
            self._owners_loaded = owners
            kept = {self._keys[owner] for owner, _ in self._made if owner is not None}
            kept -= set(owners)
        if kept:
            self._warn(f"{', '.join(map(repr, sorted(kept)))}, whose slots stay as they are")

    def _named(self) -> dict[str, Variable]:
        """Return the slots by their names in state_dict; those of all steps are last."""
        with _lock:
            made = sorted(self._made.items(), key=lambda item: item[0][0] is None)
            return {self._key(*place): slot for place, slot in made}

    def _key(self, owner: Variable | None, name: str) -> str:
        if owner is None:
            return name
        key = self._keys.get(owner)
        if key is None:
            count = self._counts.get(owner.name, 0)
            key = f"{owner.name}_{count}" if count else owner.name
            while key in self._taken:
                count += 1
                key = f"{owner.name}_{count}"
            self._counts[owner.name] = count + 1
            self._taken.add(key)
            self._keys[owner] = key
        return f"{key}/{name}"

    def _warn(self, what: str) -> None:
        known = ", ".join(map(repr, self._owners_loaded or ())) or "no variable"
        warn(
            f"{self._who}: the loaded state has no entries for {what}; it has {known}. Variables "
            "are identified by name: give them names that are the same in every process",
            RuntimeWarning,
            stacklevel=2,
        )


def check_mapping(state: Any, who: str) -> None:
    if not isinstance(state, Mapping):
        raise TypeError(f"{who}: expected a dict of arrays for state, got {_core.shown(state)}")


def _checked(
    key: Any, value: Any, names: tuple[str, ...], shared: Mapping[str, bool], who: str
) -> Any:
    """Return an entry of a state as a read-only copy."""
    owner, _, name = key.rpartition("/") if isinstance(key, str) else ("", "", "")
    if key not in shared and not (owner and name in names):
        known = [*(f"'…/{name}'" for name in names), *map(repr, shared)]
        raise ValueError(f"{who}: expected entries {', '.join(known) or 'none'}, got {key!r}")
    array = np.array(value)
    if array.dtype.kind not in "iuf":
        raise ValueError(f"{who}: expected numbers for {key!r}, got {_core.shown(value)}")
    if key in shared and (array.dtype.kind == "f" or array.shape != () or array < 0):
        raise ValueError(f"{who}: expected an integer >= 0 for {key!r}, got {_core.shown(value)}")
    array.setflags(write=False)
    return array
