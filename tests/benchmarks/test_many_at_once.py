"""The measurements of clicks beside busy workspaces, without the product."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from benchmarks.comparison.people import person
from benchmarks.many_at_once import enrichment, report
from benchmarks.many_at_once.groups import Observed
from benchmarks.many_at_once.scenarios import Comparison


def comparison(**changes: Any) -> Comparison:
    return Comparison(
        **(
            {
                "title": "beside a flood",
                "quiet": Observed([0.010] * 99 + [0.020], 10.0),
                "busy": Observed([0.015] * 99 + [0.080], 10.0),
                "busy_rate": 120.4,
            }
            | changes
        )
    )


def test_a_ratio_compares_the_latency_while_busy_with_that_while_quiet() -> None:
    assert comparison().ratio(0.5) == pytest.approx(1.5)


def test_without_clicks_there_is_no_ratio() -> None:
    assert comparison(quiet=Observed()).ratio(0.5) == 0


def test_answers_of_the_same_group_are_added() -> None:
    observed = Observed([0.010], 1.0, Counter({"429": 1}), ["first"])

    observed.add(Observed([0.020, 0.030], 2.0, Counter({"429": 2, "0": 1}), ["second"]))

    assert observed == Observed([0.010, 0.020, 0.030], 3.0, Counter({"429": 3, "0": 1}), ["first", "second"])
    assert observed.rate == 1


def test_a_click_that_was_refused_is_wrong() -> None:
    found = comparison()

    found.add(Observed([0.010], 1.0, Counter({"503": 2}), ["nothing instead of an address"]), quiet=False)

    assert found.wrong == ["nothing instead of an address", "2 clicks were answered 503"]


def test_the_report_has_times_ratios_and_refusals() -> None:
    text = report.markdown([comparison(refused={"429": 1500})], 1.0)

    row = [cell.strip() for cell in text.splitlines()[-3].split("|")[1:-1]]
    assert [row[0], row[1], row[3], row[5]] == ["beside a flood", "10.0", "15.0", "1.50"]
    assert row[-2:] == ["120", "1,500 of status 429"]
    assert "All 200 clicks were answered" in text


def test_the_report_names_what_was_wrong() -> None:
    text = report.markdown([comparison(wrong=["1 contacts charged more than once"])], 1.0)

    assert "- wrong: beside a flood: 1 contacts charged more than once" in text
    assert "every answer and balance was right" not in text


def test_the_json_has_the_ratios() -> None:
    content = json.loads(report.as_json([comparison()]))

    assert (content[0]["ratio_p50"], content[0]["clicks"]) == (1.5, [100, 100])


def test_an_enrichment_is_requested_in_as_many_jobs_as_it_takes(httpserver: HTTPServer) -> None:
    httpserver.expect_request(enrichment.PATH).respond_with_json({"job": {"id": "job_1"}}, status=202)

    jobs = enrichment.request(httpserver.port, "ses_1", 250)

    bodies = [request.get_json() for request, _response in httpserver.log]
    assert jobs == ["job_1"] * 3
    assert [len(body["items"]) for body in bodies] == [100, 100, 50]
    assert bodies[2]["items"][-1] == {"subject": {"linkedin_url": person(249).profile}}


@pytest.mark.parametrize(
    ("address", "charged", "wrong"),
    [(person(0).address, 1, 0), (person(1).address, 1, 1), (person(0).address, 0, 1)],
)
def test_every_item_is_checked(httpserver: HTTPServer, address: str, charged: int, wrong: int) -> None:
    item = {"index": 0, "emails": [{"email": address}], "credits_charged": charged}
    httpserver.expect_request("/api/ext/jobs").respond_with_json({"result": {"items": [item]}})

    assert len(enrichment.wrong_items(httpserver.port, "ses_1", ["job_1"])) == wrong


def test_a_refused_request_stops_the_measurement(httpserver: HTTPServer) -> None:
    httpserver.expect_request(enrichment.PATH).respond_with_json({"code": "rate_limited"}, status=429)

    with pytest.raises(RuntimeError, match="429"):
        enrichment.request(httpserver.port, "ses_1", 1)
