from __future__ import annotations

import findings_support as found
import pytest
from local_servers import POSTGRES
from stored_support import ADA_URL, a_company, a_contact, a_phone, an_email, scans, statements

from app.domain.ids import EXAMPLES
from app.domain.records.subjects import Subject
from app.engine.contacts import contacts
from app.engine.matching import contact_matching
from app.infra.database.session import Session

KEYS = {"linkedin_url": ADA_URL, "email": "ada@acme.com", "phone": "+12025550143"}


@pytest.mark.parametrize("key", KEYS)
def test_an_exact_key_matches_its_contact_and_company(session: Session, key: str) -> None:
    company = a_company(session)
    ada = a_contact(session, company, linkedin_url=ADA_URL)
    an_email(session, ada, "ada@acme.com")
    a_phone(session, ada, "+12025550143")
    a_contact(session, company, "Charles Babbage")

    match = contact_matching.find(session, Subject(**{key: KEYS[key]}))

    assert (match.outcome, match.contact, match.company) == ("matched", ada, company)
    assert match.matched_on == (key,)
    assert 0.5 < match.confidence <= 1


def test_a_contact_id_matches_its_contact(session: Session) -> None:
    ada = a_contact(session)

    match = contact_matching.find(session, Subject(contact_id=ada.id))

    assert (match.contact, match.company, match.matched_on) == (ada, None, ("contact_id",))


def test_rows_of_the_same_contact_are_equal(session: Session) -> None:
    company = a_company(session)
    ada, bob = a_contact(session, company), a_contact(session, company)

    matches = [contact_matching.find(session, Subject(contact_id=id_)) for id_ in (ada.id, ada.id, bob.id)]

    assert len({match.contact for match in matches}) == 2
    assert len({match.company for match in matches}) == 1


def test_an_unknown_contact_id_never_matches(session: Session) -> None:
    company = a_company(session)
    a_contact(session, company, linkedin_url=ADA_URL)
    subject = Subject(
        contact_id=EXAMPLES["con"], linkedin_url=ADA_URL, full_name="Ada Lovelace", company_domain="acme.com"
    )

    match = contact_matching.find(session, subject)

    assert (match.outcome, match.contact) == ("none", None)


def test_of_keys_of_different_people_the_strongest_wins(session: Session) -> None:
    ada = a_contact(session, linkedin_url=ADA_URL)
    an_email(session, a_contact(session, full_name="Charles Babbage"), "charles@acme.com")

    match = contact_matching.find(session, Subject(linkedin_url=ADA_URL, email="charles@acme.com"))

    assert (match.contact, match.matched_on) == (ada, ("linkedin_url",))


def test_all_agreeing_keys_and_fields_are_returned(session: Session) -> None:
    ada = a_contact(session, a_company(session), linkedin_url=ADA_URL)
    an_email(session, ada, "ada@acme.com")
    subject = Subject(
        linkedin_url=ADA_URL, email="ada@acme.com", full_name="ada lovelace", company_domain="acme.com"
    )

    match = contact_matching.find(session, subject)

    assert match.matched_on == ("linkedin_url", "email", "full_name", "company_domain")


def test_fields_that_disagree_are_not_returned(session: Session) -> None:
    ada = a_contact(session, a_company(session), linkedin_url=ADA_URL)
    subject = Subject(linkedin_url=ADA_URL, full_name="Ada Hopper", company_name="Univac")

    match = contact_matching.find(session, subject)

    assert (match.contact, match.matched_on) == (ada, ("linkedin_url",))


@pytest.mark.parametrize(
    ("asked", "is_shared"), [("Grace Hopper", False), ("Grace Hopper", True), (None, True)]
)
def test_a_profile_of_another_or_of_several_people_is_no_match_alone(
    session: Session, asked: str | None, *, is_shared: bool
) -> None:
    ada = a_contact(session, linkedin_url=ADA_URL, linkedin_shared=is_shared)

    match = contact_matching.find(session, Subject(linkedin_url=ADA_URL, full_name=asked))

    assert (match.outcome, match.contact) == ("ambiguous", None)
    assert [(found.contact, found.confidence) for found in match.candidates] == [(ada, 0.588)]


