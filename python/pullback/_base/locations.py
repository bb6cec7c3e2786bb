"""The location of a line in messages: `train.py:12`, or `Cell In[3], line 2` in a notebook."""

import sys
from os.path import basename


def location(file: str, line: int, brief: bool = False) -> str:
    """Return the location of a line; `brief` leaves out the folder of the file."""
    if cell := _cell(file):
        return f"{cell}, line {line}"
    return f"{basename(file) if brief else file}:{line}"


def _cell(file: str) -> str | None:
    """Return the name that IPython gives to the code of a cell; None for other files."""
    shell_of = getattr(sys.modules.get("IPython"), "get_ipython", None)
    compiler = getattr(shell_of(), "compile", None) if shell_of else None
    named = getattr(compiler, "format_code_name", None)  # since IPython 8
    words = named(file) if named else None
    return " ".join(words) if words else None
