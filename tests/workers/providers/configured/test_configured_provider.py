from __future__ import annotations

import json
import re
import socket
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from configured_recording import ADA, RECORDINGS
from pytest_httpserver import HTTPServer
from vendor_recording import CannedResponse, VendorRecording
from werkzeug import Request, Response

from app.domain.findings import EmailStatus, FoundPhone
from app.domain.kinds import TraceOutcome
from app.domain.providers.rates import Rate
from app.domain.records.subjects import Subject
from app.settings import ProviderSettings
from workers.providers.base import (
    ProviderField,
    ProviderRequest,
    ProviderResponse,
    ProviderTimeout,
    UnexpectedResponse,
)
from workers.providers.configured import provider
from workers.providers.configured.provider import CheckableConfiguredProvider, ConfiguredProvider

ANY_PATH = re.compile(".*")
HEAD = '[crm]\nurl = "https://crm.example.com"\nheaders = { X-Token = "${CRM_API_KEY}" }\n'
EMAIL = '[crm.email]\npath = "/people"\nquery.email = "{email}"\n'
READ = 'read.email = "email"\n'
WORK = ProviderRequest(field=ProviderField.EMAIL, subject=ADA, types=("work",))
OF_EACH = pytest.mark.parametrize(
    "recording",
    [pytest.param(value, id=f"{value.vendor.name}-{value.request.field}") for value in RECORDINGS],
)


@dataclass(frozen=True)
class FakeCrm:
    """A service on loopback, and the provider configured for it by a table."""

    server: HTTPServer
    folder: Path

    def provider_class(self, text: str, **variables: str) -> type[ConfiguredProvider]:
        path = self.folder / "providers.toml"
        path.write_text(text, encoding="utf-8")
        [made] = provider.read(str(path), variables)
        return made

    def provider(self, table: str) -> ConfiguredProvider:
        return self.provider_class(HEAD + table)(
            ProviderSettings(api_key="k", base_url=self.server.url_for("/"))
        )

    def respond_with(self, response: CannedResponse) -> None:
        content = response.body if isinstance(response.body, str) else json.dumps(response.body)
        response = Response(content, response.status, response.headers, content_type=response.content_type)
        self.server.expect_request(ANY_PATH).respond_with_response(response)

    def reply(self, table: str, body: Any, request: ProviderRequest = WORK) -> ProviderResponse:
        self.respond_with(CannedResponse(body=body))
        return self.provider(table).call(request, seconds=3)

    def reply_to(self, recording: VendorRecording, response: CannedResponse) -> ProviderResponse:
        self.respond_with(response)
        made = recording.vendor(ProviderSettings(api_key="k", base_url=self.server.url_for("/")))
        reply = made.call(recording.request, seconds=3)
        assert isinstance(reply, ProviderResponse)
        return reply

    @property
    def sent(self) -> Request:
        [(request, _response)] = self.server.log
        return request


@pytest.fixture
def crm(httpserver: HTTPServer, tmp_path: Path) -> FakeCrm:
    return FakeCrm(httpserver, tmp_path)


@OF_EACH
def test_the_example_returns_a_hit(recording: VendorRecording, crm: FakeCrm) -> None:
    reply = crm.reply_to(recording, recording.hit[0])

    found = [value.email for value in reply.emails] + [value.e164 for value in reply.phones]
    found += [reply.contact.full_name or ""] if reply.contact else []
    found += [reply.company.domain or ""] if reply.company else []
    assert (reply.outcome, found, reply.cost) == (TraceOutcome.HIT, [recording.value], recording.cost)
    assert crm.sent.path == recording.path


@OF_EACH
def test_nothing_found_is_a_miss(recording: VendorRecording, crm: FakeCrm) -> None:
    reply = crm.reply_to(recording, recording.miss[0])

    assert reply == ProviderResponse(outcome=TraceOutcome.MISS, cost=recording.miss_cost)


