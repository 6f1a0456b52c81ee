"""Panels drawn as inline SVG.

matplotlib draws with marker colours that become CSS variables afterwards, so one drawing follows the page
into dark mode. Everything that would differ between two renderings (dates, random ids) is taken out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import pairwise
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from rlsh.report.panels import GRID, INK, MUTED, PANELS, PHASES, SERIES, Panel, Series, pass_rate
from rlsh.report.records import Record

Floats = NDArray[np.float64]
Format = Callable[[float], str]

CSS = {INK: "--ink", MUTED: "--muted", GRID: "--line"} | {c: f"--c{i}" for i, c in enumerate(SERIES, 1)}

CHARACTER = 0.0185  # width of one, as a share of the figure's

STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",  # real text: small, searchable, in the page's own font
    "svg.hashsalt": "rlsh",
    "text.parse_math": False,
    "font.family": ["sans-serif"],
    "font.size": 10.5,
    "axes.spines.left": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.edgecolor": GRID,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "text.color": INK,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
}


@dataclass(frozen=True)
class Chart:
    """A drawn panel, ready for the page."""

    slug: str
    title: str
    svg: str
    look_for: str


@dataclass(frozen=True)
class End:
    """Where a line ends, in data units, and what is written there."""

    y: float
    text: str
    colour: str


def draw_all(rows: Sequence[Record]) -> list[Chart]:
    """Every panel the metrics have data for: pass rate first, time per phase last. `rows` are by step."""
    steps = column(rows, "step")
    sets = {name for row in rows for name in row.get("by_set", {})}
    panels = (pass_rate(sets), *PANELS)
    charts = [draw_lines(panel, steps, lines) for panel in panels if (lines := lines_of(panel, rows))]
    if np.nansum(column(rows, "seconds.total")) > 0:
        charts.append(draw_phases(steps, rows))
    return charts


def lines_of(panel: Panel, rows: Sequence[Record]) -> list[tuple[Series, Floats]]:
    """The series of a panel that the metrics know, each with its values, (rows,), NaN where unknown."""
    lines = [(series, column(rows, series.key)) for series in panel.series]
    return [(series, y) for series, y in lines if np.isfinite(y).any()]


def draw_lines(panel: Panel, steps: Floats, lines: Sequence[tuple[Series, Floats]]) -> Chart:
    """Faint: every step. Bold: the trailing mean, labelled at its end with its last value."""
    form = percent if panel.percent else number
    with mpl.rc_context(STYLE):
        figure, axes = new_axes(form)
        ends: list[End] = []
        for series, values in lines:
            known = np.isfinite(values)  # validation loss, say, is measured at some steps only
            x, y = steps[known], values[known]
            width = window(len(y)) if panel.noisy else 1
            smooth = trailing_mean(y, width)
            if width > 1:
                axes.plot(x, y, color=series.colour, linewidth=0.8, alpha=0.3)
            axes.plot(x, smooth, color=series.colour, linewidth=1.8, solid_joinstyle="round")
            axes.plot(x[-1:], smooth[-1:], "o", color=series.colour, markersize=3.5)
            ends.append(End(smooth[-1], f"{form(smooth[-1])} {series.label}".strip(), series.colour))
        axes.set_ylim(*panel.span)
        frame(axes, steps, ends)
        return Chart(panel.slug, panel.title, to_svg(figure, panel.slug, panel.title), panel.look_for)


def draw_phases(steps: Floats, rows: Sequence[Record]) -> Chart:
    """Where each step's seconds went, stacked; what no phase claims is 'other'."""
    phases = {name: np.nan_to_num(column(rows, f"seconds.{name}")) for name in PHASES}
    total = np.nan_to_num(column(rows, "seconds.total"))
    phases["other"] = np.maximum(total - sum(phases.values()), 0)
    width = window(len(rows))
    layers = np.array([trailing_mean(seconds, width) for seconds in phases.values()])  # (phases, rows)
    shares = layers.sum(axis=1) / layers.sum()
    tops = np.cumsum(layers[:, -1])  # (phases,)
    if len(rows) == 1:  # an area needs two points
        steps, layers = np.array([steps[0], steps[0] + 1]), np.repeat(layers, 2, axis=1)
    with mpl.rc_context(STYLE):
        figure, axes = new_axes(number)
        axes.stackplot(steps, layers, colors=SERIES, alpha=0.85, linewidth=0)
        axes.set_ylim(0, None)
        ends = [
            End(top - layer[-1] / 2, f"{share:.0%} {name}", colour)
            for top, layer, share, name, colour in zip(tops, layers, shares, phases, SERIES, strict=True)
            if share >= 0.005
        ]
        frame(axes, steps, ends)
        title = "Seconds per step, by phase"
        look_for = "Decoding leads as a rule. A growing 'tools' is the sandbox, a growing 'update' longer episodes."
        return Chart("phases", title, to_svg(figure, "phases", title), look_for)


