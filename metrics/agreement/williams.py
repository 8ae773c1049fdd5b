"""Williams' test: is one metric's correlation with people larger than another's, of the same n items?

The two correlations depend on each other, the more so the more alike the metrics are (Williams 1959; for metrics of
translation Graham & Baldwin 2014).
"""

from __future__ import annotations

import math


def williams(first: float, second: float, between: float, n: int) -> float | None:
    """One-sided p-value of `first` being larger than `second`.

    With r the three correlations and K = 1 - r12^2 - r13^2 - r23^2 + 2 r12 r13 r23, the test's
    t = (r12 - r13) sqrt((n - 1)(1 + r23)) / sqrt(2K (n - 1)/(n - 3) + (r12 + r13)^2 (1 - r23)^3 / 4) has n - 3 degrees
    of freedom.

    Args:
        first, second: r12 and r13, Pearson's correlation of each metric with people.
        between: r23, that of the two metrics with each other.
        n: items that all three are of.

    Returns:
        The p-value; None with fewer than four items, or where the two metrics differ by no more than a positive factor
        and a constant.
    """
    if n < 4:
        return None
    determinant = 1 - first**2 - second**2 - between**2 + 2 * first * second * between
    # Rounding can leave a determinant of 0 slightly below.
    below = 2 * max(determinant, 0.0) * (n - 1) / (n - 3) + (first + second) ** 2 * (1 - between) ** 3 / 4
    if between >= 1 - 1e-12 or below <= 0:
        return None
    from scipy.special import stdtr

    t = (first - second) * math.sqrt((n - 1) * (1 + between) / below)
    return float(stdtr(n - 3, -t))