@OF_EACH
@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (401, TraceOutcome.UNCONFIGURED),
        (402, TraceOutcome.NO_CREDITS),
        (404, TraceOutcome.MISS),
        (429, TraceOutcome.RATE_LIMITED),
        (451, TraceOutcome.SUPPRESSED),
        (400, TraceOutcome.ERROR),
        (500, TraceOutcome.ERROR),
        (503, TraceOutcome.ERROR),
    ],
)
def test_a_status_code_has_its_common_outcome(
    recording: VendorRecording, crm: FakeCrm, status: int, outcome: TraceOutcome
) -> None:
    reply = crm.reply_to(recording, CannedResponse(status=status, body={"error": "no"}))

    assert reply == ProviderResponse(outcome=outcome)


@OF_EACH
@pytest.mark.parametrize("status", [200, 404, 500])
def test_an_html_page_is_an_error_with_any_status(
    recording: VendorRecording, crm: FakeCrm, status: int
) -> None:
    page = CannedResponse(status=status, body="<!doctype html>", content_type="text/html")

    assert crm.reply_to(recording, page) == ProviderResponse(outcome=TraceOutcome.ERROR)


@OF_EACH
def test_json_of_another_structure_is_an_unexpected_response(
    recording: VendorRecording, crm: FakeCrm
) -> None:
    with pytest.raises(UnexpectedResponse):
        crm.reply_to(recording, recording.unexpected[0])


@OF_EACH
def test_a_provider_that_hangs_is_a_timeout(recording: VendorRecording) -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        provider = recording.vendor(ProviderSettings(api_key="k", base_url=url))

        with pytest.raises(ProviderTimeout):
            provider.call(recording.request, seconds=0.1)


@OF_EACH
def test_a_request_needs_a_key_and_enough_identifiers(recording: VendorRecording) -> None:
    without, having = recording.vendor(ProviderSettings()), recording.vendor(ProviderSettings(api_key="k"))
    assert recording.ineligible is not None

    refusals = (
        without.unavailability(recording.request),
        having.unavailability(recording.ineligible),
        having.unavailability(recording.request),
    )

    assert refusals == (TraceOutcome.UNCONFIGURED, TraceOutcome.INELIGIBLE, None)


def test_no_content_is_a_miss(crm: FakeCrm) -> None:
    crm.respond_with(CannedResponse(status=204, body=""))

    assert crm.provider(EMAIL + READ).call(WORK, seconds=3) == ProviderResponse(outcome=TraceOutcome.MISS)


def test_a_reply_may_be_a_list(crm: FakeCrm) -> None:
    reply = crm.reply(EMAIL + 'list = "@"\n' + READ, [{"email": "ada@acme.com"}, {"email": "al@acme.com"}])

    assert [found.email for found in reply.emails] == ["ada@acme.com", "al@acme.com"]


def test_an_empty_list_is_a_miss(crm: FakeCrm) -> None:
    assert crm.reply(EMAIL + 'list = "@"\n' + READ, []) == ProviderResponse(outcome=TraceOutcome.MISS)


def test_an_item_may_be_a_text(crm: FakeCrm) -> None:
    reply = crm.reply(EMAIL + 'list = "emails"\nread.email = "@"\n', {"emails": ["ada@acme.com"]})

    assert [found.email for found in reply.emails] == ["ada@acme.com"]


@pytest.mark.parametrize("body", ["3", '"ada@acme.com"', "null"])
def test_a_reply_that_is_neither_object_nor_list_is_an_error(crm: FakeCrm, body: str) -> None:
    assert crm.reply(EMAIL + READ, body) == ProviderResponse(outcome=TraceOutcome.ERROR)


def test_a_get_sends_its_parameters_and_the_headers(crm: FakeCrm) -> None:
    table = (
        '[crm.email]\npath = "/people"\nneeds = ["full_name"]\n' + READ + "[crm.email.query]\n"
        'q = "{first_name} {last_name} ({{{company_domain}}})"\nno = "{company_name}"\nactive = true\nn = 3\n'
    )

    crm.reply(table, {})

    assert (crm.sent.method, crm.sent.path) == ("GET", "/people")
    assert crm.sent.args.to_dict() == {"q": "Ada Lovelace ({acme.com})", "active": "true", "n": "3"}
    assert crm.sent.headers["X-Token"] == "k"
    assert crm.sent.headers["Accept"] == "application/json"