def column(rows: Sequence[Record], key: str) -> Floats:
    """`key` (dotted) of every row, (rows,); NaN where it is absent or not a number."""
    values = []
    for row in rows:
        node: object = row
        for part in key.split("."):
            node = node.get(part) if isinstance(node, Mapping) else None
        values.append(float(node) if isinstance(node, (int, float)) else np.nan)
    return np.array(values, dtype=np.float64)


def number(value: float) -> str:
    """`1,900`, `43.7`, `0.0295`, `2e-06`: the shortest form that keeps three digits."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def percent(share: float) -> str:
    """`84.7%`, `2.53%`."""
    return f"{100 * share:.3g}%"


def window(steps: int) -> int:
    """How many steps the bold lines average."""
    return max(1, steps // 20)


def trailing_mean(y: Floats, width: int) -> Floats:
    """Mean of the last `width` values at each point, of fewer at the start. (N,) -> (N,)."""
    total = np.cumsum(np.concatenate([[0.0], y]))  # (N + 1,)
    end = np.arange(1, len(y) + 1)
    start = np.maximum(end - width, 0)
    means: Floats = (total[end] - total[start]) / (end - start)
    return means


def spread(heights: Sequence[float], gap: float) -> list[float]:
    """Label heights, at least `gap` apart and at most 1, in the order of `heights` and near to them."""
    placed = list(heights)
    order = sorted(range(len(placed)), key=placed.__getitem__)
    for lower, upper in pairwise(order):
        placed[upper] = max(placed[upper], placed[lower] + gap)
    ceiling = 1.0
    for i in reversed(order):
        placed[i] = min(placed[i], ceiling)
        ceiling = placed[i] - gap
    return placed


def new_axes(form: Format) -> tuple[Figure, Axes]:
    """A figure of the one size all panels share, few ticks, no box."""
    figure = Figure(figsize=(4.7, 2.5))
    FigureCanvasSVG(figure)
    axes = figure.add_axes((0, 0.12, 1, 0.83))
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: form(value)))
    axes.margins(y=0.1)
    return figure, axes


def frame(axes: Axes, steps: Floats, ends: Sequence[End]) -> None:
    """Set the x limits, write each line's name where it ends, and leave room for what stands beside the axes.

    Room is estimated from the number of characters: the page's font is not known here.
    """
    first, last = steps[0], max(steps[-1], steps[0] + 1)  # one step is no interval
    axes.set_xlim(first - 0.02 * (last - first), last + 0.02 * (last - first))
    low, high = axes.get_ylim()
    heights = spread([(end.y - low) / (high - low) for end in ends], gap=0.095)
    for height, end in zip(heights, ends, strict=True):
        axes.text(1.03, height, end.text, color=end.colour, transform=axes.transAxes, va="center")
    ticks = axes.yaxis.get_major_formatter().format_ticks(axes.get_yticks().tolist())
    left = 0.03 + CHARACTER * max(map(len, ticks))
    right = 0.03 + CHARACTER * max(len(end.text) for end in ends)
    axes.set_position((left, 0.12, 1 - left - right, 0.83))


def to_svg(figure: Figure, slug: str, title: str) -> str:
    """The figure as an `<svg>` element that can stand beside others on one page, with reproducible bytes."""
    buffer = StringIO()
    figure.savefig(buffer, format="svg")
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]  # an XML prolog has no place inside HTML
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", svg, flags=re.DOTALL)  # dates and addresses
    svg = re.sub(r'( id="|url\(#|href="#)', rf"\g<1>{slug}-", svg)  # matplotlib repeats its ids in every figure
    width, height = (72 * inches for inches in figure.get_size_inches())
    opening = f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{title}">'
    svg = re.sub(r"<svg[^>]*>", opening, svg, count=1)
    return re.sub("|".join(CSS), lambda m: f"var({CSS[m[0]]})", svg).strip()
