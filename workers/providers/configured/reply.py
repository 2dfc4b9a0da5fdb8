"""Parses replies of a configured provider by the expressions of its table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from jmespath.exceptions import JMESPathError
from jmespath.parser import ParsedResult

from app.domain.findings import EmailStatus, FoundCompany, FoundContact, FoundEmail, FoundPhone, Source
from app.domain.kinds import TraceOutcome
from app.domain.lists.cells.cells import value
from app.domain.lists.cells.flags import read_opt_out
from app.domain.normal.places.countries import country_code
from workers.providers import parsing
from workers.providers.base import ProviderField, ProviderRequest, ProviderResponse, UnexpectedResponse
from workers.providers.configured.schemas import EndpointSpec


def read(provider: str, request: ProviderRequest, endpoint: EndpointSpec, body: object) -> ProviderResponse:
    """Return the values in the provider's JSON.

    Raises:
        UnexpectedResponse: an expression returns a value of the wrong type, or the table defines a miss and
            there is neither a miss nor a value.

    """
    cost = _cost(endpoint, body)
    if _search(endpoint.suppressed, body):
        return ProviderResponse(outcome=TraceOutcome.SUPPRESSED, cost=cost or 0)
    miss = ProviderResponse(outcome=TraceOutcome.MISS, cost=cost or 0)
    if _search(endpoint.miss, body):
        return miss
    rows = [_row(endpoint, item) for item in _items(endpoint, body)]
    if endpoint.miss is not None and not any(map(_has_value, rows)):
        raise UnexpectedResponse("neither a miss nor a value")
    response = _response(_ReplyParser(request, endpoint, parsing.source_of(provider)), rows)
    is_hit = response.emails or response.phones or response.contact or response.company
    return replace(response, cost=endpoint.price if cost is None else cost) if is_hit else miss


@dataclass(frozen=True, slots=True)
class _ReplyParser:
    """Parses the values of one item; `source` is their provenance."""

    request: ProviderRequest
    endpoint: EndpointSpec
    source: Source

    def email(self, row: Mapping[str, Any]) -> FoundEmail | None:
        """Build an address; return None if the item has no valid one."""
        status = EmailStatus(self.endpoint.statuses.get(_lowercase(row, "status"), EmailStatus.UNKNOWN))
        return parsing.found_email(
            parsing.text(row, "email"),
            status,
            self.source,
            kind=self.endpoint.types.get(_lowercase(row, "type")),
            confidence=self._confidence(row),
            verified_at=None if status is EmailStatus.UNKNOWN else self._verified_at(row),
        )

    def phone(self, row: Mapping[str, Any]) -> FoundPhone | None:
        """Build a phone number; return None if the item has no valid one."""
        return parsing.found_phone(
            parsing.text(row, "phone"),
            self.source,
            kind=self.endpoint.types.get(_lowercase(row, "type"), "other"),
            country=parsing.normal(country_code, parsing.text(row, "country")) or self.request.country,
            extension=parsing.text(row, "extension"),
            confidence=self._confidence(row),
            do_not_call=_do_not_call(row.get("do_not_call")),
        )

    def contact(self, row: Mapping[str, Any]) -> FoundContact | None:
        """Build a person; return None if the item has no valid one."""
        return parsing.found_contact(
            self.source,
            full_name=parsing.text(row, "full_name"),
            first_name=parsing.text(row, "first_name"),
            last_name=parsing.text(row, "last_name"),
            title=parsing.text(row, "title"),
            level=parsing.text(row, "seniority"),
            area=parsing.text(row, "department"),
            linkedin_url=parsing.text(row, "linkedin_url"),
            city=parsing.text(row, "city"),
            country=parsing.text(row, "country"),
            company=parsing.found_company(
                self.source,
                name=parsing.text(row, "company_name"),
                domain=parsing.text(row, "company_domain"),
                linkedin_url=parsing.text(row, "company_linkedin_url"),
            ),
        )

    def company(self, row: Mapping[str, Any]) -> FoundCompany | None:
        """Build a company; return None if the item has no valid one."""
        employees = parsing.figure(row, "employees")
        return parsing.found_company(
            self.source,
            name=parsing.text(row, "name"),
            domain=parsing.text(row, "domain"),
            linkedin_url=parsing.text(row, "linkedin_url"),
            industry=parsing.text(row, "industry"),
            employees=parsing.text(row, "employees") if employees is None else employees,
            city=parsing.text(row, "city"),
            country=parsing.text(row, "country"),
        )

    def _verified_at(self, row: Mapping[str, Any]) -> datetime | None:
        """Return when the status was determined: the reply's time or, for a verification without one, now."""
        if "verified_at" in self.endpoint.read:
            return parsing.time(row, "verified_at")
        return self.source.at if self.request.field is ProviderField.VERIFICATION else None

    def _confidence(self, row: Mapping[str, Any]) -> float | None:
        confidence = parsing.figure(row, "confidence")
        return None if confidence is None else min(max(confidence / self.endpoint.scale, 0.0), 1.0)


def _response(parser: _ReplyParser, rows: list[dict[str, Any]]) -> ProviderResponse:
    hit = ProviderResponse(outcome=TraceOutcome.HIT)
    match parser.request.field:
        case ProviderField.PHONE:
            return replace(hit, phones=parsing.unique_phones(map(parser.phone, rows)))
        case ProviderField.PERSON:
            return replace(hit, contact=next(filter(None, map(parser.contact, rows)), None))
        case ProviderField.COMPANY:
            return replace(hit, company=next(filter(None, map(parser.company, rows)), None))
        case ProviderField.VERIFICATION:
            verdicts = (parser.email({**row, "email": parser.request.subject.email}) for row in rows)
            known = (email for email in verdicts if email and email.status is not EmailStatus.UNKNOWN)
            return replace(hit, emails=tuple(known)[:1])
        case _:
            return replace(hit, emails=parsing.unique_emails(map(parser.email, rows), parser.request.types))


def _search(expression: ParsedResult | None, document: object) -> object:
    if expression is None:
        return None
    try:
        return expression.search(document)
    except JMESPathError:
        raise UnexpectedResponse(expression.expression) from None  # its text may quote the reply


def _items(endpoint: EndpointSpec, body: object) -> list[object]:
    if endpoint.items is None:
        return [body]
    found = _search(endpoint.items, body)
    if found is not None and not isinstance(found, list):
        raise UnexpectedResponse(endpoint.items.expression)
    return found or []


def _row(endpoint: EndpointSpec, item: object) -> dict[str, Any]:
    """Return the values of one item; objects and lists are not valid values."""
    row = {name: _search(expression, item) for name, expression in endpoint.read.items()}
    for name, entry in row.items():
        if isinstance(entry, dict | list):
            raise UnexpectedResponse(name)
    return {
        name: str(entry) if name == "phone" and isinstance(entry, int | float) else entry
        for name, entry in row.items()
    }


def _do_not_call(entry: object) -> bool | None:
    """Return whether the number must not be called; a word that is not known says so."""
    text = None if entry is None else value(str(entry))
    return read_opt_out(text) is not False if text else None


def _has_value(row: Mapping[str, Any]) -> bool:
    return any(entry not in (None, "") for entry in row.values())


def _cost(endpoint: EndpointSpec, body: object) -> float | None:
    return parsing.figure({"cost": _search(endpoint.cost, body)}, "cost")


def _lowercase(row: Mapping[str, Any], name: str) -> str:
    entry = row.get(name)
    return "" if entry is None else str(entry).strip().lower()
