from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest
from jobs_support import DIGEST_KEYS, NOW, a_workspace
from sqlalchemy import select
from stored_support import suppress

from app.domain import exclusions as forms
from app.domain.errors import InvalidValue, NotAProfileUrl, NotFound
from app.domain.exclusions import Kind, Reason
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.exclusions import exclusion_checks, exclusions
from app.engine.exclusions.exclusion_checks import Excluded, Wanted
from app.engine.exclusions.exclusions import Entry, Exclusion, digest
from app.infra.database.session import Session

ACME = Entry(Kind.DOMAIN, "acme.com", Reason.CUSTOMER, "the team in Leeds")
ADA = Identifier("email", "ada@acme.org")
DOMAIN = Identifier("domain", "acme.com")
OTHER = Identifier("domain", "globex.com")


def add(session: Session, workspace_id: str, *entries: Entry) -> list[str]:
    return exclusions.add(session, workspace_id, entries, created_by="acc_1", now=NOW)


def excluded(session: Session, workspace_id: str, *items: Identifier) -> dict[Identifier, Excluded]:
    _, (found,) = exclusion_checks.check(session, (), [Wanted(workspace_id, items)])
    return found


def test_a_workspace_is_told_what_it_excludes_and_why(session: Session, workspace_id: str) -> None:
    add(session, workspace_id, ACME)

    found = excluded(session, workspace_id, DOMAIN, OTHER)

    assert found == {DOMAIN: Excluded("customer", "the team in Leeds", "domain")}


def test_a_company_is_excluded_with_its_subdomains(session: Session, workspace_id: str) -> None:
    add(session, workspace_id, ACME)
    below, beside = Identifier("domain", "mail.uk.acme.com"), Identifier("domain", "notacme.com")

    assert excluded(session, workspace_id, below, beside).keys() == {below}


def test_a_gmail_address_is_excluded_in_every_spelling(session: Session, workspace_id: str) -> None:
    add(session, workspace_id, Entry(Kind.EMAIL, "ada.lovelace@gmail.com", Reason.OTHER))
    spelled = Identifier("email", "adalovelace+crm@googlemail.com")

    assert excluded(session, workspace_id, spelled).keys() == {spelled}


def test_one_workspace_excludes_nothing_for_another(session: Session, workspace_id: str) -> None:
    other = a_workspace(session)
    add(session, workspace_id, ACME)
    add(session, other, Entry(Kind.DOMAIN, "globex.com", Reason.PARTNER))

    _, found = exclusion_checks.check(
        session, (), [Wanted(workspace_id, [DOMAIN, OTHER]), Wanted(other, [DOMAIN, OTHER])]
    )

    assert found == [
        {DOMAIN: Excluded("customer", "the team in Leeds", "domain")},
        {OTHER: Excluded("partner", None, "domain")},
    ]


def test_equal_exclusions_of_two_workspaces_do_not_look_alike(session: Session, workspace_id: str) -> None:
    other = a_workspace(session)
    add(session, workspace_id, ACME)
    add(session, other, ACME)

    stored = session.scalars(select(Exclusion.digest)).all()

    assert len(set(stored)) == 2


def test_suppressions_and_exclusions_are_read_together(session: Session, workspace_id: str) -> None:
    suppress(session, "email", ADA.value)
    add(session, workspace_id, ACME)

    suppressed, (found,) = exclusion_checks.check(
        session, [ADA, OTHER], [Wanted(workspace_id, [ADA, DOMAIN])]
    )

    assert (suppressed, found.keys()) == ({ADA}, {DOMAIN})


def test_thousands_of_identifiers_are_checked_at_once(session: Session, workspace_id: str) -> None:
    suppress(session, "email", ADA.value)
    add(session, workspace_id, ACME)
    many = [Identifier("email", f"{number}@globex.com") for number in range(2500)]

    suppressed, (found,) = exclusion_checks.check(
        session, [*many[:20], ADA], [Wanted(workspace_id, [*many, DOMAIN])]
    )

    assert (suppressed, found.keys()) == ({ADA}, {DOMAIN})


