"""The sentence for each reason why a CRM, or the push of a person, did not do what was asked."""

from __future__ import annotations

from collections.abc import Mapping

from app.domain.messages import Message

ERRORS: Mapping[str, str] = {
    "unauthorized": Message("The CRM does not accept the credentials."),
    "forbidden": Message("The credentials lack a permission."),
    "account_not_open": Message("The account of the CRM is not open: its subscription or trial has ended."),
    "authorization_ended": Message("The authorization was withdrawn, or has expired."),
    "client_refused": Message(
        "The CRM does not accept the client of this server. Ask its operator to compare its id and secret "
        "with those that the CRM shows, then connect again."
    ),
    "other_account": Message(
        "The credentials belong to another account of the CRM, in which the records are other "
        "people's. Give credentials of the same account, or disconnect the CRM and connect the other account."
    ),
    "account_unknown": Message(
        "The CRM does not say to which account the new credentials belong. "
        "Give credentials of the same account that may read it."
    ),
    "oauth_not_configured": Message("The operator has removed the client of this CRM."),
    "secret_key_changed": Message("This server no longer has the key that encrypted the credentials."),
    "rate_limited": Message("The CRM's rate limit is reached; pushes continue by themselves."),
    "refused": Message("The address is not public."),
    "unresolved": Message("The host name does not resolve."),
    "connection": Message("The CRM cannot be reached; it is tried again."),
    "timeout": Message("The CRM does not answer in time; it is tried again."),
    "unexpected_response": Message("The CRM does not answer as it documents; it is tried again."),
    "no_email": Message("No current address is revealed."),
    "not_owned": Message("The workspace no longer owns or saves this person."),
    "suppressed": Message("The person has opted out."),
    "duplicate": Message("Another record in the CRM has this address, and cannot be read."),
    "duplicate_company": Message("The company exists in the CRM, and cannot be read."),
    "person_in_trash": Message(
        "The person is in the CRM's trash. Restore the record there, or delete it for good, and push again."
    ),
    "record_gone": Message("The CRM no longer has the record."),
    "record_not_writable": Message("The credentials may not change this record."),
    "turns_failed": Message(
        "An error of this server stopped the pushes ten times in a row. "
        "Ask its operator to find the cause in the log, then connect again."
    ),
    "given_up": Message(
        "The push was begun several times, and its worker was lost each time. "
        "Push the person again, or ask the operator of this server to find the cause."
    ),
    "invalid_values": Message("The CRM refused the values"),
}


HOSTS: Mapping[str, str] = {
    "refused": Message("{host} is not a public address."),
    "unresolved": Message("The host {host} does not resolve."),
    "connection": Message("{host} cannot be reached."),
}
"""What is wrong with the host of a CRM that is being connected."""
NOT_THE_CRM = Message("{host} does not answer as {crm} does.")


READING: Mapping[str, str] = {
    "unauthorized": Message(
        "The CRM does not accept the credentials. Check the connection, or connect again."
    ),
    "forbidden": Message(
        "The credentials may not read people. Give them the permission in the CRM, then check the connection."
    ),
    "rate_limited": Message("The CRM's rate limit is reached; reading continues by itself."),
    "same_page": Message(
        "The CRM returns the same page again and again. It is tried again every hour; "
        "if that lasts, ask its administrator."
    ),
    "turns_failed": Message(
        "An error of this server stopped the reading ten times in a row. "
        "Ask its operator to find the cause in the log, then check the connection."
    ),
    "contacts_unreadable": Message(
        "The credentials may not read contacts: they are left out. Give them the permission in the CRM."
    ),
    "leads_unreadable": Message(
        "The credentials may not read leads: they are left out. Give them the permission in the CRM."
    ),
    "companies_unreadable": Message(
        "The credentials may not read companies: people are found without them. "
        "Give them the permission in the CRM."
    ),
    "owners_unreadable": Message(
        "The credentials may not read owners: records are shown without them. "
        "Give them the permission in the CRM."
    ),
    "record_limit": Message("The CRM has more than 1,000,000 records. The others are not read."),
}
"""What stops the reading of a CRM, and what it leaves out."""


def reading_sentence(code: str | None) -> str:
    """Return the sentence for what stops the reading of a CRM, or for what it leaves out."""
    if not code:
        return ""
    return (
        READING.get(code)
        or ERRORS.get(code)
        or Message(
            "The CRM answers {code}; it is tried again within an hour.", code=code.removeprefix("http_")
        )
    )


def sentence(error: str | None) -> str:
    """Return the sentence for a code with its details, `invalid_values: Title`; empty without an error."""
    code, _colon, details = (error or "").partition(": ")
    known = ERRORS.get(code, code)
    return f"{known}: {details}." if details else known