@pytest.mark.parametrize("asked", ["Ada King", "A. Lovelace", "Lovelace Ada", "Ада Лавлейс"])
@pytest.mark.parametrize("is_shared", [False, True])
def test_a_profile_with_a_form_of_the_name_is_a_match(
    session: Session, asked: str, *, is_shared: bool
) -> None:
    ada = a_contact(session, linkedin_url=ADA_URL, linkedin_shared=is_shared)

    match = contact_matching.find(session, Subject(linkedin_url=ADA_URL, full_name=asked))

    assert (match.outcome, match.contact) == ("matched", ada)


def test_a_name_and_company_are_not_compared_if_none_is_stored(session: Session) -> None:
    nobody = a_contact(session, full_name=None, linkedin_url=ADA_URL)
    subject = Subject(linkedin_url=ADA_URL, full_name="Ada Lovelace", company_name="Acme")

    match = contact_matching.find(session, subject)

    assert (match.contact, match.matched_on) == (nobody, ("linkedin_url",))


def test_a_shared_phone_is_ambiguous_with_at_most_five_candidates(session: Session) -> None:
    company = a_company(session)
    for name in (
        "Ada Lovelace",
        "Grace Hopper",
        "Mary Kenneth",
        "Joan Clarke",
        "Jean Bartik",
        "Kay Antonelli",
    ):
        a_phone(session, a_contact(session, company, name), "+12025550143")

    match = contact_matching.find(session, Subject(phone="+12025550143"))

    assert (match.outcome, match.contact, match.company) == ("ambiguous", None, None)
    assert len({candidate.contact.id for candidate in match.candidates}) == 5
    assert all(candidate.company == company for candidate in match.candidates)
    assert all(0 < candidate.confidence < 1 for candidate in match.candidates)


def test_a_weaker_key_distinguishes_people_who_share_a_stronger_one(session: Session) -> None:
    ada, grace = a_contact(session), a_contact(session, full_name="Grace Hopper")
    an_email(session, ada, "info@acme.com")
    an_email(session, grace, "info@acme.com")
    a_phone(session, grace, "+12025550143")
    a_phone(session, a_contact(session, full_name="Mary Kenneth"), "+12025550143")

    match = contact_matching.find(session, Subject(email="info@acme.com", phone="+12025550143"))

    assert (match.contact, match.matched_on) == (grace, ("email", "phone"))


def test_a_name_distinguishes_people_who_share_an_address(session: Session) -> None:
    ada, grace = a_contact(session), a_contact(session, full_name="Grace Hopper")
    an_email(session, ada, "info@acme.com")
    an_email(session, grace, "info@acme.com")

    match = contact_matching.find(session, Subject(email="info@acme.com", full_name="Grace Hopper"))

    assert (match.contact, match.matched_on) == (grace, ("email", "full_name"))


def test_a_number_of_hundreds_of_contacts_does_not_hide_other_numbers_of_the_batch(session: Session) -> None:
    for _ in range(101):
        a_phone(session, a_contact(session), "+12025550100")
    grace = a_contact(session, full_name="Grace Hopper")
    a_phone(session, grace, "+12025550199")

    crowd, alone = contact_matching.find_many(
        session, [Subject(phone="+12025550100"), Subject(phone="+12025550199")]
    )

    assert crowd.outcome == "ambiguous"
    assert alone.contact == grace


@pytest.mark.parametrize(
    ("named", "field"),
    [
        ({"company_domain": "acme.com"}, "company_domain"),
        ({"company_name": "ACME Engines Inc."}, "company_name"),
    ],
)
def test_a_name_at_a_company_matches_its_contact(session: Session, named: dict[str, str], field: str) -> None:
    company = a_company(session)
    ada = a_contact(session, company)
    a_contact(session, company, "Grace Hopper")
    a_contact(session, a_company(session, "Other", domain="other.com"))

    match = contact_matching.find(session, Subject(full_name="Ada Lovelace", **named))

    assert (match.contact, match.company, match.matched_on) == (ada, company, ("full_name", field))


def test_a_name_in_two_parts_matches_as_well(session: Session) -> None:
    ada = a_contact(session, a_company(session))

    match = contact_matching.find(
        session, Subject(first_name="Ada", last_name="Lovelace", company_domain="acme.com")
    )

    assert match.contact == ada


def test_a_contact_with_a_single_name_matches_the_full_name(session: Session) -> None:
    cher = a_contact(session, a_company(session), "Cher")

    match = contact_matching.find(session, Subject(full_name="Cher", company_domain="acme.com"))

    assert match.contact == cher


