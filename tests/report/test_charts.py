"""The arithmetic behind the curves, and the parts of the SVG the page relies on."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from run_folder import metrics

from rlsh.report.charts import column, draw_all, number, percent, spread, trailing_mean, window
from rlsh.report.panels import PANELS, pass_rate


def texts(svg: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def test_column_reads_dotted_keys_and_tolerates_absence() -> None:
    rows = [{"a": 1, "b": {"c": 2.5}}, {"b": 3}, {"a": None, "b": {"c": "x"}}]
    np.testing.assert_array_equal(column(rows, "a"), [1, np.nan, np.nan])
    np.testing.assert_array_equal(column(rows, "b.c"), [2.5, np.nan, np.nan])


def test_trailing_mean_uses_the_past_only() -> None:
    y = np.array([4.0, 0.0, 2.0, 6.0])
    np.testing.assert_allclose(trailing_mean(y, 2), [4, 2, 1, 4])
    np.testing.assert_allclose(trailing_mean(y, 1), y)
    assert [window(n) for n in (1, 39, 40, 200)] == [1, 1, 2, 10]


@pytest.mark.parametrize(
    "heights", [[0.5, 0.5, 0.5], [0.0, 0.01, 0.02], [0.9, 0.98, 1.0], [0.0, 1.0], [1.0, 0.1, 0.12]]
)
def test_labels_neither_overlap_nor_leave_the_axes(heights: list[float]) -> None:
    placed = spread(heights, 0.1)
    ordered = sorted(placed)
    assert all(b - a > 0.1 - 1e-9 for a, b in pairwise(ordered))
    assert min(placed) >= 0.0 and max(placed) <= 1.0
    assert np.argsort(placed, kind="stable").tolist() == np.argsort(heights, kind="stable").tolist()


def test_labels_with_room_stay_where_they_are() -> None:
    assert spread([0.7, 0.2], 0.1) == [0.7, 0.2]
    assert spread([0.2, 0.97, 1.0], 0.1)[0] == 0.2  # a crowd at the top does not push the bottom


def test_long_tick_labels_push_the_axes_in() -> None:
    """The x of the right-aligned y labels has to leave room for their text."""
    short, long = (draw_all([{"step": s, "loss": scale * s} for s in (0, 1)])[0].svg for scale in (1, 1.3e-4))
    x = [float(re.findall(r'text-anchor: end[^>]*x="([\d.]+)"', svg)[0]) for svg in (short, long)]
    assert x[1] > x[0] + 10


def test_panels_without_data_are_not_drawn() -> None:
    assert draw_all([]) == []
    assert [c.slug for c in draw_all([{"step": 1, "loss": 2.0}])] == ["loss"]
    assert draw_all([{"step": 1, "lr": None, "seconds": {"total": 0.0}}]) == []
    assert len(draw_all([metrics(s) for s in (1, 2)])) == len(PANELS) + 2


def test_lines_are_labelled_with_their_last_mean() -> None:
    charts = {c.slug: c for c in draw_all([metrics(s) for s in range(1, 41)])}
    assert {"39.5% as drawn", "79% demonstrated", "19.8% reward only"} <= set(texts(charts["pass"].svg))
    assert "50" in texts(charts["length"].svg)
    assert "2.5" in texts(charts["turns"].svg)
    assert "12.5%" in texts(charts["truncated"].svg)
    assert {"0.002 k3", "0.001 k1"} <= set(texts(charts["kl"].svg))
    assert {"60% decode", "10% tools", "15% update", "5% other"} <= set(texts(charts["phases"].svg))


def test_shares_keep_their_whole_scale() -> None:
    charts = {c.slug: c for c in draw_all([metrics(s) for s in (1, 2)])}
    for slug in ("pass", "informative"):  # a climb from 1% to 2% must not look like one to the top
        assert {"0%", "100%"} <= set(texts(charts[slug].svg))
    assert "0" in texts(charts["entropy"].svg)


def test_phases_that_took_no_time_are_not_labelled() -> None:
    seconds = {"decode": 3.0, "reference": 0.0, "update": 1.0, "total": 4.0}
    (chart,) = draw_all([{"step": s, "seconds": seconds} for s in (1, 2)])
    assert [t for t in texts(chart.svg) if "%" in t] == ["75% decode", "25% update"]


def test_a_schedule_is_not_smoothed() -> None:
    charts = {c.slug: c for c in draw_all([{"step": s, "lr": s / 100, "loss": s / 100} for s in range(101)])}
    assert "1" in texts(charts["lr"].svg)
    assert "0.98 train" in texts(charts["loss"].svg)  # the control: a mean lags


def test_one_step_draws_a_point_and_an_area() -> None:
    charts = {c.slug: c for c in draw_all([metrics(1)])}
    assert "<use" in charts["entropy"].svg
    assert "60% decode" in texts(charts["phases"].svg)
    area = re.findall(r'<path d="([^"]+)"[^>]*fill: var\(--c1\)', charts["phases"].svg)[0]
    x = [float(pair.split()[0]) for pair in re.split("[MLz]", area) if pair.strip()]
    assert max(x) - min(x) > 100
    assert {"1", "2"} <= set(texts(charts["entropy"].svg))  # whole steps on the axis


def test_gaps_are_bridged_not_dropped() -> None:
    rows = [{"step": s, "loss": 1.0} | ({"val_loss": 2.0} if s % 10 == 0 else {}) for s in range(31)]
    (chart,) = draw_all(rows)
    assert "2 validation" in texts(chart.svg)


def test_text_is_not_read_as_mathematics() -> None:
    (chart,) = draw_all([{"step": 1, "by_set": {"a$b$_<c>": 0.5}}])
    assert "50% a$b$ &lt;c&gt;" in texts(chart.svg)


def test_every_panel_tells_what_to_look_for() -> None:
    for panel in (pass_rate(["demonstrated"]), *PANELS):
        assert 40 < len(panel.look_for) <= 110, panel.slug


def test_numbers_are_short() -> None:
    assert [number(v) for v in (0, 1904.2, 43.71, 0.02949, 2.07e-6)] == [
        "0",
        "1,904",
        "43.7",
        "0.0295",
        "2.07e-06",
    ]
    assert [percent(v) for v in (1.0, 0.8466, 0.0253)] == ["100%", "84.7%", "2.53%"]
