"""Discloses stored e-mails and phones to a workspace: the only code that reveals and charges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.engine.contacts import hidden_values
from app.engine.contacts.stored_rows import StoredEmail, StoredPhone
from app.engine.ledger import acquisition
from app.engine.lookups import contact_data, field_requests, representations
from app.engine.lookups.contact_data import ContactData, Person
from app.engine.lookups.field_requests import ContactField, FieldRequest
from app.infra.database.session import Session


@dataclass(frozen=True, slots=True)
class Disclosure:
    """The disclosed values as the API returns them, best first, and their charge."""

    contact_id: str
    values: list[dict[str, Any]]
    charge: int
    already_owned: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Purchase:
    """The job that is charged, its price and its budget in credits, and the time.

    `purpose` is why the values are obtained; None if it was not stated. `countries` are those that other
    sources than the disclosed contact name for the person.
    """

    workspace_id: str
    job_id: str
    price: int
    budget: int
    now: datetime
    purpose: str | None = None
    countries: frozenset[str] = frozenset()

    @property
    def is_affordable(self) -> bool:
        """Return whether the budget covers the price."""
        return self.price <= self.budget


def disclose(
    session: Session, purchase: Purchase, contact: Person, field_request: FieldRequest, data: ContactData
) -> Disclosure | None:
    """Return the values that satisfy the request and record the workspace's ownership of them.

    `data` was read of the contact in this transaction. Return None if no stored value satisfies the request
    or the contact is suppressed. Values that a regional rule hides are left out. The price is charged if the
    workspace does not own one of the values yet, under any contact; if the budget does not cover it, only
    owned values are returned. Values older than the default age are returned; values older than the requested
    `max_age` are returned only to a workspace that owns them.

    Raises:
        PurposeRequired: values that the workspace does not own need a purpose, and none was stated.

    """
    if data.is_suppressed(contact):
        return None
    requested = field_requests.requested_values(data, contact.id, field_request)
    values = _shown(session, requested, purchase.countries)
    is_owned = field_requests.owns(data, contact.id, field_request, values)
    if not is_owned and not purchase.is_affordable:
        values = [row for row in values if data.owns(row)]
        is_owned = True
    oldest = purchase.now - field_request.max_age if field_request.max_age and not is_owned else None
    if not field_requests.is_any_since(values, oldest):
        return None
    rule = session.settings.purpose_rule
    needs_purpose = not is_owned and rule.requires(data.country_of(contact), *purchase.countries)
    if needs_purpose and purchase.purpose is None:
        raise rule.refusal()
    charge = 0 if is_owned else _charge(session, purchase, contact.id, field_request.field, values, data)
    values_json = [_object(row, primary=index == 0) for index, row in enumerate(values)]
    return Disclosure(contact.id, values_json, charge=charge or 0, already_owned=charge is None or is_owned)


def _shown(
    session: Session, values: Sequence[StoredEmail | StoredPhone], countries: frozenset[str]
) -> list[StoredEmail | StoredPhone]:
    """Return the values that the regional rules do not hide of a person in these countries."""
    rules = session.settings.regional_rules
    return [
        row
        for row in values
        if not rules or not any(hidden_values.is_hidden(rules, row, country) for country in countries)
    ]


def _charge(  # noqa: PLR0917 -- the arguments and the data of `disclose`
    session: Session,
    purchase: Purchase,
    contact_id: str,
    field: ContactField,
    values: Sequence[StoredEmail | StoredPhone],
    data: ContactData,
) -> int | None:
    """Return the price, or None if a concurrent job of the workspace has paid for the same values.

    Only the job that inserts a value not owned before pays, and acquires the contact's field.
    """
    acquirer: dict[str, Any] = {
        "workspace_id": purchase.workspace_id,
        "contact_id": contact_id,
        "field": field.value,
        "job_id": purchase.job_id,
        "now": purchase.now,
    }
    wanted = [contact_data.index_of(row) for row in values]
    if not acquisition.acquire(
        session, values=wanted, price=purchase.price, purpose=purchase.purpose, **acquirer
    ):
        return None
    stored = _shown(session, field_requests.stored_values(data, contact_id, field), purchase.countries)
    if len(stored) > len(values):
        acquisition.acquire_values(session, values=[contact_data.index_of(row) for row in stored], **acquirer)
    return purchase.price


def _object(row: StoredEmail | StoredPhone, *, primary: bool) -> dict[str, Any]:
    if row.kind == "email":
        return representations.email_object(row, primary=primary)
    return representations.phone_object(row)
