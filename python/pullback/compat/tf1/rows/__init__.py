"""The rows of OPS for everything that is a function of its inputs; opdef.py says how to read them.

Types that need the run (variables, assignments, feeds, printing) have their rows where they are
made: variables.py, optimizer.py, placeholders.py, printing.py.
"""

from . import elementwise, movement, reductions, values

__all__ = ["elementwise", "movement", "reductions", "values"]
