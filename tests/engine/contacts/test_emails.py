from __future__ import annotations

import pytest
from findings_support import ADA, DAY, NOW, a_source, email, person

from app.domain.email_patterns.company_forms import OTHER
from app.domain.email_patterns.patterns import PatternStat
from app.domain.errors import ContactNotFound
from app.domain.findings import EmailStatus, SourceKind
from app.domain.records.merging import Change
from app.engine.contacts import contacts, emails, learned_patterns
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import EmailEntry
from app.infra.database.session import Session

LATER = NOW + DAY
GUESS = a_source(kind=SourceKind.PATTERN, by="pattern")


@pytest.fixture
def ada(session: Session) -> Contact:
    return contacts.upsert(session, person(linkedin_url=ADA), now=NOW)


def test_an_address_is_stored_with_its_pattern_and_source(session: Session, ada: Contact) -> None:
    stored = emails.upsert(session, ada.id, email(confidence=0.9, reasons=("role",)), now=LATER)

    assert (stored.email, stored.domain, stored.form) == (
        "ada.lovelace@acme.example",
        "acme.example",
        "{first}.{last}",
    )
    assert (stored.status, stored.status_reasons, stored.confidence) == ("valid", ["role"], 0.9)
    assert (stored.first_seen_at, stored.last_seen_at, stored.verified_at) == (NOW, NOW, None)
    at = "2026-11-20T12:00:00.000Z"
    assert stored.sources == [
        {"provider": "list.csv", "kind": "import", "first_seen_at": at, "last_seen_at": at}
    ]
    assert session.get_one(Contact, ada.id, populate_existing=True).updated_at == LATER


def test_an_address_of_an_unknown_contact_is_an_error(session: Session) -> None:
    with pytest.raises(ContactNotFound):
        emails.upsert(session, "con_unknown", email(), now=NOW)


def test_another_source_is_added_and_extends_the_dates(session: Session, ada: Contact) -> None:
    emails.upsert(session, ada.id, email(), now=NOW)
    emails.upsert(session, ada.id, email(at=NOW - DAY), now=NOW)
    hunter = a_source(LATER, "hunter", SourceKind.PROVIDER)

    stored = emails.upsert(session, ada.id, email(source=hunter), now=LATER)

    assert (stored.first_seen_at, stored.last_seen_at) == (NOW - DAY, LATER)
    assert [(item["provider"], item["kind"]) for item in stored.sources] == [
        ("list.csv", "import"),
        ("hunter", "provider"),
    ]
    assert stored.sources[0]["first_seen_at"] == "2026-11-19T12:00:00.000Z"
    assert stored.sources[0]["last_seen_at"] == "2026-11-20T12:00:00.000Z"


def test_a_verdict_supersedes_an_unverified_status_of_any_age(session: Session, ada: Contact) -> None:
    emails.upsert(session, ada.id, email(), now=NOW)
    verdict = email(status=EmailStatus.INVALID, verified_at=NOW - DAY, at=NOW - DAY)

    stored = emails.upsert(session, ada.id, verdict, now=LATER)

    assert (stored.status, stored.verified_at) == ("invalid", NOW - DAY)


def test_an_unverified_status_does_not_supersede_a_verdict(session: Session, ada: Contact) -> None:
    emails.upsert(session, ada.id, email(status=EmailStatus.INVALID, verified_at=NOW), now=NOW)

    stored = emails.upsert(session, ada.id, email(at=LATER), now=LATER)

    assert stored.status == "invalid"
    assert session.get_one(Contact, ada.id, populate_existing=True).updated_at == NOW


def test_the_newer_verdict_wins(session: Session, ada: Contact) -> None:
    emails.upsert(session, ada.id, email(status=EmailStatus.VALID, verified_at=LATER), now=NOW)

    older = emails.upsert(session, ada.id, email(status=EmailStatus.INVALID, verified_at=NOW), now=NOW).status
    newer = email(status=EmailStatus.ACCEPT_ALL, verified_at=LATER + DAY)
    newest = emails.upsert(session, ada.id, newer, now=LATER).status

    assert (older, newest) == ("valid", "accept_all")


def test_of_two_verdicts_with_the_same_time_the_first_stays(session: Session, ada: Contact) -> None:
    emails.upsert(session, ada.id, email(status=EmailStatus.VALID, verified_at=LATER), now=NOW)

    stored = emails.upsert(session, ada.id, email(status=EmailStatus.INVALID, verified_at=LATER), now=NOW)

    assert stored.status == "valid"


