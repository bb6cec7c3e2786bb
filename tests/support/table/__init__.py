"""The case table: every operation once, a module for each family."""

from ..cases import Case
from . import arranging, composites, elementwise, movement, nn, products, reductions, statistics

FAMILIES = (elementwise, reductions, movement, arranging, products, composites, statistics, nn)
CASES: list[Case] = [case for family in FAMILIES for case in family.CASES]
