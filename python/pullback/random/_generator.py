"""Generator: a sequence of draws; and the sequence of the module."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import NoReturn, SupportsIndex

from .. import _core
from .._base.checks import integer
from ._discrete import Discrete
from ._location_scale import LocationScale
from ._parameters import seed_number
from ._shaped import Shaped


class Generator(LocationScale, Shaped, Discrete):
    """Generate random numbers from an independent sequence with a seed.

    The functions of `pb.random` are its methods. A function that is traced with a generator draws
    from it in each call. A generator cannot be copied or pickled; `state_dict`
    and `pb.save` save its state.

    Parameters
    ----------
    seed : int
        Seed from 0 to 2**64 - 1.

    Raises
    ------
    ValueError
        If `seed` is not an integer from 0 to 2**64 - 1.
    RuntimeError
        If the generator is created while a function is traced.

    Examples
    --------
    >>> a, b = pb.random.Generator(7), pb.random.Generator(7)
    >>> (a.normal(3).numpy() == b.normal(3).numpy()).all()
    np.True_
    """

    def __init__(self, seed: SupportsIndex) -> None:
        self._source = _core.new_random_source(seed_number(seed, "Generator"))
        self._children = 0
        weakref.finalize(self, _core.free_random_source, self._source)

    def spawn(self, n: SupportsIndex) -> list[Generator]:
        """Create generators with independent sequences.

        The new sequences are independent of each other and of this generator, whose own sequence is
        not changed. The next call creates other generators.

        Parameters
        ----------
        n : int
            Number of generators, at least 0.

        Returns
        -------
        list of Generator
            The new generators.

        Raises
        ------
        ValueError
            If `n` is negative.
        TypeError
            If `n` is not an integer.

        Examples
        --------
        >>> workers = pb.random.Generator(7).spawn(2)
        >>> len({float(worker.normal()) for worker in workers})
        2
        """
        count = integer(n, "spawn", "n")
        if count < 0:
            raise ValueError(f"spawn: expected an integer >= 0 for n, got {count}")
        seed, first = _core.seed_of(self._source), self._children
        made = [Generator(_core.seed_of_child(seed, first + k)) for k in range(count)]
        self._children += count
        return made

    def state_dict(self) -> dict[str, int]:
        """Return the state: the seed, and the numbers of draws and of spawned generators.

        Returns
        -------
        dict of str to int
            Entries 'seed', 'draws' and 'children'.

        Examples
        --------
        >>> generator = pb.random.Generator(7)
        >>> _ = generator.normal(3)
        >>> generator.state_dict()
        {'seed': 7, 'draws': 1, 'children': 0}
        """
        seed, draws = _core.state_of_source(self._source)
        return {"seed": seed, "draws": draws, "children": self._children}

    def load_state_dict(self, state: Mapping[str, SupportsIndex]) -> None:
        """Continue from the state of this or another generator.

        Parameters
        ----------
        state : mapping of str to int
            Result of `state_dict`.

        Raises
        ------
        TypeError
            If `state` is not a mapping or an entry is not an integer.
        ValueError
            If an entry is missing, unknown or out of range.
        RuntimeError
            If a function is being traced.

        Examples
        --------
        >>> a, b = pb.random.Generator(7), pb.random.Generator(1)
        >>> _ = a.normal(3)
        >>> b.load_state_dict(a.state_dict())
        >>> bool((a.normal(3).numpy() == b.normal(3).numpy()).all())
        True
        """
        who = "load_state_dict"
        if not isinstance(state, Mapping):
            raise TypeError(f"{who}: expected a dict for state, got {_core.shown(state)}")
        if set(state) != {"seed", "draws", "children"}:
            raise ValueError(
                f"{who}: expected the entries 'seed', 'draws', 'children', got "
                f"{', '.join(map(repr, state)) or 'none'}"
            )
        seed = seed_number(state["seed"], who)
        draws, children = (integer(state[key], who, key) for key in ("draws", "children"))
        for key, value in (("draws", draws), ("children", children)):
            if not 0 <= value < 2**62:  # far from the end of the counter
                raise ValueError(
                    f"{who}: expected an integer from 0 to 2**62 - 1 for {key}, got {value}"
                )
        _core.set_state_of_source(self._source, seed, draws)
        self._children = children

    def __repr__(self) -> str:
        return f"Generator(seed={_core.seed_of(self._source)})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("Generator: cannot be copied or pickled; use spawn() for another one")


def _name_as_called() -> None:
    """Name the methods as users call them, for error messages of Python."""
    for family in (LocationScale, Shaped, Discrete):
        for name, method in vars(family).items():
            if not name.startswith("_"):
                method.__qualname__ = name


_name_as_called()


def _of_the_module() -> Generator:
    generator = Generator.__new__(Generator)
    generator._source = generator._children = 0
    return generator


MODULE = _of_the_module()


def seed(seed: SupportsIndex) -> None:
    """Restart the sequence of draws of the module `pullback.random`.

    Parameters
    ----------
    seed : int
        Seed from 0 to 2**64 - 1.

    Raises
    ------
    ValueError
        If `seed` is not an integer from 0 to 2**64 - 1.
    RuntimeError
        If a function is being traced.

    Examples
    --------
    >>> pb.random.seed(1)
    >>> first = pb.random.uniform(3).numpy()
    >>> pb.random.seed(1)
    >>> (pb.random.uniform(3).numpy() == first).all()
    np.True_
    """
    _core.seed_random(seed_number(seed, "seed"))