def test_without_identifiers_nothing_is_read(session: Session, workspace_id: str) -> None:
    found = exclusion_checks.check(session, (), [Wanted(workspace_id, [Identifier("phone", "+12025550143")])])

    assert found == (frozenset(), [{}])


def test_what_is_excluded_already_stays_as_it_is(session: Session, workspace_id: str) -> None:
    first = add(session, workspace_id, ACME)
    again = add(session, workspace_id, ACME._replace(reason=Reason.PARTNER), ACME)

    assert (len(first), again, add(session, workspace_id)) == (1, [], [])
    assert [row.reason for row in exclusions.page(session, workspace_id, before=None, limit=9)] == [
        "customer"
    ]


def test_an_exclusion_is_removed_by_its_workspace_only(session: Session, workspace_id: str) -> None:
    [exclusion_id] = add(session, workspace_id, ACME)

    with pytest.raises(NotFound):
        exclusions.remove(session, a_workspace(session), exclusion_id)
    exclusions.remove(session, workspace_id, exclusion_id)

    assert excluded(session, workspace_id, DOMAIN) == {}


def test_the_value_and_the_note_are_stored_encrypted(session: Session, workspace_id: str) -> None:
    add(session, workspace_id, ACME)

    stored = session.connection().exec_driver_sql("SELECT value, note FROM exclusions").one()

    assert all(text.startswith("enc:") for text in stored)


def test_pages_are_newest_first(session: Session, workspace_id: str) -> None:
    for number in range(3):
        entry = Entry(Kind.DOMAIN, f"acme{number}.com", Reason.OTHER)
        exclusions.add(session, workspace_id, [entry], created_by="acc_1", now=NOW + timedelta(hours=number))

    first = exclusions.page(session, workspace_id, before=None, limit=2)
    second = exclusions.page(session, workspace_id, before=first[-1].id, limit=2)

    assert [row.value for row in (*first, *second)] == ["acme2.com", "acme1.com", "acme0.com"]


def test_the_digest_depends_on_the_suppression_key_only() -> None:
    other_secret = dataclasses.replace(DIGEST_KEYS, secret=b"another")
    other_key = dataclasses.replace(DIGEST_KEYS, suppression=b"another")
    digests = [digest(keys, "wks_1", "email", "a@b.com") for keys in (DIGEST_KEYS, other_secret, other_key)]

    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Kind.DOMAIN, "https://www.shop.acme.co.uk/about", "acme.co.uk"),
        (Kind.EMAIL, "Ada <Ada@Acme.com>", "ada@acme.com"),
        (Kind.LINKEDIN_URL, "linkedin.com/in/Ada-Lovelace/", "https://www.linkedin.com/in/ada-lovelace"),
        (Kind.LINKEDIN_URL, "linkedin.com/school/acme", "https://www.linkedin.com/company/acme"),
    ],
)
def test_values_have_one_normal_form(kind: Kind, text: str, value: str) -> None:
    assert forms.normal(kind, text) == value


@pytest.mark.parametrize(
    "domain", ["gmail.com", "GoogleMail.com", "outlook.de", "facebook.com/acme", "co.uk"]
)
def test_a_domain_of_many_people_cannot_be_excluded(domain: str) -> None:
    with pytest.raises(InvalidValue):
        forms.normal(Kind.DOMAIN, domain)


def test_another_url_is_not_a_profile() -> None:
    with pytest.raises(NotAProfileUrl):
        forms.normal(Kind.LINKEDIN_URL, "https://acme.com/in/ada")


@pytest.mark.parametrize(
    ("excluded", "why"),
    [
        (Excluded("own_company", None, "domain"), "(own company)"),
        (Excluded("customer", "Leeds", "email"), "(customer: Leeds)"),
    ],
)
def test_the_sentence_says_why_and_who_can_change_it(excluded: Excluded, why: str) -> None:
    text = exclusion_checks.sentence(excluded.to_public())

    assert why in text
    assert "An admin can remove the exclusion" in text
