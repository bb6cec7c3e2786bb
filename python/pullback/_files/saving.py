"""Save pytrees to files and load them: `save` and `load`.

A file is a .npz archive: an array in NumPy's format for each tensor, and `tree.json` with the
structure. A name with the suffix .safetensors selects that format, with the structure as metadata.
tree_json.py converts trees.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from io import BytesIO
from typing import Any, TypeAlias

import numpy as np

from .. import _core
from . import safetensors
from .tree_json import Reader, Writer

__all__ = ["load", "save"]

Path: TypeAlias = str | os.PathLike[str]

_FORMAT = "pullback.save"
_VERSION = 1
_STRUCTURE = "tree.json"
_SAFETENSORS = ".safetensors"


def save(path: Path, tree: Any) -> None:
    """Save a pytree to a file that `load` reads.

    The file is a .npz archive with the structure as JSON; nothing is pickled. It is written under
    another name first and then renamed, so that `path` is complete at any time.

    Parameters
    ----------
    path : str or path-like
        Name of the file, which is replaced if it exists. No suffix is added. The suffix
        ".safetensors" selects this format, which other libraries read: the name of a tensor is its
        path in the tree, such as "encoder.w".
    tree : pytree
        Tensors, variables, NumPy arrays, numbers, strings, None, optimizers and generators of
        `pb.random`, in dicts, lists, tuples, namedtuples, dataclasses, classes of attrs and
        registered classes. An object that occurs twice is saved once, if it is a variable, an
        optimizer or a generator.

    Raises
    ------
    TypeError
        If the tree contains another object, or an optimizer whose learning rate is a function. The
        message names its path in the tree.
    ValueError
        If two classes in the tree have the same name, or an array contains Python objects.
    OSError
        If the file cannot be written.

    See Also
    --------
    load, optimizers.Optimizer.state_dict

    Examples
    --------
    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "model.npz")
    >>> pb.save(path, {"w": pb.constant([1.0, 2.0]), "layers": (3, None)})
    >>> pb.load(path)
    {'w': Tensor([1., 2.], dtype=float32), 'layers': (3, None)}
    """
    import json  # these are slow to import
    from secrets import token_hex

    name = _name(path, "save", "save(path, tree)")
    writer = Writer()
    structure = {"format": _FORMAT, "version": _VERSION, "tree": writer.written(tree, "tree")}
    temporary = f"{name}.{token_hex(4)}.tmp"
    try:
        with open(temporary, "xb") as file:
            text = json.dumps(structure, allow_nan=False)
            if name.endswith(_SAFETENSORS):
                named = dict(zip(_tensor_names(writer.paths), writer.arrays, strict=True))
                metadata = {_FORMAT: text, "names": json.dumps(list(named))}
                file.writelines(safetensors.written(named, metadata, "save"))
            else:
                _write_archive(file, text, writer)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, name)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def _name(path: Any, who: str, call: str) -> str:
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(
            f"{who}: expected the name of a file for path, got {_core.shown(path)}; call {call}"
        )
    return str(os.fspath(path))


def _write_archive(file: Any, structure: str, writer: Writer) -> None:
    from zipfile import ZipFile

    with ZipFile(file, "w") as archive:
        archive.writestr(_STRUCTURE, structure)
        for i, (array, _) in enumerate(writer.arrays):
            with archive.open(f"{i}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)


def _tensor_names(paths: list[str]) -> list[str]:
    """Return distinct names for paths: "encoder.w.0" for "tree['encoder'].w[0]"."""
    names: dict[str, None] = {}
    for i, path in enumerate(paths):
        steps = re.findall(r"\['((?:[^'\\]|\\.)*)'\]|\[(\d+)\]|\.(\w+)", path)
        name = ".".join("".join(step) for step in steps) or "tree"
        names[name if name not in names and name != "__metadata__" else f"{name}.{i}"] = None
    if len(names) < len(paths):
        return [str(i) for i in range(len(paths))]
    return list(names)


def load(path: Path, classes: Iterable[type] = ()) -> Any:
    """Load a pytree from a file that `save` has written.

    Parameters
    ----------
    path : str or path-like
        Name of the file. One with the suffix ".safetensors" may be of another library; then the
        result is a dict of the tensors by name.
    classes : iterable of type, optional
        Classes of the namedtuples, dataclasses and other objects in the tree, and of optimizers
        that are not in `pb.optimizers`. They are identified by `__name__`. Default: ().

    Returns
    -------
    pytree
        The saved tree. Variables, optimizers and generators are new objects. An optimizer finds its
        state by the names of the variables that it updates.

    Raises
    ------
    ValueError
        If the file is truncated or damaged, was not written by `save`, or contains a class that is
        not among `classes`. The message names the file.
    TypeError
        If an entry of `classes` is not a class.
    OSError
        If the file cannot be read.

    See Also
    --------
    save

    Examples
    --------
    >>> import tempfile, os
    >>> from typing import NamedTuple
    >>> class Layer(NamedTuple):
    ...     w: pb.Tensor
    ...     b: pb.Tensor | None
    >>> path = os.path.join(tempfile.mkdtemp(), "model.npz")
    >>> pb.save(path, [Layer(pb.ones(2), None)])
    >>> pb.load(path, classes=[Layer])
    [Layer(w=Tensor([1., 1.], dtype=float32), b=None)]
    """
    import json
    from zipfile import BadZipFile, ZipFile

    known: dict[str, type] = {}
    for cls in classes:
        if not isinstance(cls, type):
            raise TypeError(f"load: expected classes for classes, got {_core.shown(cls)}")
        if known.setdefault(cls.__name__, cls) is not cls:
            raise ValueError(f"load: expected classes of distinct names, got two {cls.__name__!r}")
    name = _name(path, "load", "load(path)")
    if name.endswith(_SAFETENSORS):
        return _load_safetensors(name, known)
    try:
        with ZipFile(name) as archive:
            contents = {entry: archive.read(entry) for entry in archive.namelist()}
    except (BadZipFile, EOFError, NotImplementedError) as error:
        raise ValueError(
            f"load: {name!r}: expected a file written by save, got one that is truncated, damaged "
            f"or of another format ({error})"
        ) from None
    try:
        structure = json.loads(contents[_STRUCTURE])
        if structure["format"] != _FORMAT:
            raise KeyError
    except (KeyError, TypeError, ValueError):
        raise ValueError(
            f"load: {name!r}: expected a file written by save, got an archive of "
            f"{', '.join(map(repr, sorted(contents)[:3])) or 'nothing'}; numpy.load reads archives "
            "of NumPy"
        ) from None

    def array(number: int) -> Any:
        entry = f"{number}.npy"
        try:
            return np.lib.format.read_array(BytesIO(contents[entry]), allow_pickle=False)
        except (ValueError, EOFError) as error:
            raise ValueError(
                f"load: {name!r}: expected an array in {entry!r}, got damaged data ({error})"
            ) from None

    return _tree_of(name, structure, array, known)


def _load_safetensors(name: str, known: dict[str, type]) -> Any:
    import json

    with open(name, "rb") as file:
        data = file.read()
    arrays, metadata = safetensors.read(data, f"load: {name!r}")
    if _FORMAT not in metadata:
        return {key: _core.cast(_core.constant(x), dtype) for key, (x, dtype) in arrays.items()}
    try:
        structure = json.loads(metadata[_FORMAT])
        stored = [arrays[key][0] for key in json.loads(metadata["names"])]
        structure["version"], structure["tree"]
    except (KeyError, TypeError, ValueError, RecursionError):
        raise ValueError(
            f"load: {name!r}: expected a structure written by save, got damaged metadata"
        ) from None
    return _tree_of(name, structure, stored.__getitem__, known)


def _tree_of(name: str, structure: Any, array: Any, known: dict[str, type]) -> Any:
    if structure["version"] != _VERSION:
        raise ValueError(
            f"load: {name!r}: expected version {_VERSION} of the format, got "
            f"{structure['version']}; it was written by another version of pullback"
        )
    try:
        return Reader(name, array, known).read(structure["tree"])
    except (KeyError, IndexError) as error:
        raise ValueError(
            f"load: {name!r}: expected a structure written by save, got one without {error}"
        ) from None
