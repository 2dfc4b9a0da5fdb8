from __future__ import annotations

from findings_support import NOW, company, email, person

from app.domain.email_patterns.patterns import PatternStat
from app.domain.findings import EmailStatus
from app.engine.contacts import contacts, learned_patterns
from app.infra.database.session import Session

FULL = "{first}.{last}"


def employ(session: Session, name: str, address: str, **more: object) -> str:
    found = person(
        name, company=company("Acme", "acme.example"), emails=(email(address, type="work", **more),)
    )
    return str(contacts.upsert(session, found, now=NOW).company_id)


def test_the_domains_are_learned_at_which_people_of_the_company_have_addresses(session: Session) -> None:
    company_id = employ(session, "Ada Lovelace", "ada.lovelace@mail.acme.example")
    employ(session, "Bob Stone", "bob.stone@acme.example")
    employ(session, "Cy Young", "cy.young@mail.acme.example")

    counts = learned_patterns.pattern_counts(session, "acme.example", company_id)

    assert counts == [PatternStat(FULL, 2, "mail.acme.example"), PatternStat(FULL, 1)]


def test_without_a_company_the_patterns_are_those_of_the_domain(session: Session) -> None:
    employ(session, "Ada Lovelace", "ada.lovelace@mail.acme.example")
    employ(session, "Bob Stone", "bob.stone@acme.example")

    assert learned_patterns.pattern_counts(session, "acme.example") == [PatternStat(FULL, 1)]


def test_addresses_at_providers_and_unverified_ones_do_not_count(session: Session) -> None:
    company_id = employ(session, "Ada Lovelace", "ada.lovelace@gmail.com")
    employ(session, "Cy Young", "cy.young@austin.rr.com")
    employ(session, "Bob Stone", "bob.stone@mail.acme.example", status=EmailStatus.UNKNOWN)

    assert learned_patterns.pattern_counts(session, "acme.example", company_id) == []


def test_an_address_at_the_domain_of_another_company_may_be_that_of_an_earlier_employer(
    session: Session,
) -> None:
    contacts.upsert(session, person("Zoe Zed", company=company("Zenith", "zenith.example")), now=NOW)
    company_id = employ(session, "Ada Lovelace", "ada.lovelace@zenith.example")
    employ(session, "Bob Stone", "bob.stone@mail.zenith.example")

    assert learned_patterns.pattern_counts(session, "acme.example", company_id) == []


def test_a_company_without_a_domain_has_the_mail_domain_of_its_people(session: Session) -> None:
    council = company("Ryde City Council", None)
    for name, address in (("Ada Lovelace", "ada.lovelace"), ("Bob Stone", "bob.stone")):
        found = person(name, company=council, emails=(email(f"{address}@ryde.nsw.gov.au"),))
        company_id = contacts.upsert(session, found, now=NOW).company_id

    counts = learned_patterns.pattern_counts(session, None, company_id)

    assert counts == [PatternStat(FULL, 2, "ryde.nsw.gov.au")]
