from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from benchmarks.comparison import charts, report
from benchmarks.comparison.cells import Cell, rate
from benchmarks.comparison.measure import Connections
from benchmarks.comparison.rounds import QUICK, Comparison
from benchmarks.comparison.summary import summarize
from benchmarks.comparison.systems.alternative import NO_REDIS, Alternative
from benchmarks.comparison.systems.registry import SYSTEMS
from benchmarks.comparison.systems.system import Part, Role, Workload
from tools.state import ROOT

FACTS: dict[str, Any] = {
    "date": "2026-11-22 12:00 UTC",
    "minutes": 1.0,
    "processors": 2,
    "system": "Linux",
    "rounds": 2,
    "seconds_per_cell": 5.0,
    "people": 2000,
    "workspaces": 20,
    "elsewhere": 0.03,
    "elsewhere_max": 0.1,
    "packages": {"flask": "3.1"},
}


def cell(system: str, number: int, **measured: Any) -> Cell:
    return Cell(
        system, Workload.REVEAL, 16, number, **({"answered": 100, "p50": 0.004, "rate": 100.0} | measured)
    )


def comparison(*cells: Cell) -> Comparison:
    return Comparison(SYSTEMS, QUICK, cells=list(cells))


def _parsed(drawing: str) -> ET.Element:
    return ET.fromstring(drawing)  # noqa: S314 - our own


def test_a_figure_is_the_median_of_its_rounds() -> None:
    cells = [cell("product", number, p50=p50) for number, p50 in enumerate((0.002, 0.009, 0.003))]

    assert summarize(cells)[Workload.REVEAL, 16]["product"].p50 == 0.003


def test_a_ratio_compares_cells_of_the_same_round() -> None:
    cells = [
        cell("product", 0, p50=0.004, rate=100),
        cell("product", 1, p50=0.020, rate=20),
        cell("flask-rq", 0, p50=0.008, rate=50),
        cell("flask-rq", 1, p50=0.040, rate=10),
    ]

    alternative = summarize(cells)[Workload.REVEAL, 16]["flask-rq"]

    assert (alternative.p50_ratio, alternative.rate_ratio) == (0.5, 2.0)


def test_without_the_product_there_is_no_ratio() -> None:
    assert summarize([cell("flask-rq", 0)])[Workload.REVEAL, 16]["flask-rq"].p50_ratio is None


def test_a_system_that_answered_nothing_has_no_ratio() -> None:
    cells = [cell("product", 0), cell("flask-rq", 0, answered=0, p50=0.0, rate=0.0, failed={"500": 3})]

    alternative = summarize(cells)[Workload.REVEAL, 16]["flask-rq"]

    assert (alternative.rate_ratio, alternative.failed) == (None, {"500": 3})


def test_a_single_late_answer_does_not_lower_the_rate() -> None:
    assert rate([*(number / 100 for number in range(1, 100)), 20.0]) == pytest.approx(100)


def test_without_answers_the_rate_is_0() -> None:
    assert rate([]) == 0


def test_the_report_has_a_row_for_each_system_and_the_ratio_to_the_product() -> None:
    cells = [
        cell("product", 0, p50=0.004, p99=0.01, rate=1000, cpu={Part.WEB: 0.001, Part.POSTGRES: 0.0005}),
        cell("flask-rq", 0, p50=0.008, p99=0.03, rate=500, failed={"0": 2}),
    ]

    lines = report.markdown(comparison(*cells), FACTS).splitlines()

    rows = [[text.strip() for text in line.split("|")[1:-1]] for line in lines if line.startswith("| ")]
    assert rows[2] == [
        *("this product", "4.00", "10.0", "1,000", "1.00", "1.00"),
        *("1.00", "", "", "0.50", "", "1.50", "0.00", "0"),
    ]
    assert rows[3][:6] == ["Flask + RQ", "8.00", "30.0", "500", "0.50", "2.00"]
    assert rows[3][-1] == "2 of status 0"


def test_the_report_has_the_most_memory_and_connections_of_all_rounds() -> None:
    cells = [
        cell("product", 0, memory={Part.WEB: 50 << 20}, connections=Connections(10, 3)),
        cell("product", 1, memory={Part.WEB: 60 << 20}, connections=Connections(9, 4)),
    ]

    last = [line for line in report.markdown(comparison(*cells), FACTS).splitlines() if "product" in line][-1]

    assert [text.strip() for text in last.split("|")[2:-1]] == ["16", "60", "0", "0", "60", "10", "4"]


def test_the_report_names_what_was_wrong() -> None:
    wrong = comparison(cell("product", 0))
    wrong.wrong.append("this product: 1 contacts charged more than once")

    assert "- wrong: this product: 1 contacts charged more than once" in report.markdown(wrong, FACTS)


def test_the_json_has_every_cell() -> None:
    content = json.loads(report.as_json(comparison(cell("product", 0), cell("product", 1)), FACTS))

    assert [one["round"] for one in content["cells"]] == [0, 1]


def test_the_charts_are_well_formed_and_show_every_system() -> None:
    cells = [
        cell(name, 0, p50=0.004, p99=0.01, rate=10, cpu={Part.WEB: 1.0}) for name in ("product", "flask-rq")
    ]

    drawings = charts.draw(comparison(*cells))

    assert set(drawings) == {"reveal-rate", "reveal-latency", "reveal-cpu"}
    for drawing in drawings.values():
        texts = [element.text for element in _parsed(drawing).iter("{http://www.w3.org/2000/svg}text")]
        assert {"this product", "Flask + RQ", "16 callers"} <= set(texts)


def test_a_chart_of_a_system_that_answered_nothing_has_no_bar_for_it() -> None:
    drawings = charts.draw(comparison(cell("product", 0, answered=0, p50=0.0, rate=0.0)))

    assert all(_parsed(drawing) is not None for drawing in drawings.values())


def test_the_documentation_describes_every_system() -> None:
    rows = re.findall(r"^\| ([^|]+) \|", (ROOT / "docs" / "benchmarks.md").read_text(), re.MULTILINE)

    assert {system.title for system in SYSTEMS} <= set(rows)


def test_every_name_of_a_system_is_used_once() -> None:
    names = [system.name for system in SYSTEMS]

    assert sorted(set(names)) == sorted(names)


def test_systems_that_share_redis_use_different_databases() -> None:
    numbers = [
        one.redis_database
        for one in SYSTEMS
        if isinstance(one, Alternative) and one.redis_database != NO_REDIS
    ]

    assert len(set(numbers)) == len(numbers)


def test_a_floor_is_measured_only_as_far_as_it_can_be() -> None:
    floors = [
        system for system in SYSTEMS if system.role is Role.FLOOR and Workload.ROUND_TRIP in system.workloads
    ]

    assert {callers for floor in floors for _workload, callers in QUICK.plan(floor)} == {1}
