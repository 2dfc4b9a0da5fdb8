"""Conditions of SQL by which a workspace's people are filtered."""

from __future__ import annotations

from sqlalchemy import ColumnElement, and_, case, cast, func, or_, select
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import aliased
from sqlalchemy.sql.elements import SQLColumnExpression

from app.domain import ids
from app.domain.findings import EmailStatus
from app.domain.regional_rules import RegionalRules
from app.engine.contacts import hidden_values
from app.engine.contacts.bounce_reports import IS_OPEN, Feedback
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import TRUSTED, Email
from app.engine.contacts.saved.contact_lists import ContactList, ListMember
from app.engine.contacts.saved.saved_profiles import SavedProfile
from app.engine.ledger.reveals import Reveal, RevealedValue
from app.engine.owned import named_people, owned_people
from app.engine.owned.owned_people import WORKSPACE


def on_list(dialect: str, name: str) -> ColumnElement[bool]:
    """Return whether the person is on the list with this id or name."""
    is_list = ContactList.id == name if ids.is_id(name, "lst") else ContactList.name == name
    members = (
        select(ListMember.profile_id)
        .join(ContactList, ContactList.id == ListMember.list_id)
        .where(ContactList.workspace_id == WORKSPACE, is_list)
    )
    return named_people.is_among(dialect, SavedProfile.id, members)


def tagged(dialect: str, tag: str) -> ColumnElement[bool]:
    """Return whether the person has the tag."""
    row = aliased(SavedProfile)
    if dialect == "sqlite":
        tags = func.json_each(row.tags).table_valued("value")
        has_tag: ColumnElement[bool] = select(tags.c.value).where(tags.c.value == tag).exists()
    else:  # only on PostgreSQL
        has_tag = cast(row.tags, JSONB).contains([tag])
    return named_people.is_among(
        dialect, SavedProfile.id, select(row.id).where(row.workspace_id == WORKSPACE, has_tag)
    )


def at_company(text: str) -> ColumnElement[bool]:
    """Return whether the company has this text in its name, or this domain."""
    name, domain = owned_people.COMPANY_NAME, owned_people.COMPANY_DOMAIN
    return or_(func.lower(name).contains(text.lower(), autoescape=True), domain == text.lower())


def with_status(rules: RegionalRules, status: EmailStatus) -> ColumnElement[bool]:
    """Return whether the workspace sees this status at one of its addresses that the rules do not hide."""
    bounced = (
        select(Feedback.id)
        .where(Feedback.email_id == Email.id, Feedback.workspace_id == WORKSPACE, IS_OPEN)
        .exists()
    )
    seen = case((and_(Email.status.in_(sorted(TRUSTED)), bounced), EmailStatus.RISKY), else_=Email.status)
    is_shown = hidden_values.is_shown(rules, Email)
    is_own = (Email.contact_id == Contact.id, _is_owned_address())
    return select(Email.id).where(*is_own, seen == status, is_shown).exists()


def _is_owned_address() -> SQLColumnExpression[bool]:
    field: ColumnElement[bool] = (
        select(Reveal.field)
        .where(
            Reveal.workspace_id == WORKSPACE,
            Reveal.contact_id == Email.contact_id,
            Reveal.field == "email",
            Reveal.refunded_at.is_(None),
        )
        .correlate(Email)
        .exists()
    )
    value: ColumnElement[bool] = (
        select(RevealedValue.value_index)
        .where(
            RevealedValue.workspace_id == WORKSPACE,
            RevealedValue.field == "email",
            RevealedValue.value_index == Email.email_index,
        )
        .exists()
    )
    return or_(field, value)