def test_two_people_of_one_name_at_one_company_are_ambiguous(session: Session) -> None:
    company = a_company(session)
    both = {a_contact(session, company).id, a_contact(session, company).id}

    match = contact_matching.find(session, Subject(full_name="Ada Lovelace", company_domain="acme.com"))

    assert match.outcome == "ambiguous"
    assert {candidate.contact.id for candidate in match.candidates} == both


@pytest.mark.parametrize(
    "asked",
    [
        "Analytical Engine",
        "Axalytical Engines",
        "AnalyticalEngines Ltd",
        "Analytical Engines Technologies",
        "Analytical Enginess",
    ],
)
def test_a_similar_company_name_matches(session: Session, asked: str) -> None:
    ada = a_contact(session, a_company(session, "Analytical Engines, Inc."))
    for number in range(50):
        a_contact(session, a_company(session, f"Analytical {number} Chemists", domain=f"{number}.com"))

    match = contact_matching.find(session, Subject(full_name="Ada Lovelace", company_name=asked))

    assert [ada] == ([candidate.contact for candidate in match.candidates] or [match.contact])
    assert match.matched_on == ("full_name", "company_name")


@pytest.mark.parametrize(
    ("asked", "outcome"),
    [
        ("Acme Engines GmbH", "none"),
        ("Acme Engines Aktiengesellschaft", "matched"),
        ("Acme Engines", "matched"),
    ],
)
def test_a_company_with_another_legal_form_does_not_match(session: Session, asked: str, outcome: str) -> None:
    a_contact(session, a_company(session, "Acme Engines AG", domain=None))

    match = contact_matching.find(session, Subject(full_name="Ada Lovelace", company_name=asked))

    assert match.outcome == outcome


def test_a_company_of_the_same_name_with_another_website_does_not_match(session: Session) -> None:
    a_contact(session, a_company(session))
    subject = Subject(full_name="Ada Lovelace", company_name="Acme Engines", company_domain="acme.org")

    match = contact_matching.find(session, subject)

    assert (match.outcome, match.company) == ("none", None)


@pytest.mark.parametrize(
    ("employer", "outcome"), [("Acme", "matched"), ("Acme Rail", "matched"), ("Zenith Law", "ambiguous")]
)
def test_the_company_of_a_website_with_another_name_is_only_possible(
    session: Session, employer: str, outcome: str
) -> None:
    contacts.upsert(session, found.person(company=found.company("Acme", "acme.example")), now=found.NOW)

    subject = Subject(full_name="Ada Lovelace", company_name=employer, company_domain="acme.example")
    match = contact_matching.find(session, subject)

    assert match.outcome == outcome


def test_of_two_companies_at_one_website_the_one_of_the_name_matches(session: Session) -> None:
    contacts.upsert(session, found.person(company=found.company("Acme", "acme.example")), now=found.NOW)
    law = found.person(company=found.company("Zenith Law", "acme.example"))
    zenith = contacts.upsert(session, law, now=found.NOW)

    subject = Subject(full_name="Ada Lovelace", company_name="Zenith Law", company_domain="acme.example")
    match = contact_matching.find(session, subject)

    assert match.outcome == "matched"
    assert match.contact is not None
    assert match.contact.id == zenith.id


def test_a_company_without_a_website_may_match_by_name(session: Session) -> None:
    ada = a_contact(session, a_company(session, domain=None))
    subject = Subject(full_name="Ada Lovelace", company_name="Acme Engines", company_domain="acme.org")

    match = contact_matching.find(session, subject)

    assert match.contact == ada


@pytest.mark.parametrize(("asked", "outcome"), [("ABE", "ambiguous"), ("ABF", "none")])
def test_short_company_names_match_with_a_general_word_but_not_with_a_typing_error(
    session: Session, asked: str, outcome: str
) -> None:
    a_contact(session, a_company(session, "ABE Group"))

    match = contact_matching.find(session, Subject(full_name="Ada Lovelace", company_name=asked))

    assert match.outcome == outcome


def test_a_contact_of_the_same_name_with_another_profile_does_not_match(session: Session) -> None:
    company = a_company(session)
    a_contact(session, company, linkedin_url=ADA_URL)
    subject = Subject(linkedin_url=f"{ADA_URL}-2", full_name="Ada Lovelace", company_domain="acme.com")

    match = contact_matching.find(session, subject)

    assert (match.outcome, match.contact, match.company) == ("none", None, company)