def test_a_body_keeps_its_structure_without_unknown_values(crm: FakeCrm) -> None:
    table = (
        '[crm.email]\npath = "/q"\nneeds = ["email"]\n'
        + READ
        + "[crm.email.body]\nlimit = 1\nactive = true\n"
        'any = ["{email}", "{phone}", {to = "{email}"}]\nwhere = {company = {name = "{company_name}"}}\n'
    )

    crm.reply(table, {})

    assert crm.sent.method == "POST"
    assert crm.sent.get_json() == {
        "limit": 1,
        "active": True,
        "any": ["ada@acme.com", {"to": "ada@acme.com"}],
    }


HOSTILE = '"}], "admin": true, {"x": "{phone}${CRM_API_KEY}{0.__class__}'


def test_a_value_cannot_change_the_json_around_it(crm: FakeCrm) -> None:
    request = replace(WORK, subject=Subject(full_name=HOSTILE, company_domain="acme.com"))

    crm.reply('[crm.email]\npath = "/q"\nbody.name = "{full_name}"\n' + READ, {}, request)

    assert crm.sent.get_json() == {"name": HOSTILE}


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("A/../admin?x=1#y", "/people/A%2F..%2Fadmin%3Fx%3D1%23y/emails"),
        ("Zoë %2e", "/people/Zo%C3%AB%20%252e/emails"),
        ("a\r\nb", "/people/a%0D%0Ab/emails"),
    ],
)
def test_a_value_stays_within_its_segment_of_a_path(crm: FakeCrm, name: str, path: str) -> None:
    request = replace(WORK, subject=Subject(full_name=name, company_domain="acme.com"))

    crm.reply('[crm.email]\npath = "/people/{full_name}/emails"\n' + READ, {}, request)

    assert crm.sent.environ["REQUEST_URI"] == path


@pytest.mark.parametrize("name", [".", "..", "..."])
def test_a_request_with_path_traversal_is_ineligible(crm: FakeCrm, name: str) -> None:
    request = replace(WORK, subject=Subject(full_name=name, company_domain="acme.com"))

    refusal = crm.provider('[crm.email]\npath = "/people/{full_name}"\n' + READ).unavailability(request)

    assert refusal is TraceOutcome.INELIGIBLE


@pytest.mark.parametrize(
    ("needs", "refusal"),
    [
        ("", TraceOutcome.INELIGIBLE),
        ('needs = ["email"]\n', None),
        ('needs = ["phone|email"]\n', None),
        ('needs = ["phone", "email"]\n', TraceOutcome.INELIGIBLE),
    ],
)
def test_every_placeholder_is_required_unless_needs_says_otherwise(
    crm: FakeCrm, needs: str, refusal: TraceOutcome | None
) -> None:
    provider = crm.provider(EMAIL + 'query.phone = "{phone}"\n' + needs + READ)

    assert provider.unavailability(WORK) is refusal


def test_a_field_without_a_section_is_ineligible(crm: FakeCrm) -> None:
    provider = crm.provider(EMAIL + READ)

    assert provider.fields == {ProviderField.EMAIL}
    assert (
        provider.unavailability(ProviderRequest(field=ProviderField.PHONE, subject=ADA))
        is TraceOutcome.INELIGIBLE
    )


def test_an_unset_environment_variable_leaves_the_provider_unconfigured(crm: FakeCrm) -> None:
    text = '[crm]\nurl = "https://crm.example.com"\nheaders = { X-Team = "${TEAM}" }\n' + EMAIL + READ

    refusals = [
        crm.provider_class(text, **known)(ProviderSettings()).unavailability(WORK)
        for known in ({}, {"TEAM": ""}, {"TEAM": "a"})
    ]

    assert refusals == [TraceOutcome.UNCONFIGURED, TraceOutcome.UNCONFIGURED, None]


