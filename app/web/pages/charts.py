"""Bar charts as SVG: the geometry of the bars, which templates draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 600
HEIGHT = 80
_GAP = 0.2
_MIN_HEIGHT = 1.0
"""The height of the bar of a value that is 0, so that it differs from a day without calls."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a chart that is WIDTH by HEIGHT units large."""

    x: float
    y: float
    width: float
    height: float


def bars(values: Sequence[float | None], *, maximum: float | None = None) -> list[Bar]:
    """Return a bar for each value, scaled to the maximum or the greatest value; None leaves a gap."""
    greatest = maximum or max((value for value in values if value is not None), default=0) or 1
    step = WIDTH / max(len(values), 1)
    found = []
    for index, value in enumerate(values):
        if value is not None:
            height = max(HEIGHT * value / greatest, _MIN_HEIGHT)
            x = index * step + step * _GAP / 2
            found.append(
                Bar(round(x, 2), round(HEIGHT - height, 2), round(step * (1 - _GAP), 2), round(height, 2))
            )
    return found