def test_an_unknown_profile_falls_back_to_the_name(session: Session) -> None:
    ada = a_contact(session, a_company(session))
    subject = Subject(linkedin_url=ADA_URL, full_name="Ada Lovelace", company_domain="acme.com")

    match = contact_matching.find(session, subject)

    assert (match.contact, match.matched_on) == (ada, ("full_name", "company_domain"))


@pytest.mark.parametrize(
    ("stored", "asked"),
    [("Ada Lovelace", "Ada Lovelase"), ("Сергей Лавров", "Сергей Лаврав"), ("Ελένη Παππά", "Ελένη Παππάς")],
)
def test_a_misspelled_family_name_is_found_by_its_first_letters(
    session: Session, stored: str, asked: str
) -> None:
    person = a_contact(session, a_company(session), stored)

    match = contact_matching.find(session, Subject(full_name=asked, company_domain="acme.com"))

    assert person in (match.contact, *(candidate.contact for candidate in match.candidates))


@pytest.mark.parametrize(
    ("stored", "colleague", "asked", "outcome"),
    [
        ("Cindy Hyde-Smith", "Adam Smith", "Cindy Hyde Smith", "matched"),
        ("Joyce Beatty", "David Joyce", "Joyce Beaty", "ambiguous"),
        ("Nguyễn Thị Lan Hà", "Nguyễn Thị Thu Hà", "Nguyễn Thị Lan Hà", "matched"),
        ("Mohamed Ben Salah Trabelsi", "Mohamed Ben Ahmed Trabelsi", "Mohamed Ben Salah Trabelsi", "matched"),
    ],
)
def test_a_colleague_with_a_similar_name_does_not_hide_the_person(
    session: Session, stored: str, colleague: str, asked: str, outcome: str
) -> None:
    acme = a_company(session)
    a_contact(session, acme, colleague)
    person = a_contact(session, acme, stored)

    match = contact_matching.find(session, Subject(full_name=asked, company_domain="acme.com"))

    found = [candidate.contact for candidate in match.candidates] or [match.contact]
    assert (match.outcome, found) == (outcome, [person])


@pytest.mark.parametrize(
    ("asked", "stored", "outcome"),
    [
        ("Bob Smith", "Robert J. Smith", "matched"),
        ("Jose Smith", "José Smith", "matched"),
        ("Jonathan Smith", "J. Smith", "ambiguous"),
        ("Jonathan Smith", "Jonahtan Smith", "ambiguous"),
    ],
)
def test_a_family_name_of_hundreds_of_colleagues_does_not_hide_the_person(
    session: Session, asked: str, stored: str, outcome: str
) -> None:
    acme = a_company(session)
    for number in range(120):
        a_contact(session, acme, f"Alma{chr(97 + number % 26)} Smith{'' if number % 2 else 'son'}")
        a_contact(session, acme, f"Alma{chr(97 + number % 26)} Q Smith")
    person = a_contact(session, acme, stored)

    match = contact_matching.find(session, Subject(full_name=asked, company_domain="acme.com"))

    found = [candidate.contact for candidate in match.candidates] or [match.contact]
    assert (match.outcome, found) == (outcome, [person])


@pytest.mark.parametrize(
    ("stored", "asked", "colleagues"),
    [
        ("Maria Gonzalez Perez", "Maria Gonzalez", ("Marta{} Gonzalez", "Marta{} Gomez")),
        ("Jing Li", "Li Jing", ("Alma{} Li", "Alma{} Lin")),
    ],
)
def test_dozens_of_colleagues_with_the_family_name_do_not_hide_another_form_of_the_name(
    session: Session, stored: str, asked: str, colleagues: tuple[str, ...]
) -> None:
    acme = a_company(session)
    for number in range(60):
        for colleague in colleagues:
            a_contact(session, acme, colleague.format(chr(97 + number % 26)))
    person = a_contact(session, acme, stored)

    match = contact_matching.find(session, Subject(full_name=asked, company_domain="acme.com"))

    assert person in (match.contact, *(candidate.contact for candidate in match.candidates))


def test_the_whole_name_is_preferred_to_one_whose_given_names_are_joined(session: Session) -> None:
    acme = a_company(session)
    joined, person = (a_contact(session, acme, name) for name in ("JeanClaude Martin", "Jean Claude Martin"))

    matches = [
        contact_matching.find(session, Subject(full_name=name, company_domain="acme.com"))
        for name in ("Jean Claude Martin", "JeanClaude Martin", "Jean-Claude Martin")
    ]

    assert [(match.outcome, match.contact) for match in matches] == [
        ("matched", person),
        ("matched", joined),
        ("matched", person),
    ]


