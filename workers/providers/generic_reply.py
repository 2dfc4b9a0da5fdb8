"""Reads a reply to a provider of one's own by the expressions of its table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from jmespath.exceptions import JMESPathError
from jmespath.parser import ParsedResult

from app.domain.countries import country_code
from app.domain.findings import EmailStatus, FoundCompany, FoundContact, FoundEmail, FoundPhone, Source
from app.domain.kinds import TraceOutcome
from workers.providers import reading
from workers.providers.base import Ask, Field, Reply, UnexpectedAnswer
from workers.providers.generic_schemas import Question


def read(provider: str, ask: Ask, question: Question, body: object) -> Reply:
    """Give what the provider's JSON says.

    Raises:
        UnexpectedAnswer: an expression finds what it cannot be about, or, where the table says what a miss
            looks like, there is neither a miss nor a value.

    """
    cost = _cost(question, body)
    if _search(question.suppressed, body):
        return Reply(outcome=TraceOutcome.SUPPRESSED, cost=cost or 0)
    missed = Reply(outcome=TraceOutcome.MISS, cost=cost or 0)
    if _search(question.miss, body):
        return missed
    lines = [_line(question, item) for item in _items(question, body)]
    if question.miss is not None and not any(map(_says_something, lines)):
        raise UnexpectedAnswer("neither a miss nor a value")
    found = _found(_Reading(ask, question, reading.said_by(provider)), lines)
    is_hit = found.emails or found.phones or found.contact or found.company
    return replace(found, cost=question.price if cost is None else cost) if is_hit else missed


@dataclass(frozen=True, slots=True)
class _Reading:
    """What was asked, how it is read, and who says so."""

    ask: Ask
    question: Question
    source: Source

    def email(self, line: Mapping[str, Any]) -> FoundEmail | None:
        """Put an address together; None if the line has none that can be used."""
        status = EmailStatus(self.question.statuses.get(_word(line, "status"), EmailStatus.UNKNOWN))
        return reading.found_email(
            reading.text(line, "email"),
            status,
            self.source,
            kind=self.question.types.get(_word(line, "type")),
            confidence=self._confidence(line),
            verified_at=None if status is EmailStatus.UNKNOWN else self._verified_at(line),
        )

    def phone(self, line: Mapping[str, Any]) -> FoundPhone | None:
        """Put a number together; None if the line has none that can be used."""
        do_not_call = line.get("do_not_call")
        return reading.found_phone(
            reading.text(line, "phone"),
            self.source,
            kind=self.question.types.get(_word(line, "type"), "other"),
            country=reading.normal(country_code, reading.text(line, "country")) or self.ask.country,
            extension=reading.text(line, "extension"),
            confidence=self._confidence(line),
            do_not_call=do_not_call if isinstance(do_not_call, bool) else None,
        )

    def contact(self, line: Mapping[str, Any]) -> FoundContact | None:
        """Put a person together; None if the line has none that can be used."""
        return reading.found_contact(
            self.source,
            full_name=reading.text(line, "full_name"),
            first_name=reading.text(line, "first_name"),
            last_name=reading.text(line, "last_name"),
            title=reading.text(line, "title"),
            level=reading.text(line, "seniority"),
            area=reading.text(line, "department"),
            linkedin_url=reading.text(line, "linkedin_url"),
            city=reading.text(line, "city"),
            country=reading.text(line, "country"),
            company=reading.found_company(
                self.source,
                name=reading.text(line, "company_name"),
                domain=reading.text(line, "company_domain"),
                linkedin_url=reading.text(line, "company_linkedin_url"),
            ),
        )

    def company(self, line: Mapping[str, Any]) -> FoundCompany | None:
        """Put a company together; None if the line has none that can be used."""
        employees = reading.figure(line, "employees")
        return reading.found_company(
            self.source,
            name=reading.text(line, "name"),
            domain=reading.text(line, "domain"),
            linkedin_url=reading.text(line, "linkedin_url"),
            industry=reading.text(line, "industry"),
            employees=reading.text(line, "employees") if employees is None else employees,
            city=reading.text(line, "city"),
            country=reading.text(line, "country"),
        )

    def _verified_at(self, line: Mapping[str, Any]) -> datetime | None:
        """Give when the status was found out: as told, or, for a verification, now."""
        if "verified_at" in self.question.read:
            return reading.time(line, "verified_at")
        return self.source.at if self.ask.field is Field.VERIFICATION else None

    def _confidence(self, line: Mapping[str, Any]) -> float | None:
        figure = reading.figure(line, "confidence")
        return None if figure is None else min(max(figure / self.question.scale, 0.0), 1.0)


def _found(said: _Reading, lines: list[dict[str, Any]]) -> Reply:
    hit = Reply(outcome=TraceOutcome.HIT)
    match said.ask.field:
        case Field.PHONE:
            return replace(hit, phones=reading.some(map(said.phone, lines)))
        case Field.PERSON:
            return replace(hit, contact=next(filter(None, map(said.contact, lines)), None))
        case Field.COMPANY:
            return replace(hit, company=next(filter(None, map(said.company, lines)), None))
        case Field.VERIFICATION:
            verdicts = (said.email({**line, "email": said.ask.subject.email}) for line in lines)
            told = (one for one in verdicts if one and one.status is not EmailStatus.UNKNOWN)
            return replace(hit, emails=tuple(told)[:1])
        case _:
            return replace(hit, emails=reading.of_type(map(said.email, lines), said.ask.types))


def _search(expression: ParsedResult | None, within: object) -> Any:  # noqa: ANN401 -- JSON
    if expression is None:
        return None
    try:
        return expression.search(within)
    except JMESPathError:
        raise UnexpectedAnswer(expression.expression) from None  # its text may quote the reply


def _items(question: Question, body: object) -> list[object]:
    if question.items is None:
        return [body]
    found = _search(question.items, body)
    if found is not None and not isinstance(found, list):
        raise UnexpectedAnswer(question.items.expression)
    return found or []


def _line(question: Question, item: object) -> dict[str, Any]:
    """Read the values of one item; where one is expected there must be no object and no list."""
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


def _cost(question: Question, body: object) -> float | None:
    return reading.figure({"cost": _search(question.cost, body)}, "cost")


def _word(line: Mapping[str, Any], name: str) -> str:
    value = line.get(name)
    return "" if value is None else str(value).strip().lower()
