"""Properties that hold for the derivatives of every operation, whatever their values.

Each is a function of the calls of one case (`Calls`) and of a `Check` that it reports to.
`test_ops.py` runs all of them in one test per case. A new property is a function in the list of its
module.
"""

from __future__ import annotations

from ..cases import Case
from ..check import Check
from . import batches, forward, reverse, sparse
from .calls import Calls

PROPERTIES = (*reverse.PROPERTIES, *forward.PROPERTIES, *batches.PROPERTIES, *sparse.PROPERTIES)


def check_properties(case: Case, check: Check) -> None:
    calls = Calls(case)
    for holds in PROPERTIES:
        with check.during(holds.__name__):
            holds(calls, check)