def test_an_import_named_like_a_provider_is_another_source(session: Session, ada: Contact) -> None:
    emails.upsert(session, ada.id, email(source=a_source(NOW, "hunter", SourceKind.IMPORT)), now=NOW)

    stored = emails.upsert(
        session, ada.id, email(source=a_source(NOW, "hunter", SourceKind.PROVIDER)), now=NOW
    )

    assert [(item["provider"], item["kind"]) for item in stored.sources] == [
        ("hunter", "import"),
        ("hunter", "provider"),
    ]


def test_of_two_unverified_statuses_the_newer_wins_or_the_first_at_the_same_time(
    session: Session, ada: Contact
) -> None:
    emails.upsert(session, ada.id, email(), now=NOW)

    same = emails.upsert(session, ada.id, email(status=EmailStatus.RISKY), now=NOW).status
    newer = emails.upsert(session, ada.id, email(status=EmailStatus.RISKY, at=LATER), now=NOW).status

    assert (same, newer) == ("valid", "risky")


def test_an_address_twice_in_a_batch_is_stored_once(session: Session, ada: Contact) -> None:
    item = EmailEntry(ada.id, None, email())
    newer = EmailEntry(ada.id, None, email(at=LATER))

    changes = emails.upsert_many(session, [item, item, newer], fresh={ada.id})

    assert changes == [Change.CHANGED, Change.NONE, Change.REFRESHED]
    [stored] = emails.by_contact(session, [ada.id])[ada.id]
    assert stored.last_seen_at == LATER


def test_addresses_are_returned_by_contact_oldest_first(session: Session, ada: Contact) -> None:
    bob = contacts.upsert(session, person("Bob Ray", emails=(email("bob@acme.example"),)), now=NOW)
    texts = [f"ada{index}@acme.example" for index in range(5)]
    emails.upsert_many(session, [EmailEntry(ada.id, None, email(text)) for text in texts])

    known = emails.by_contact(session, [ada.id, bob.id, "con_unknown"])

    assert [item.email for item in known[ada.id]] == texts
    assert set(known) == {ada.id, bob.id}


def test_the_pattern_is_learned_from_valid_work_addresses(session: Session) -> None:
    records = [
        person("Ada Lovelace", emails=(email("ada.lovelace@acme.example"),)),
        person("Bob Ray", emails=(email("bob.ray@acme.example"),)),
        person("Cy Low", emails=(email("clow@acme.example"),)),
        person("Dee Dow", emails=(email("dee.dow@acme.example", status=EmailStatus.ACCEPT_ALL),)),
        person("Eve Eck", emails=(email("eve.eck@acme.example", type="personal"),)),
        person("Flo Fin", emails=(email("flo.fin@acme.example", source=GUESS),)),
        person("Gus Gap", emails=(email("ceo77@acme.example"),)),
        person("Åsa Öberg", emails=(email("boss@acme.example"),)),
        person("Hal Hub", emails=(email("hal.hub@other.example"),)),
        person("Ian Ivy", emails=(email("info@acme.example"),)),
        person("Plato", emails=(email("plato@acme.example"),)),
        person("王小明", emails=(email("wang@acme.example"),)),
        person(None, emails=(email("ida.ink@acme.example"),)),
    ]
    contacts.upsert_many(session, records, now=NOW)

    counts = learned_patterns.pattern_counts(session, "acme.example")

    assert counts == [PatternStat(OTHER, 2), PatternStat("{first}.{last}", 2), PatternStat("{f}{last}", 1)]


def test_a_guess_counts_for_the_pattern_once_another_source_confirms_it(
    session: Session, ada: Contact
) -> None:
    guessed = emails.upsert(session, ada.id, email(source=GUESS), now=NOW).form

    confirmed = emails.upsert(session, ada.id, email(), now=NOW).form

    assert (guessed, confirmed) == (None, "{first}.{last}")


def test_a_repeated_guess_does_not_count_for_the_pattern(session: Session, ada: Contact) -> None:
    emails.upsert(session, ada.id, email(source=GUESS), now=NOW)

    again = emails.upsert(session, ada.id, email(source=GUESS), now=NOW)

    assert again.form is None
