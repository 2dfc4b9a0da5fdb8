"""Discloses stored e-mails and phones to a workspace: the only code that reveals and charges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from app.engine.call_registers import listings
from app.engine.contacts import hidden_values
from app.engine.contacts.stored_rows import StoredEmail, StoredPhone
from app.engine.ledger import acquisition
from app.engine.ledger.acquisition import Acquisition
from app.engine.lookups import contact_data, field_requests, representations
from app.engine.lookups.contact_data import ContactData, Person
from app.engine.lookups.field_requests import FieldRequest
from app.infra.database.session import Session


@dataclass(frozen=True, slots=True)
class Disclosure:
    """The disclosed values as the API returns them, best first, and their charge.

    `contact_id` is None for values of the workspace's own of a person who is not stored.
    """

    contact_id: str | None
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


class Sale(NamedTuple):
    """What a purchase is of; `data` was read of the contact in this transaction."""

    purchase: Purchase
    contact: Person
    field_request: FieldRequest
    data: ContactData


class _Chosen(NamedTuple):
    """The values to disclose, and whether the workspace owns them already."""

    values: Sequence[StoredEmail | StoredPhone]
    is_owned: bool


def disclose(
    session: Session, purchase: Purchase, contact: Person, field_request: FieldRequest, data: ContactData
) -> Disclosure | None:
    """Disclose and charge for a field of a contact, as `disclose_all` does."""
    return disclose_all(session, [Sale(purchase, contact, field_request, data)])[0]


def disclose_all(session: Session, sales: Sequence[Sale]) -> list[Disclosure | None]:
    """Return the values that satisfy each request and record the workspaces' ownership of them.

    The result is None if no stored value satisfies the request or the contact is suppressed or excluded, and
    for a sale of the same field as one before it: it can be disclosed when that one is paid. Values that a
    regional rule or a do-not-call register hides are left out, and not charged. The price is charged if the
    workspace does not own one of the values yet, under any contact; if the budget does not cover it, only
    owned values are returned. Values older than the default age are returned; values older than the requested
    `max_age` are returned only to their owners.

    Raises:
        PurposeRequired: values that the workspace does not own need a purpose, and none was stated.

    """
    chosen: dict[int, _Chosen] = {}
    sold = dict[tuple[str, str, str], int]()
    for index, sale in enumerate(sales):
        values = _choose(session, sale)
        key = (sale.purchase.workspace_id, sale.contact.id, sale.field_request.field.value)
        if values is not None and (values.is_owned or sold.setdefault(key, index) == index):
            chosen[index] = values
    paid = _acquire(session, {index: (sales[index], chosen[index].values) for index in sold.values()})
    return [
        _disclosure(sale, chosen[index], is_paid=index in paid) if index in chosen else None
        for index, sale in enumerate(sales)
    ]


def _choose(session: Session, sale: Sale) -> _Chosen | None:
    purchase, contact, field_request, data = sale
    if data.is_suppressed(contact) or data.exclusion_of(contact) is not None:
        return None
    requested = field_requests.requested_values(data, contact.id, field_request)
    values = _shown(session, requested, purchase)
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
    return _Chosen(values, is_owned)


def _acquire(
    session: Session, sold: Mapping[int, tuple[Sale, Sequence[StoredEmail | StoredPhone]]]
) -> frozenset[int]:
    """Acquire the values; return which of them are charged.

    The others are not: a concurrent job of the workspace has paid for the same values. A job that pays
    acquires the contact's field, with all its values.
    """
    if not sold:
        return frozenset()
    now = next(sale.purchase.now for sale, _values in sold.values())
    wanted = [_acquisition(sale, values) for sale, values in sold.values()]
    payers = acquisition.acquire_all(session, wanted, now=now)
    paid = frozenset(index for index, (sale, _) in sold.items() if sale.purchase.job_id in payers)
    more = []
    for sale, values in (sold[index] for index in paid):
        field = sale.field_request.field
        values_of_field = field_requests.stored_values(sale.data, sale.contact.id, field)
        stored = _shown(session, values_of_field, sale.purchase)
        if len(stored) > len(values):
            more.append(_acquisition(sale, stored))
    if more:
        acquisition.acquire_values(session, more, now=now)
    return paid


def _acquisition(sale: Sale, values: Sequence[StoredEmail | StoredPhone]) -> Acquisition:
    return Acquisition(
        workspace_id=sale.purchase.workspace_id,
        contact_id=sale.contact.id,
        field=sale.field_request.field.value,
        job_id=sale.purchase.job_id,
        price=sale.purchase.price,
        values=sorted({contact_data.index_of(row) for row in values}),
        purpose=sale.purchase.purpose,
    )


def _disclosure(sale: Sale, chosen: _Chosen, *, is_paid: bool) -> Disclosure:
    values = [_object(row, primary=index == 0) for index, row in enumerate(chosen.values)]
    charge = sale.purchase.price if is_paid else 0
    return Disclosure(sale.contact.id, values, charge=charge, already_owned=not is_paid)


def _shown(
    session: Session, values: Sequence[StoredEmail | StoredPhone], purchase: Purchase
) -> list[StoredEmail | StoredPhone]:
    """Return the values that neither a regional rule hides of the person, nor a register from the account."""
    rules, countries = session.settings.regional_rules, purchase.countries
    return [
        row
        for row in values
        if not rules or not any(hidden_values.is_hidden(rules, row, country) for country in countries)
        if not (
            row.kind == "phone" and listings.is_hidden_from_job(session, purchase.job_id, row.listings or ())
        )
    ]


def _object(row: StoredEmail | StoredPhone, *, primary: bool) -> dict[str, Any]:
    if row.kind == "email":
        return representations.email_object(row, primary=primary)
    return representations.phone_object(row._replace(listings=None))  # registers are asked at each read
