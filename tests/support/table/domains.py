"""Where the arguments of cases lie."""

from ..cases import Domain

REAL = Domain(-2.0, 2.0)
NONZERO = Domain(-2.0, 2.0, kinks=(0.0,))
POSITIVE = Domain(0.3, 3.0)
WIDE = Domain(-9.0, 9.0)
OPEN = Domain(-0.7, 4.0)
SHARE = Domain(0.05, 1.0)
EXPONENT = Domain(0.0, 3.0)  # integer powers of integers are integers only from 0 on
FLAT = Domain(-3.0, 3.0, kinks=tuple(k / 2 for k in range(-6, 7)), gap=0.06)
EVEN = Domain(-2.0, 2.0, grid=0.5)
ODD = Domain(-2.0, 2.0, grid=0.5, offset=0.25)
LOW = Domain(-1.5, -0.5, grid=0.5, offset=0.25)
HIGH = Domain(0.5, 1.5, grid=0.5, offset=0.25)
QUOTIENT = Domain(5.6, 6.4)
DIVISOR = Domain(-4.3, -3.3)
TIES = Domain(-1.0, 1.0, grid=1.0)
DISTINCT = Domain(-3.0, 3.0, distinct=True)
MASK = Domain(dtype="b")
POSITION = Domain(-5.0, 5.0)
SIZE = Domain(6.0, 9.0)
SMALL = Domain(-1.2, 1.2)
INSIDE = Domain(-0.9, 0.9)
ABOVE_1 = Domain(1.3, 4.0)
