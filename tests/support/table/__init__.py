"""The case table: every operation once, a module for each family."""

from ..cases import Case
from . import (
    arranging,
    averages,
    composites,
    elementwise,
    movement,
    nn,
    products,
    reductions,
    scans,
    sorting,
    special_gamma,
    statistics,
)

FAMILIES = (
    *(elementwise, reductions, movement, arranging, products, composites, statistics, nn),
    *(scans, sorting),
    averages,
    special_gamma,
)
CASES: list[Case] = [case for family in FAMILIES for case in family.CASES]
