"""Every row of the case table: its values, its derivatives against finite differences, and what
holds of every derivative. One test per row runs all checks and reports all that fail."""

from __future__ import annotations

import pytest
from support import checks, values
from support.cases import Case
from support.check import Check
from support.properties import check_properties
from support.properties.batches import values_of_batches


def test_values(case: Case) -> None:
    check = Check()
    for holds in (
        values.values,
        values.values_in_layouts,
        values.values_at_every_position,
        values_of_batches,
    ):
        with check.during(holds.__name__):
            holds(case, check)
    check.done()


def test_derivatives(differentiable: Case) -> None:
    check = Check()
    for holds in (checks.first_order, checks.second_order):
        with check.during(holds.__name__):
            holds(differentiable, check)
    check_properties(differentiable, check)
    check.done()


@pytest.mark.slow
def test_values_in_every_dtype(case: Case) -> None:
    check = Check()
    values.values(case, check, thorough=True)
    values.values_in_layouts(case, check, thorough=True)
    values.values_at_every_position(case, check, thorough=True)
    check.done()


@pytest.mark.slow
@pytest.mark.parametrize("salt", ["a", "b", "c"])
def test_derivatives_at_other_numbers(differentiable: Case, salt: str) -> None:
    check = Check()
    checks.first_order(differentiable, check, salt)
    checks.second_order(differentiable, check, salt)
    check.done()
