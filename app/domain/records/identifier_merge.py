"""Completion of a provider's finding with the identifier it was requested by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from app.domain.findings import EmailStatus, FoundContact, FoundEmail, FoundPhone, Source, SourceKind
from app.domain.normal.emails import email_kind
from app.domain.records.profile_links import linked, urls_of
from app.domain.records.subjects import Subject


def with_profiles(found: FoundContact, urls: Iterable[str]) -> FoundContact:
    """Return the finding with the profile URLs of a person that it lacks."""
    linkedin_url, member_url = linked(urls_of(found), urls)
    return replace(found, linkedin_url=linkedin_url, member_url=member_url)


def with_identifier(found: FoundContact, subject: Subject) -> FoundContact:
    """Return the finding with the profile, e-mail or phone of the request if it was the only identifier."""
    kind, value = subject.only_identifier or ("", "")
    source = Source(found.source.provider, SourceKind.PROVIDER, found.source.at)
    if kind == "linkedin_url":
        linkedin_url, member_url = linked((value,), urls_of(found))
        return replace(found, linkedin_url=linkedin_url, member_url=member_url)
    if kind == "email" and value not in {email.email for email in found.emails}:
        own = FoundEmail(email=value, type=email_kind(value), status=EmailStatus.UNKNOWN, source=source)
        return replace(found, emails=(own, *found.emails))
    if kind == "phone" and value not in {phone.e164 for phone in found.phones}:
        return replace(found, phones=(FoundPhone(e164=value, source=source), *found.phones))
    return found
