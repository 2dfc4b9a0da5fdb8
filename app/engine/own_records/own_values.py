"""The values that a workspace has itself of a requested field, which a reveal returns free of charge.

A value counts if its record is certain and as fresh as the request demands; a record without a date is not.
Of a record with a former company, only personal addresses, mobile numbers and addresses at the current
company count.
An address also needs a verdict of a verification, which is stored for the workspace alone. A number that a
numbering plan has assigned is valid at the workspace's word, as an imported one is at the operator's; its
type is mobile or, since systems do not say more, other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from app.domain.call_registers import is_hidden
from app.domain.findings import EmailStatus, FoundEmail, Source, SourceKind
from app.domain.kinds import TraceOutcome
from app.domain.normal.emails import email_domain, email_kind, email_reasons
from app.domain.normal.phones.phones import assigned_phone, phone_from_e164
from app.domain.providers.trace_lines import trace_line
from app.domain.records.verdict_ttl import is_fresh
from app.domain.regional_rules import PERSONAL, RegionalRules, is_maybe_mobile
from app.engine.call_registers import listings
from app.engine.call_registers.listings import Numbers
from app.engine.contacts import bounce_reports, value_reports
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.exclusions import exclusion_checks
from app.engine.exclusions.exclusion_checks import Wanted
from app.engine.lookups.field_requests import ContactField, FieldRequest
from app.engine.lookups.known_people import KnownPerson
from app.engine.own_records import own_records, own_verifications
from app.engine.own_records.own_records import Find, OwnRecord
from app.engine.own_records.own_verifications import OwnAddress, Verdict
from app.infra.clock import rfc3339
from app.infra.database.session import Session

_LASTING = frozenset({PERSONAL, "mobile"})
"""The types of values that people keep when they leave a company."""
_RANK = {status.value: rank for rank, status in enumerate(EmailStatus)}


class Question(NamedTuple):
    """A field that is requested of a person who is stored or not."""

    known: KnownPerson
    field_request: FieldRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnValue:
    """An address or a number in normal form, and the record that has it; `verified_at` is for addresses."""

    value: str = field(repr=False)
    type: str
    record: OwnRecord
    changed_at: datetime
    status: str = EmailStatus.UNKNOWN.value
    verified_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnField:
    """What a workspace has itself of a requested field.

    `values` fulfil the request, best first. `unverified` are addresses without a current verdict.
    """

    field_request: FieldRequest
    values: Sequence[OwnValue] = ()
    unverified: Sequence[OwnValue] = ()

    @property
    def identifiers(self) -> list[Identifier]:
        """The identifiers by which the values and the people of their records may be barred."""
        return [*_identifiers(self.field_request.field, [*self.values, *self.unverified])]

    @property
    def named(self) -> list[str]:
        """All identifiers of the people of the records that have the values."""
        records = [one.record for one in self.values]
        return list(
            dict.fromkeys(
                text for record in records for text in (*record.profiles, *record.emails, *record.phones)
            )
        )

    def with_verdicts(self, verdicts: Mapping[str, Verdict]) -> OwnField:
        """Return the field with the unverified addresses that fulfil the request by these verdicts."""
        decided = [_verified(one, verdicts[one.value]) for one in self.unverified if one.value in verdicts]
        fulfilling = [one for one in decided if self.field_request.accepts(one.type, one.status)]
        return replace(self, values=_sorted([*self.values, *fulfilling]), unverified=())

    def as_found(self) -> list[FoundEmail]:
        """Return the unverified addresses as a verifier needs them; they are not to be stored."""
        return [
            FoundEmail(
                email=one.value,
                type=one.type,
                status=EmailStatus.UNKNOWN,
                source=Source(one.record.system, SourceKind.PROVIDER, one.changed_at),
            )
            for one in self.unverified
        ]

    def to_public(self) -> list[dict[str, Any]]:
        """Return the values as a reveal returns stored ones."""
        if self.field_request.field is ContactField.EMAIL:
            return [_email_object(one, primary=index == 0) for index, one in enumerate(self.values)]
        return [_phone_object(one) for one in self.values]

    def trace(self, now: datetime) -> tuple[dict[str, Any], ...]:
        """Return the lines of the receipt: one for each system that has one of the values."""
        by_system = {(one.record.source, one.record.system): one for one in reversed(self.values)}
        is_email = self.field_request.field is ContactField.EMAIL
        return tuple(
            trace_line(
                provider=system,
                field=self.field_request.field.value,
                outcome=TraceOutcome.HIT.value,
                status=one.status if is_email else None,
                latency_ms=0,
                cost=0,
                at=rfc3339(now),
            )
            | {"source": source}
            for (source, system), one in reversed(by_system.items())
        )


def find_all(
    session: Session,
    finds: Mapping[str, Find],
    questions: Sequence[Question],
    *,
    default_max_age: timedelta,
    now: datetime,
) -> list[OwnField]:
    """Return what each workspace has itself of the requested field.

    The statements are those of `own_records.find` and, if anything is found, one each for what is suppressed
    or excluded and for verdicts, and one for each address that its workspace may have reported as bounced.
    """
    empty = [OwnField(field_request=question.field_request) for question in questions]
    found = own_records.find(session, finds, [question.known.looked_up for question in questions])
    candidates = [
        _candidates(
            session.settings.regional_rules, question, records, now - _max_age(question, default_max_age)
        )
        for question, records in zip(questions, found, strict=True)
    ]
    if not any(candidates):
        return empty
    candidates = _without_barred(session, questions, candidates, since=now - default_max_age)
    verdicts = own_verifications.find(
        session,
        {
            OwnAddress(question.known.looked_up.workspace_id, one.value)
            for question, values in zip(questions, candidates, strict=True)
            if question.field_request.field is ContactField.EMAIL
            for one in values
        },
    )
    return [
        _field(question, values, verdicts, default_max_age, now=now)
        for question, values in zip(questions, candidates, strict=True)
    ]


def _max_age(question: Question, default_max_age: timedelta) -> timedelta:
    return question.field_request.max_age or default_max_age


def _candidates(
    rules: RegionalRules, question: Question, records: Sequence[OwnRecord], oldest: datetime
) -> list[OwnValue]:
    """Return the values of certain and fresh records that may fulfil the request, each once."""
    found: dict[str, OwnValue] = {}
    for record in records:
        if record.is_certain and record.changed_at is not None and record.changed_at >= oldest:
            for one in _values(record, record.changed_at, question.field_request.field):
                if _is_answer(rules, one, question.known):
                    found.setdefault(one.value, one)
    return list(found.values())


def _is_answer(rules: RegionalRules, one: OwnValue, known: KnownPerson) -> bool:
    is_visible = one.type in known.visible_types and not _is_hidden(rules, one, known)
    return is_visible and _is_current(one, known)


def _values(record: OwnRecord, changed_at: datetime, of: ContactField) -> Iterator[OwnValue]:
    if of is ContactField.EMAIL:
        for email in record.emails:
            yield OwnValue(value=email, type=email_kind(email), record=record, changed_at=changed_at)
        return
    for number in filter(None, map(assigned_phone, record.phones)):
        kind = "mobile" if number.line_type == "mobile" else "other"
        valid = EmailStatus.VALID.value
        yield OwnValue(value=number.e164, type=kind, record=record, changed_at=changed_at, status=valid)


def _is_current(one: OwnValue, known: KnownPerson) -> bool:
    """Return whether the value is not that of a company which the person has left."""
    if not one.record.is_outdated or one.type in _LASTING:
        return True
    company = known.looked_up.current_company
    return "@" in one.value and company is not None and email_domain(one.value) == company.domain


def _is_hidden(rules: RegionalRules, one: OwnValue, known: KnownPerson) -> bool:
    """Return whether the rules hide the value; a person who is not stored counts as one in a hidden country.

    So it is in answers of jobs (`hidden_values.in_answers`).
    """
    countries = {known.stored_country, *known.countries}
    if "@" in one.value:
        is_restricted = bool(rules.personal_emails) and one.type == PERSONAL
        is_hidden_here = any(rules.hides_email(one.type, country) for country in countries)
        return is_restricted and (known.contact is None or is_hidden_here)
    number = phone_from_e164(one.value)
    is_restricted = bool(rules.mobiles) and is_maybe_mobile(one.type, number.line_type)
    is_hidden_here = any(
        rules.hides_phone(one.type, number.line_type, country, number.country) for country in countries
    )
    return is_restricted and (known.contact is None or is_hidden_here)


def _without_barred(
    session: Session,
    questions: Sequence[Question],
    candidates: Sequence[Sequence[OwnValue]],
    *,
    since: datetime,
) -> list[list[OwnValue]]:
    """Return the values that are not suppressed, excluded, reported as bounced, or hidden by a register."""
    identifiers = [
        set(_identifiers(question.field_request.field, values))
        for question, values in zip(questions, candidates, strict=True)
    ]
    wanted = [
        Wanted(question.known.looked_up.workspace_id, own)
        for question, own in zip(questions, identifiers, strict=True)
    ]
    suppressed, excluded = exclusion_checks.check(session, set().union(*identifiers), wanted)
    registers = listings.find_all(session, [_numbers(each.workspace_id, each.identifiers) for each in wanted])
    return [
        [
            one
            for one in values
            if not is_hidden(listed.get(one.value, ()), as_admin=True)
            if (suppressed | barred.keys()).isdisjoint(_identifiers(question.field_request.field, [one]))
            and not _has_bounced(session, question, one, since)
        ]
        for question, values, barred, listed in zip(questions, candidates, excluded, registers, strict=True)
    ]


def _numbers(workspace_id: str, identifiers: Iterable[Identifier]) -> Numbers:
    return Numbers(workspace_id, [one.value for one in identifiers if one.kind == "phone"])


def _has_bounced(session: Session, question: Question, one: OwnValue, since: datetime) -> bool:
    workspace_id = question.known.looked_up.workspace_id
    is_address = question.field_request.field is ContactField.EMAIL
    return is_address and bounce_reports.any_bounced(session, workspace_id, [one.value], since=since)


def _identifiers(of: ContactField, values: Iterable[OwnValue]) -> Iterator[Identifier]:
    for one in values:
        yield Identifier(of.value, one.value)
        if of is ContactField.EMAIL:
            yield Identifier("domain", email_domain(one.value))
        yield from (Identifier("linkedin_url", url) for url in one.record.profiles)


def _field(
    question: Question,
    candidates: Sequence[OwnValue],
    verdicts: Mapping[OwnAddress, Verdict],
    default_max_age: timedelta,
    *,
    now: datetime,
) -> OwnField:
    field_request = question.field_request
    if field_request.field is ContactField.PHONE:
        return OwnField(field_request=field_request, values=_sorted(candidates))
    workspace_id = question.known.looked_up.workspace_id
    oldest = now - field_request.max_age if field_request.max_age else None
    values, unverified = [], []
    for one in candidates:
        verdict = verdicts.get(OwnAddress(workspace_id, one.value))
        if verdict is None or not _is_still_valid(verdict, oldest, default_max_age, now=now):
            unverified.append(one)
        elif field_request.accepts(one.type, verdict.status):
            values.append(_verified(one, verdict))
    return OwnField(field_request=field_request, values=_sorted(values), unverified=unverified)


def _is_still_valid(
    verdict: Verdict, oldest: datetime | None, default_max_age: timedelta, *, now: datetime
) -> bool:
    if oldest is not None and verdict.verified_at < oldest:
        return False
    return is_fresh(EmailStatus(verdict.status), verdict.verified_at, default_max_age, now=now)


def _verified(one: OwnValue, verdict: Verdict) -> OwnValue:
    return replace(one, status=verdict.status, verified_at=verdict.verified_at)


def _sorted(values: Sequence[OwnValue]) -> list[OwnValue]:
    """Return the values with the best status first, and of these the latest."""
    latest = sorted(values, key=lambda one: one.changed_at, reverse=True)
    return sorted(latest, key=lambda one: _RANK[one.status])


def _email_object(one: OwnValue, *, primary: bool) -> dict[str, Any]:
    return {
        "email": one.value,
        "type": one.type,
        "status": one.status,
        "status_reasons": list(email_reasons(one.value)),
        "confidence": None,
        "primary": primary,
        **value_reports.to_public(None),
        "verified_at": rfc3339(one.verified_at),
        "sources": _sources(one),
    }


def _phone_object(one: OwnValue) -> dict[str, Any]:
    number = phone_from_e164(one.value)
    return {
        "e164": number.e164,
        "national": number.national,
        "extension": None,
        "country": number.country,
        "type": one.type,
        "line_type": number.line_type,
        "status": one.status,
        "confidence": None,
        "do_not_call": None,
        "do_not_call_checked_at": None,
        "call_registers": [],
        **value_reports.to_public(None),
        "verified_at": None,
        "sources": _sources(one),
    }


def _sources(one: OwnValue) -> list[dict[str, Any]]:
    at = rfc3339(one.changed_at)
    return [
        {"provider": one.record.system, "kind": one.record.source, "first_seen_at": at, "last_seen_at": at}
    ]
