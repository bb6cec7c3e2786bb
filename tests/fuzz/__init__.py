"""The differential fuzzer: random programs over all public operations, run in many ways, and judged
by NumPy and by differences in long double, and by torch and jax where they are installed.

`tools/fuzz` runs any number of programs, tests/core/test_fuzz.py the first 2,000. A program is made
from its seed by `generate`, of the lines in `kinds`; `reference` and `oracle` say what it means,
`modes` run it, `check` compares, and `shrink` makes a failing one small.
"""