@pytest.mark.parametrize(
    ("response", "expected", "status"),
    [
        ("deliverable", 'statuses = { Deliverable = "valid" }\n', EmailStatus.VALID),
        (True, 'statuses = { true = "valid", false = "invalid" }\n', EmailStatus.VALID),
        (False, 'statuses = { true = "valid", false = "invalid" }\n', EmailStatus.INVALID),
        ("valid", 'statuses = { deliverable = "valid" }\n', EmailStatus.UNKNOWN),
        ("accept_all", "", EmailStatus.ACCEPT_ALL),
        ("sure", "", EmailStatus.UNKNOWN),
        (None, "", EmailStatus.UNKNOWN),
    ],
)
def test_its_statuses_are_mapped(crm: FakeCrm, response: object, expected: str, status: EmailStatus) -> None:
    reply = crm.reply(
        EMAIL + expected + READ + 'read.status = "state"\n', {"email": "ada@acme.com", "state": response}
    )

    assert [(found.status, found.verified_at) for found in reply.emails] == [(status, None)]


def test_an_address_without_a_status_is_not_verified(crm: FakeCrm) -> None:
    [found] = crm.reply(EMAIL + READ, {"email": "Ada@ACME.com"}).emails

    assert (found.email, found.type, found.status) == ("ada@acme.com", "work", EmailStatus.UNKNOWN)
    assert (found.source.provider, found.confidence, found.verified_at) == ("crm", None, None)


def test_a_confidence_has_a_scale_and_a_verification_its_date(crm: FakeCrm) -> None:
    table = EMAIL + "confidence_scale = 100\n" + READ + 'read.confidence = "score"\nread.status = "state"\n'
    table += 'read.verified_at = "checked"\n'

    body = {"email": "ada@acme.com", "score": "87", "state": "valid", "checked": "2026-10-01"}
    [found] = crm.reply(table, body).emails

    assert found.confidence == 0.87
    assert found.verified_at is not None
    assert found.verified_at.date().isoformat() == "2026-10-01"


def test_only_addresses_of_the_requested_type_are_kept(crm: FakeCrm) -> None:
    table = EMAIL + 'list = "lines"\ntypes = { private = "personal" }\n' + READ + 'read.type = "kind"\n'
    lines = [{"email": "ada@acme.com", "kind": "private"}, {"email": "a.l@acme.com", "kind": None}]

    reply = crm.reply(table, {"lines": lines})

    assert [found.email for found in reply.emails] == ["a.l@acme.com"]


def test_a_masked_address_is_dropped(crm: FakeCrm) -> None:
    reply = crm.reply(EMAIL + 'miss = "none"\n' + READ, {"email": "a***@acme.com"})

    assert reply == ProviderResponse(outcome=TraceOutcome.MISS)


def test_an_opted_out_person_is_suppressed(crm: FakeCrm) -> None:
    reply = crm.reply(
        EMAIL + 'suppressed = "opted_out"\n' + READ, {"email": "ada@acme.com", "opted_out": True}
    )

    assert reply == ProviderResponse(outcome=TraceOutcome.SUPPRESSED)


def test_with_a_miss_expression_a_reply_with_neither_miss_nor_value_is_unexpected(crm: FakeCrm) -> None:
    with pytest.raises(UnexpectedResponse):
        crm.reply(EMAIL + 'miss = "total == `0`"\n' + READ, {"data": "none"})


def test_an_expression_that_does_not_fit_the_reply_is_an_unexpected_response(crm: FakeCrm) -> None:
    with pytest.raises(UnexpectedResponse) as caught:
        crm.reply(EMAIL + 'read.email = "max(scores)"\n', {"scores": ["ada@acme.com", 3]})

    assert str(caught.value) == "max(scores)"


