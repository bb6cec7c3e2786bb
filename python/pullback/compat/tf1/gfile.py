"""`tf.gfile`: files and folders under TensorFlow's names, by Python's own functions."""

import glob
import os
import shutil
from typing import Any

from .names import absent

__all__ = [
    "Copy", "DeleteRecursively", "Exists", "FastGFile", "GFile", "Glob", "IsDirectory",
    "ListDirectory", "MakeDirs", "MkDir", "Open", "Remove", "Rename", "Walk",
]  # fmt: skip
DeleteRecursively, Exists, Glob = shutil.rmtree, os.path.exists, glob.glob
IsDirectory, ListDirectory, MkDir = os.path.isdir, os.listdir, os.mkdir
Remove, Walk = os.remove, os.walk


def GFile(name: Any, mode: str = "r") -> Any:
    """`open`."""
    return open(name, mode)


FastGFile = Open = GFile


def MakeDirs(dirname: Any) -> None:
    """Makes a folder, and those that it lies in, unless it is there."""
    os.makedirs(dirname, exist_ok=True)


def _moving(who: str, function: Any) -> Any:
    def move(oldpath: Any, newpath: Any, overwrite: bool = False) -> None:
        if not overwrite and os.path.exists(newpath):
            raise FileExistsError(
                f"{who}: expected a path that does not exist for newpath, got {newpath!r}; "
                "give overwrite=True"
            )
        function(oldpath, newpath)

    return move


Copy, Rename = _moving("Copy", shutil.copy), _moving("Rename", os.replace)
__getattr__ = absent(__name__)
