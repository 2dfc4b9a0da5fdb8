"""Searches for people: pages, companies by name, and requests that fail after the first."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import apollo_recording
import leadmagic_recording
import pdl_recording
import prospeo_recording
import pytest
import rocketreach_recording
from pytest_httpserver import HTTPServer
from vendor_recording import CannedResponse, people_request

from app.domain.kinds import TraceOutcome
from app.settings import ProviderSettings
from workers.providers.apollo import Apollo
from workers.providers.base import (
    PeopleQuery,
    ProviderField,
    ProviderRequest,
    ProviderResponse,
    ProviderTimeout,
    Terms,
    UnexpectedResponse,
)
from workers.providers.leadmagic import LeadMagic
from workers.providers.pdl import PeopleDataLabs
from workers.providers.prospeo import Prospeo
from workers.providers.rocketreach import RocketReach
from workers.providers.web import Vendor

pytestmark = pytest.mark.any_database

BROKEN = CannedResponse(status=500, body={"message": "down"})
HTML = CannedResponse(body="<html>", content_type="text/html")
BY_NAME = people_request(company_domain=None, company_name="Acme")
OF_EVERYBODY: dict[str, Any] = {"titles": (), "seniorities": (), "countries": ()}


def asked(vendor: type[Vendor], server: HTTPServer, request: ProviderRequest) -> ProviderResponse:
    reply = vendor(ProviderSettings(api_key="key", base_url=server.url_for(""))).call(request, seconds=3)
    assert isinstance(reply, ProviderResponse)
    return reply


def answer(server: HTTPServer, *answers: CannedResponse) -> None:
    """Send the responses in order, whatever is requested."""
    for canned in answers:
        server.expect_ordered_request(re.compile(".*")).respond_with_data(
            canned.body if isinstance(canned.body, str) else json.dumps(canned.body),
            canned.status,
            content_type=canned.content_type,
        )


def bodies(server: HTTPServer) -> list[Any]:
    return [json.loads(request.get_data() or b"{}") for request, _response in server.log]


def paged(request: ProviderRequest, limit: int, page: int) -> ProviderRequest:
    return replace(request, query=replace(request.people, limit=limit, page=page))


def of_prospeo(count: int, total: int) -> CannedResponse:
    person = {"person": prospeo_recording.PERSON, "company": prospeo_recording.COMPANY}
    return prospeo_recording.found(*[person] * count, total=total)


def apollo_found(count: int, total: int) -> CannedResponse:
    return CannedResponse(
        body={"total_entries": total, "people": [{"id": f"id{number}"} for number in range(count)]}
    )


def test_prospeo_reads_as_many_pages_of_25_as_the_query_needs(httpserver: HTTPServer) -> None:
    answer(httpserver, of_prospeo(25, 200), of_prospeo(25, 200))

    reply = asked(Prospeo, httpserver, paged(people_request(), limit=40, page=1))

    assert [body["page"] for body in bodies(httpserver)] == [1, 2]
    assert (len(reply.people), reply.cost, reply.has_more) == (40, 2, True)


def test_prospeo_skips_the_people_of_earlier_pages(httpserver: HTTPServer) -> None:
    answer(httpserver, of_prospeo(25, 80), of_prospeo(25, 80), of_prospeo(5, 80))

    reply = asked(Prospeo, httpserver, paged(people_request(), limit=40, page=2))

    assert [body["page"] for body in bodies(httpserver)] == [2, 3, 4]
    assert (len(reply.people), reply.has_more) == (40, False)


def test_prospeo_stops_at_the_last_page(httpserver: HTTPServer) -> None:
    answer(httpserver, of_prospeo(3, 3))

    reply = asked(Prospeo, httpserver, paged(people_request(), limit=100, page=1))

    assert (len(reply.people), reply.cost, reply.has_more) == (3, 1, False)


@pytest.mark.parametrize("failure", [BROKEN, HTML])
def test_prospeo_returns_the_people_of_the_pages_before_a_failure(
    httpserver: HTTPServer, failure: CannedResponse
) -> None:
    answer(httpserver, of_prospeo(25, 200), failure)

    reply = asked(Prospeo, httpserver, paged(people_request(), limit=40, page=1))

    assert (reply.outcome, len(reply.people), reply.cost) == (TraceOutcome.HIT, 25, 1)


def test_prospeo_refuses_filters_that_it_does_not_know(httpserver: HTTPServer) -> None:
    answer(httpserver, prospeo_recording.error(400, "INVALID_FILTERS"))

    assert asked(Prospeo, httpserver, people_request()).outcome is TraceOutcome.INELIGIBLE


def test_apollo_requests_ten_people_at_a_time(httpserver: HTTPServer) -> None:
    matched = apollo_recording.matches(*[apollo_recording.PERSON] * 10)
    answer(httpserver, apollo_found(12, 30), matched, apollo_recording.matches(apollo_recording.PERSON, None))

    reply = asked(Apollo, httpserver, paged(people_request(), limit=12, page=1))

    _search, first, second = bodies(httpserver)
    assert (len(first["details"]), second["details"]) == (10, [{"id": "id10"}, {"id": "id11"}])
    assert (len(reply.people), reply.cost, reply.has_more) == (11, 11, True)
    assert [email.email for email in reply.people[0].emails] == ["ada.lovelace@acme.com"]


@pytest.mark.parametrize("failure", [BROKEN, HTML, CannedResponse(body={"matches": "none"})])
def test_apollo_returns_the_people_requested_before_a_failure(
    httpserver: HTTPServer, failure: CannedResponse
) -> None:
    matched = apollo_recording.matches(*[apollo_recording.PERSON] * 10)
    answer(httpserver, apollo_found(12, 12), matched, failure)

    reply = asked(Apollo, httpserver, paged(people_request(), limit=12, page=1))

    assert (reply.outcome, len(reply.people), reply.cost) == (TraceOutcome.HIT, 10, 10)


def test_apollo_reports_a_failure_of_the_first_request_of_people(httpserver: HTTPServer) -> None:
    answer(httpserver, apollo_recording.FOUND, BROKEN)

    assert asked(Apollo, httpserver, people_request()).outcome is TraceOutcome.ERROR


def test_apollo_raises_what_it_cannot_read_of_the_first_request(httpserver: HTTPServer) -> None:
    answer(httpserver, apollo_recording.FOUND, HTML)

    with pytest.raises(UnexpectedResponse):
        asked(Apollo, httpserver, people_request())


def test_apollo_counts_the_people_if_it_does_not_say_what_it_charged(httpserver: HTTPServer) -> None:
    matched = apollo_recording.matches(apollo_recording.PERSON)
    answer(
        httpserver, apollo_recording.FOUND, replace(matched, body=matched.body | {"credits_consumed": None})
    )

    assert asked(Apollo, httpserver, people_request()).cost == 1


def test_apollo_does_not_search_by_the_name_of_a_company() -> None:
    apollo = Apollo(ProviderSettings(api_key="key"))

    assert apollo.unavailability(BY_NAME) is TraceOutcome.INELIGIBLE


def test_pdl_searches_by_name_and_from_a_position(httpserver: HTTPServer) -> None:
    body = {"status": 200, "data": [pdl_recording.PERSON], "total": 30}
    answer(httpserver, CannedResponse(body=body))

    reply = asked(PeopleDataLabs, httpserver, paged(BY_NAME, limit=10, page=3))

    (sent,) = bodies(httpserver)
    assert (sent["from"], sent["query"]["bool"]["must"][0]) == (20, {"term": {"job_company_name": "acme"}})
    assert (len(reply.people), reply.has_more) == (1, True)


def test_pdl_sends_only_the_criteria_that_there_are(httpserver: HTTPServer) -> None:
    answer(httpserver, CannedResponse(body={"status": 200, "data": [], "total": 0}))

    reply = asked(PeopleDataLabs, httpserver, people_request(**OF_EVERYBODY))

    assert bodies(httpserver)[0]["query"] == {
        "bool": {"must": [{"term": {"job_company_website": "acme.com"}}]}
    }
    assert (reply.outcome, reply.cost) == (TraceOutcome.MISS, 0)


@pytest.mark.parametrize("vendor", [PeopleDataLabs, RocketReach, Apollo, Prospeo])
def test_a_response_without_people_is_unexpected(httpserver: HTTPServer, vendor: type[Vendor]) -> None:
    answer(httpserver, CannedResponse(body={"status": 200}))

    with pytest.raises(UnexpectedResponse):
        asked(vendor, httpserver, people_request())


def test_rocketreach_searches_by_name_and_reads_profiles_in_an_object(httpserver: HTTPServer) -> None:
    answer(httpserver, CannedResponse(body={"profiles": [rocketreach_recording.PROFILE] * 2}))

    reply = asked(RocketReach, httpserver, paged(BY_NAME, limit=2, page=2))

    (sent,) = bodies(httpserver)
    assert (sent["query"]["company_name"], sent["start"]) == (["Acme"], 3)
    assert (len(reply.people), reply.has_more, reply.cost) == (2, True, 0)


def test_prospeo_searches_by_the_name_of_a_company(httpserver: HTTPServer) -> None:
    answer(httpserver, of_prospeo(0, 0))

    reply = asked(Prospeo, httpserver, BY_NAME)

    assert bodies(httpserver)[0]["filters"]["company"] == {"names": {"include": ["Acme"]}}
    assert (reply.outcome, reply.cost) == (TraceOutcome.MISS, 0)


def test_a_vendor_that_is_too_slow_for_the_first_page_times_out() -> None:
    prospeo = Prospeo(ProviderSettings(api_key="key", base_url="http://127.0.0.1:1"))

    with pytest.raises(ProviderTimeout):
        prospeo.call(people_request(), seconds=0)


@pytest.mark.parametrize(
    ("price", "limit", "credits"), [(0.1, 25, 3), (0.1, 10, 1), (0.04, 100, 4), (0, 9, 0)]
)
def test_the_price_of_a_search_is_rounded_up(price: float, limit: int, credits: int) -> None:
    terms = Terms(prices={ProviderField.PEOPLE: price})

    assert terms.price_of(paged(people_request(), limit=limit, page=1)) == credits


def test_a_request_for_a_value_has_no_query() -> None:
    with pytest.raises(TypeError):
        _ = ProviderRequest(field=ProviderField.EMAIL, subject=people_request().subject).people


def test_the_key_of_a_query_has_all_by_which_two_differ() -> None:
    query = people_request(departments=("sales",)).people

    assert isinstance(query, PeopleQuery)
    assert query.key == (
        "titles head of sales",
        "seniorities head",
        "departments sales",
        "countries FR",
        "limit 10",
        "page 1",
    )


def test_leadmagic_lists_employees_under_either_name_and_fifty_at_most(httpserver: HTTPServer) -> None:
    rows = [leadmagic_recording.EMPLOYEE] * 50
    body = {"message": "Data found.", "total_count": 900, "data": rows}
    answer(httpserver, CannedResponse(body=body))

    reply = asked(LeadMagic, httpserver, paged(leadmagic_recording.EVERYBODY, limit=80, page=1))

    assert bodies(httpserver) == [{"company_domain": "acme.com", "limit": 50}]
    assert (len(reply.people), reply.cost, reply.has_more) == (50, 2.5, False)
    assert reply.people[0].company is not None
    assert reply.people[0].company.domain == "acme.com"


@pytest.mark.parametrize(
    "request_",
    [
        BY_NAME,
        people_request(),
        people_request(**OF_EVERYBODY, departments=("sales",)),
        paged(leadmagic_recording.EVERYBODY, limit=10, page=2),
    ],
)
def test_leadmagic_is_not_asked_for_what_it_does_not_document(request_: ProviderRequest) -> None:
    vendor = LeadMagic(ProviderSettings(api_key="key"))

    assert vendor.unavailability(request_) is TraceOutcome.INELIGIBLE