def test_a_phone_number_may_be_a_json_number(crm: FakeCrm) -> None:
    table = '[crm.phone]\npath = "/p/{email}"\nlist = "n"\ntypes = { 1 = "mobile" }\n'
    table += 'read = { phone = "no", type = "kind", confidence = "sure", do_not_call = "dnc" }\n'
    request = ProviderRequest(field=ProviderField.PHONE, subject=ADA, country="US")
    lines = [{"no": 2025550123, "kind": 1, "sure": 7, "dnc": True}, {"no": 2025550124.0, "dnc": "?"}]
    lines += [{"no": "2025550125", "dnc": 0}, {"no": "2025550126", "dnc": " "}]

    reply = crm.reply(table, {"n": lines}, request)

    assert list(map(_told, reply.phones)) == [
        ("+12025550123", "mobile", 1.0, True),
        ("+12025550124", "other", None, True),
        ("+12025550125", "other", None, False),
        ("+12025550126", "other", None, None),
    ]


@pytest.mark.parametrize(
    ("response", "outcome", "statuses"),
    [
        ("ok", TraceOutcome.HIT, [EmailStatus.VALID]),
        ("bad", TraceOutcome.HIT, [EmailStatus.INVALID]),
        ("perhaps", TraceOutcome.MISS, []),
    ],
)
def test_a_configured_verifier_gives_a_verdict_or_a_miss(
    crm: FakeCrm, response: str, outcome: TraceOutcome, statuses: list[EmailStatus]
) -> None:
    table = '[crm.verification]\npath = "/check"\nbody.address = "{email}"\nread.status = "verdict"\n'
    table += 'statuses = { ok = "valid", bad = "invalid" }\n'

    reply = crm.reply(
        table, {"verdict": response}, ProviderRequest(field=ProviderField.VERIFICATION, subject=ADA)
    )

    assert (reply.outcome, [value.status for value in reply.emails]) == (outcome, statuses)
    assert {value.email for value in reply.emails if value.verified_at} == {
        "ada@acme.com" for _one in statuses
    }


@pytest.mark.parametrize(
    ("body", "cost"),
    [
        ({"email": "ada@acme.com"}, 2),
        ({"email": "ada@acme.com", "paid": 1}, 1),
        ({"paid": 0.5}, 0.5),
        ({}, 0),
    ],
)
def test_the_cost_is_that_of_the_reply_or_the_configured_price(
    crm: FakeCrm, body: dict[str, Any], cost: float
) -> None:
    assert crm.reply(EMAIL + 'price = 2\ncost = "paid"\n' + READ, body).cost == cost


def test_the_environment_overrides_the_terms_of_the_table(crm: FakeCrm) -> None:
    text = HEAD + 'rates = "5/second"\nmiss_days = 2\ncredit_price = 0.1\ndaily_budget = 9\n'
    made = crm.provider_class(text + EMAIL + "price = 2\n" + READ)

    usual, other = (
        made(ProviderSettings()).terms,
        made(ProviderSettings(miss_days=3, rates=(Rate(1, 60),))).terms,
    )

    assert (usual.rates, usual.miss_days, usual.credit_price, usual.daily_budget) == (
        (Rate(5, 1),),
        2,
        0.1,
        9,
    )
    assert usual.prices == {ProviderField.EMAIL: 2}
    assert (other.rates, other.miss_days) == ((Rate(1, 60),), 3)


@pytest.mark.parametrize(("status", "outcome"), [(200, TraceOutcome.HIT), (401, TraceOutcome.UNCONFIGURED)])
def test_a_provider_with_a_check_path_can_be_checked(
    crm: FakeCrm, status: int, outcome: TraceOutcome
) -> None:
    provider = crm.provider('check = "/me"\n' + EMAIL + READ)
    crm.respond_with(CannedResponse(status=status, body={}))
    assert isinstance(provider, CheckableConfiguredProvider)

    check = provider.check(seconds=3)

    assert (check.outcome, crm.sent.path) == (outcome, "/me")


def test_a_provider_without_a_check_path_cannot_be_checked(crm: FakeCrm) -> None:
    assert not hasattr(crm.provider(EMAIL + READ), "check")


def _told(phone: FoundPhone) -> tuple[str, str, float | None, bool | None]:
    return phone.e164, phone.type, phone.confidence, phone.do_not_call
