"""The sentence for each reason why a schedule stopped or waits, and for what became of a person."""

from __future__ import annotations

from collections.abc import Mapping

from app.domain.errors import InsufficientCredits, PurposeRequired, SpendingLimitReached
from app.domain.messages import Message
from app.engine.work.specs import TURNS_FAILED
from app.features.crm import sentences as crm_sentences
from app.features.crm.schedules.enrichment import EXPIRED
from app.features.crm.schedules.results import OTHER_RECORD
from app.features.crm.schedules.runs import (
    ACCOUNT_DISABLED,
    BUDGET_SPENT,
    LIST_FORBIDDEN,
    LIST_GONE,
    LIST_REFUSED,
    NOT_CONNECTED,
    NOT_PERMITTED,
    NOT_READ,
)
from app.features.crm.vendors.members import NOT_OF_PEOPLE, WITHOUT_IDS

REASONS: Mapping[str, str] = {
    BUDGET_SPENT: Message(
        "The budget of this month is spent. It goes on by itself next month; to go on now, "
        "raise the budget and resume it."
    ),
    InsufficientCredits.code: Message(
        "The credits of the workspace are used up. Add credits, and resume it."
    ),
    SpendingLimitReached.code: Message(
        "The spending limit of the account that pays is used up. Raise the limit "
        "and resume it, or let another admin resume it, who then pays."
    ),
    PurposeRequired.code: Message("A purpose is required for some of the people. State one, and resume it."),
    ACCOUNT_DISABLED: Message(
        "The account that pays is disabled. Another admin may resume it, who then pays."
    ),
    NOT_PERMITTED: Message(
        "The account that set it up may no longer reveal phone numbers or push contacts. Another "
        "admin may resume it, who then pays."
    ),
    LIST_GONE: Message(
        "The CRM has no such list, or the credentials may not see it. Restore the list there and "
        "resume this schedule, or delete it and make one for another list."
    ),
    LIST_FORBIDDEN: Message(
        "The credentials may not read lists. Give them the permission in the CRM (in HubSpot "
        "crm.lists.read, in Salesforce Run Reports for a report), connect it again, and resume this schedule."
    ),
    LIST_REFUSED: Message(
        "The CRM does not accept the list. Check that it exists and has people of this kind, "
        "then resume this schedule, or delete it and make one for another list."
    ),
    NOT_OF_PEOPLE: Message(
        "The list has no contacts, but other records such as companies. Delete this schedule, "
        "and make one for a list of contacts."
    ),
    WITHOUT_IDS: Message(
        "The report does not say which records its people are. Add the column Contact ID to it, or "
        "Lead ID if the schedule is for leads, save it, and resume this schedule."
    ),
    TURNS_FAILED: Message(
        "An error of this server stopped it ten times in a row. Ask its operator to find the "
        "cause in the log, then resume it."
    ),
    NOT_CONNECTED: Message("The CRM is not connected. It goes on by itself once the connection is accepted."),
    NOT_READ: Message("The people of the CRM are being read for the first time. It goes on by itself then."),
    "rate_limited": Message("The CRM's rate limit is reached; it goes on by itself."),
    "same_page": Message(
        "The CRM returns the same page of the list again and again. It is tried again every five "
        "minutes; if that lasts, ask its administrator."
    ),
}
"""Why a schedule stopped, and what it waits for."""
ERRORS: Mapping[str, str] = {
    InsufficientCredits.code: Message("The credits ran out before this person."),
    SpendingLimitReached.code: Message("The spending limit was used up before this person."),
    PurposeRequired.code: Message("A purpose must be stated for this person."),
    "provider_failed": Message("The providers failed. The next run asks again."),
    EXPIRED: Message("The enrichment took too long, or was deleted. The next run asks again."),
    OTHER_RECORD: Message("The workspace pushes this person to another record, so this one was not changed."),
}
"""Why a person was not found, or not pushed."""


def reason_sentence(code: str | None) -> str:
    """Return the sentence for why a schedule stopped or waits; empty without a reason."""
    return "" if not code else REASONS.get(code) or crm_sentences.reading_sentence(code)


def error_sentence(code: str | None) -> str:
    """Return the sentence for why a person was not found or not pushed; empty without an error."""
    return "" if not code else ERRORS.get(code, code)