@pytest.mark.parametrize("asked", ["Nguyễn Thị Lan Hà", "Nguyễn Thị Mai Hà"])
def test_another_middle_name_is_not_the_same_person(session: Session, asked: str) -> None:
    a_contact(session, a_company(session), "Nguyễn Thị Thu Hà")

    match = contact_matching.find(session, Subject(full_name=asked, company_domain="acme.com"))

    assert (match.outcome, match.contact) == ("none", None)


@pytest.mark.parametrize(
    ("stored", "asked", "confidence"),
    [
        ("Mario Diaz-Balart", "Mario Balart", 0.8217),
        ("Mario Diaz-Balart", "Balart Mario", 0.7415),
        ("Ana Paula Lima Moura", "Ana Moura", 0.8217),
        ("Ines Duarte Brook", "Ines Duarte", 0.6388),
        ('Earl L. "Buddy" Carter', "Buddy Carter", 0.8574),
        ('Earl L. "Buddy" Carter', "Earl Carter", 0.95),
        ("Sergei Lavrov", "SergeiLavrov", 0.95),
        ("Jean-Claude Juncker", "JC Juncker", 0.6388),
        ("H. Morgan Griffith", "Morgan Griffith", 0.8939),
        ("Alexander Boris Johnson", "Boris Johnson", 0.6388),
        ("Sergei Lavrov", "Sergie Lavorv", 0.5442),
        ("Ada Lovelace", "Ada Lvoelace", 0.7191),
        ("LAVROV Sergei", "Sergei Lavrov", 0.95),
        ("Lavrov Sergei", "Sergei Lavrov", 0.8574),
        ("Sergei Lavrov", "LAVROV, Sergei", 0.95),
    ],
)
def test_a_person_is_found_by_another_form_of_the_name(
    session: Session, stored: str, asked: str, confidence: float
) -> None:
    acme = a_company(session)
    a_contact(session, acme, "Grace Hopper")
    person = a_contact(session, acme, stored)

    match = contact_matching.find(session, Subject(full_name=asked, company_domain="acme.com"))

    found = [candidate.contact for candidate in match.candidates] or [match.contact]
    assert (found, match.confidence) == ([person], pytest.approx(confidence, abs=0.0001))


@pytest.mark.parametrize("name", ["Grace Hopper", "Cher", "123"])
def test_an_unknown_person_at_a_known_company_returns_the_company(session: Session, name: str) -> None:
    company = a_company(session)
    a_contact(session, company)

    match = contact_matching.find(session, Subject(full_name=name, company_domain="acme.com"))

    assert (match.outcome, match.contact, match.company) == ("none", None, company)


def test_an_unknown_company_returns_no_company(session: Session) -> None:
    match = contact_matching.find(session, Subject(full_name="Ada Lovelace", company_domain="acme.com"))

    assert (match.outcome, match.company) == ("none", None)


def test_many_subjects_are_matched_in_order_with_one_query_per_kind_of_key(session: Session) -> None:
    people = [a_contact(session, linkedin_url=f"{ADA_URL}-{n}") for n in range(50)]
    subjects = [Subject(linkedin_url=person.linkedin_url) for person in reversed(people)]

    with statements(session.get_bind()) as seen:  # type: ignore[arg-type]
        found = contact_matching.find_many(session, subjects)

    assert [match.contact for match in found] == list(reversed(people))
    assert len(seen) == 1


@pytest.mark.skipif(POSTGRES is not None, reason="reads SQLite's plans")
@pytest.mark.parametrize(
    "subject",
    [
        Subject(contact_id=EXAMPLES["con"]),
        Subject(linkedin_url=ADA_URL),
        Subject(email="ada@acme.com"),
        Subject(phone="+12025550143"),
        Subject(full_name="Ada Lovelace", company_domain="acme.com"),
        Subject(full_name="Ada Lovelase", company_name="Acme Engine"),
        Subject(full_name="Cher", company_name="Acme Engines"),
    ],
)
def test_matching_scans_no_whole_table(session: Session, subject: Subject) -> None:
    a_contact(session, a_company(session))

    with statements(session.get_bind()) as seen:  # type: ignore[arg-type]
        contact_matching.find(session, subject)

    assert seen
    assert scans(session, seen) == []
