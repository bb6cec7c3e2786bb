"""`tf.gfile`: files and folders under TensorFlow's names, with Python's own functions."""

import glob
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

from .errors import AlreadyExistsError, FailedPreconditionError, MissingFileError
from .names import taking

__all__ = [
    "Copy", "DeleteRecursively", "Exists", "FastGFile", "GFile", "Glob", "IsDirectory",
    "ListDirectory", "MakeDirs", "MkDir", "Open", "Remove", "Rename", "Stat", "Walk",
]  # fmt: skip


def _named(name: str, arguments: str, function: Callable[..., Any], doc: str) -> Any:
    """Define a function with TensorFlow's arguments and errors."""

    def call(**given: Any) -> Any:
        try:
            return function(*given.values())
        except FileNotFoundError as error:
            raise MissingFileError(None, f"{name}: {error}") from None
        except AlreadyExistsError:
            raise
        except FileExistsError as error:
            raise AlreadyExistsError(None, f"{name}: {error}") from None

    return taking(arguments, name, doc)(call)


def _glob(filename: Any) -> list[str]:
    patterns: Any = [filename] if isinstance(filename, (str, bytes, os.PathLike)) else filename
    return [path for pattern in patterns for path in glob.glob(pattern)]


def _make_folders(dirname: Any) -> None:
    if os.path.isfile(dirname):
        raise FailedPreconditionError(None, f"MakeDirs: expected a folder, got a file {dirname!r}")
    os.makedirs(dirname, exist_ok=True)


def _make_folder(dirname: Any) -> None:
    with suppress(FileExistsError):  # as TensorFlow
        os.mkdir(dirname)


def _stat(filename: Any) -> Any:
    found = os.stat(filename)
    return SimpleNamespace(
        length=found.st_size, mtime_nsec=found.st_mtime_ns, is_directory=os.path.isdir(filename)
    )


def _walk(top: Any, in_order: bool) -> Iterator[Any]:
    return os.walk(top, in_order)


def _moving(name: str, function: Any) -> Any:
    def move(old: Any, new: Any, overwrite: bool) -> None:
        if not overwrite and os.path.exists(new):
            raise AlreadyExistsError(
                None,
                f"{name}: expected a path that does not exist, got {new!r}; give overwrite=True",
            )
        function(old, new)

    return move


Exists = _named("Exists", "filename", os.path.exists, "Test whether a file or folder exists.")
Glob = _named(
    "Glob", "filename", _glob, "Return the paths that match a pattern, or one of several."
)
IsDirectory = _named("IsDirectory", "dirname", os.path.isdir, "Test whether a path is a folder.")
ListDirectory = _named("ListDirectory", "dirname", os.listdir, "Return the names in a folder.")
MkDir = _named("MkDir", "dirname", _make_folder, "Create a folder, unless the path exists.")
MakeDirs = _named("MakeDirs", "dirname", _make_folders,
                  "Create a folder and its parents, unless it exists.")  # fmt: skip
Remove = _named("Remove", "filename", os.remove, "Remove a file.")
DeleteRecursively = _named("DeleteRecursively", "dirname", shutil.rmtree,
                           "Remove a folder with everything in it.")  # fmt: skip
Copy = _named("Copy", "oldpath newpath overwrite=False", _moving("Copy", shutil.copy),
              "Copy a file.")  # fmt: skip
Rename = _named("Rename", "oldname newname overwrite=False", _moving("Rename", os.replace),
                "Move a file or folder.")  # fmt: skip
Stat = _named(
    "Stat", "filename", _stat, "Return the `length` of a file, `mtime_nsec`, `is_directory`."
)
Walk = _named(
    "Walk",
    "top in_order=True",
    _walk,
    "Walk a folder as `os.walk`; folders come last unless `in_order`.",
)
GFile = FastGFile = Open = _named("GFile", "name mode='r'", open, "Open a file as `open`.")
