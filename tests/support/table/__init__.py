"""The case table: every operation once, a module for each family."""

from ..cases import Case
from . import (
    arranging,
    averages,
    composites,
    elementwise,
    grids,
    movement,
    nn,
    products,
    reductions,
    scans,
    sorting,
    statistics,
)

FAMILIES = (
    *(elementwise, reductions, movement, arranging, products, composites, statistics, nn),
    *(scans, sorting),
    averages,
    grids,
)
CASES: list[Case] = [case for family in FAMILIES for case in family.CASES]
