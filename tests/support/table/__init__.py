"""The case table: every operation once, a module for each family."""

from ..cases import Case
from . import (
    arranging,
    averages,
    composites,
    elementwise,
    grids,
    linalg,
    movement,
    nn,
    products,
    reductions,
    scans,
    sorting,
    special_bessel,
    special_erf,
    special_gamma,
    special_incomplete,
    special_inverses,
    statistics,
)

FAMILIES = (
    *(
        elementwise,
        special_gamma,
        special_incomplete,
        special_inverses,
        special_erf,
        special_bessel,
    ),  # rows of elementwise.def, in its order
    *(reductions, movement, arranging, products, composites, statistics, nn),
    *(scans, sorting),
    averages,
    grids,
    linalg,
)
CASES: list[Case] = [case for family in FAMILIES for case in family.CASES]
