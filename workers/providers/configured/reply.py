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
from app.domain.normal.countries import country_code
from workers.providers import parsing
from workers.providers.base import ProviderField, ProviderRequest, ProviderResponse, UnexpectedAnswer
from workers.providers.configured.schemas import EndpointSpec


def read(provider: str, request: ProviderRequest, question: EndpointSpec, body: object) -> ProviderResponse:
    """Return the values in the provider's JSON.

    Raises:
        UnexpectedAnswer: an expression returns a value of the wrong type, or the table defines a miss and
            there is neither a miss nor a value.

    """
    cost = _cost(question, body)
    if _search(question.suppressed, body):
        return ProviderResponse(outcome=TraceOutcome.SUPPRESSED, cost=cost or 0)
    missed = ProviderResponse(outcome=TraceOutcome.MISS, cost=cost or 0)
    if _search(question.miss, body):
        return missed
    lines = [_line(question, item) for item in _items(question, body)]
    if question.miss is not None and not any(map(_says_something, lines)):
        raise UnexpectedAnswer("neither a miss nor a value")
    found = _found(_ReplyParser(request, question, parsing.source_of(provider)), lines)
    is_hit = found.emails or found.phones or found.contact or found.company
    return replace(found, cost=question.price if cost is None else cost) if is_hit else missed


@dataclass(frozen=True, slots=True)
class _ReplyParser:
    """Parses the values of one item; `source` is their provenance."""

    request: ProviderRequest
    question: EndpointSpec
    source: Source

    def email(self, line: Mapping[str, Any]) -> FoundEmail | None:
        """Build an address; return None if the item has no valid one."""
        status = EmailStatus(self.question.statuses.get(_word(line, "status"), EmailStatus.UNKNOWN))
        return parsing.found_email(
            parsing.text(line, "email"),
            status,
            self.source,
            kind=self.question.types.get(_word(line, "type")),
            confidence=self._confidence(line),
            verified_at=None if status is EmailStatus.UNKNOWN else self._verified_at(line),
        )

    def phone(self, line: Mapping[str, Any]) -> FoundPhone | None:
        """Build a phone number; return None if the item has no valid one."""
        do_not_call = line.get("do_not_call")
        return parsing.found_phone(
            parsing.text(line, "phone"),
            self.source,
            kind=self.question.types.get(_word(line, "type"), "other"),
            country=parsing.normal(country_code, parsing.text(line, "country")) or self.request.country,
            extension=parsing.text(line, "extension"),
            confidence=self._confidence(line),
            do_not_call=do_not_call if isinstance(do_not_call, bool) else None,
        )

    def contact(self, line: Mapping[str, Any]) -> FoundContact | None:
        """Build a person; return None if the item has no valid one."""
        return parsing.found_contact(
            self.source,
            full_name=parsing.text(line, "full_name"),
            first_name=parsing.text(line, "first_name"),
            last_name=parsing.text(line, "last_name"),
            title=parsing.text(line, "title"),
            level=parsing.text(line, "seniority"),
            area=parsing.text(line, "department"),
            linkedin_url=parsing.text(line, "linkedin_url"),
            city=parsing.text(line, "city"),
            country=parsing.text(line, "country"),
            company=parsing.found_company(
                self.source,
                name=parsing.text(line, "company_name"),
                domain=parsing.text(line, "company_domain"),
                linkedin_url=parsing.text(line, "company_linkedin_url"),
            ),
        )

    def company(self, line: Mapping[str, Any]) -> FoundCompany | None:
        """Build a company; return None if the item has no valid one."""
        employees = parsing.figure(line, "employees")
        return parsing.found_company(
            self.source,
            name=parsing.text(line, "name"),
            domain=parsing.text(line, "domain"),
            linkedin_url=parsing.text(line, "linkedin_url"),
            industry=parsing.text(line, "industry"),
            employees=parsing.text(line, "employees") if employees is None else employees,
            city=parsing.text(line, "city"),
            country=parsing.text(line, "country"),
        )

    def _verified_at(self, line: Mapping[str, Any]) -> datetime | None:
        """Return when the status was determined: the reply's time or, for a verification without one, now."""
        if "verified_at" in self.question.read:
            return parsing.time(line, "verified_at")
        return self.source.at if self.request.field is ProviderField.VERIFICATION else None

    def _confidence(self, line: Mapping[str, Any]) -> float | None:
        figure = parsing.figure(line, "confidence")
        return None if figure is None else min(max(figure / self.question.scale, 0.0), 1.0)


def _found(said: _ReplyParser, lines: list[dict[str, Any]]) -> ProviderResponse:
    hit = ProviderResponse(outcome=TraceOutcome.HIT)
    match said.request.field:
        case ProviderField.PHONE:
            return replace(hit, phones=parsing.unique_phones(map(said.phone, lines)))
        case ProviderField.PERSON:
            return replace(hit, contact=next(filter(None, map(said.contact, lines)), None))
        case ProviderField.COMPANY:
            return replace(hit, company=next(filter(None, map(said.company, lines)), None))
        case ProviderField.VERIFICATION:
            verdicts = (said.email({**line, "email": said.request.subject.email}) for line in lines)
            told = (one for one in verdicts if one and one.status is not EmailStatus.UNKNOWN)
            return replace(hit, emails=tuple(told)[:1])
        case _:
            return replace(hit, emails=parsing.unique_emails(map(said.email, lines), said.request.types))


def _search(expression: ParsedResult | None, within: object) -> Any:  # noqa: ANN401 -- JSON
    if expression is None:
        return None
    try:
        return expression.search(within)
    except JMESPathError:
        raise UnexpectedAnswer(expression.expression) from None  # its text may quote the reply


def _items(question: EndpointSpec, body: object) -> list[object]:
    if question.items is None:
        return [body]
    found = _search(question.items, body)
    if found is not None and not isinstance(found, list):
        raise UnexpectedAnswer(question.items.expression)
    return found or []


def _line(question: EndpointSpec, item: object) -> dict[str, Any]:
    """Return the values of one item; objects and lists are not valid values."""
    line = {name: _search(expression, item) for name, expression in question.read.items()}
    for name, value in line.items():
        if isinstance(value, dict | list):
            raise UnexpectedAnswer(name)
    return {
        name: str(value) if name == "phone" and isinstance(value, int) else value
        for name, value in line.items()
    }


def _says_something(line: Mapping[str, Any]) -> bool:
    return any(value not in (None, "") for value in line.values())


def _cost(question: EndpointSpec, body: object) -> float | None:
    return parsing.figure({"cost": _search(question.cost, body)}, "cost")


def _word(line: Mapping[str, Any], name: str) -> str:
    value = line.get(name)
    return "" if value is None else str(value).strip().lower()
