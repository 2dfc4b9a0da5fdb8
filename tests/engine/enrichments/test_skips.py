"""Which people of a list are skipped, and what an estimate counts of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import pytest
from jobs_support import a_workspace
from stored_support import NOW, a_contact, an_email, exclude, own, suppress

from app.domain.records.subjects import Subject
from app.engine.enrichments import enrichment_estimates, estimate_sentences, listed_people, skips
from app.engine.enrichments.enrichment_estimates import Estimate
from app.engine.enrichments.own_record_counts import OwnRecordCount
from app.engine.enrichments.skips import NOBODY, OWNED, Skip, SkipRule, SkipWhen
from app.engine.lookups.field_requests import ContactField
from app.engine.lookups.lookup_parts import LookedUp
from app.engine.own_records.own_records import BATCH, OwnRecord
from app.infra.database.session import Session
from app.infra.languages import texts
from app.settings import Settings

ADDRESS, NUMBER = "ada@acme.com", "+12025550188"
EMAIL, PHONE = ContactField.EMAIL, ContactField.PHONE
NOTHING_ASKED = ", and the request skips such people, so nobody was asked and nothing was charged."
IN_CRM = SkipRule(("crm", OWNED))
MISSING = SkipRule(("crm", OWNED), SkipWhen.HAS_FIELD)


def a_record(
    emails: Sequence[str] = (), phones: Sequence[str] = (), *, title: str = "HubSpot", is_certain: bool = True
) -> OwnRecord:
    return OwnRecord(
        source="crm",
        system=title.lower().replace("/", "_"),
        title=title,
        url="https://crm.example/1",
        emails=emails,
        phones=phones,
        is_certain=is_certain,
    )


@dataclasses.dataclass
class Crm:
    """A system of the workspace; `records` are found by address. It remembers the sizes of the searches."""

    records: dict[str, list[OwnRecord]]
    sizes: list[int] = dataclasses.field(default_factory=list)

    def __call__(self, _session: Session, people: Sequence[LookedUp]) -> list[list[OwnRecord]]:
        self.sizes.append(len(people))
        return [
            [record for email in person.emails for record in self.records.get(email, ())] for person in people
        ]


def decide(
    session: Session, settings: Settings, workspace: str, rule: SkipRule, crm: Crm, *fields: ContactField
) -> Skip | None:
    """Return whether the person with the address is skipped."""
    [person] = listed_people.read(
        session,
        workspace,
        [Subject(email=ADDRESS)],
        fields,
        {"crm": crm},
        default_max_age=settings.default_max_age,
        now=NOW,
    )
    assert person is not None
    return skips.decide(rule, person, fields)


def estimate(
    session: Session,
    settings: Settings,
    workspace: str,
    crm: Crm,
    rule: SkipRule = NOBODY,
    *,
    addresses: Sequence[str] = (ADDRESS,),
    fields: Sequence[str] = ("email",),
) -> Estimate:
    return enrichment_estimates.estimate(
        session,
        workspace,
        [{"subject": {"email": address}} for address in addresses],
        fields,
        settings=dataclasses.replace(settings, prices={"reveal.email": 1, "reveal.phone": 5}),
        now=NOW,
        rule=rule,
        finds={"crm": crm},
    )


def own_ada(session: Session, workspace: str) -> None:
    ada = a_contact(session)
    an_email(session, ada, ADDRESS)
    own(session, workspace, ada, "email")


def test_without_a_rule_nobody_is_skipped(session: Session, settings: Settings) -> None:
    crm = Crm({ADDRESS: [a_record([ADDRESS])]})

    skip = decide(session, settings, a_workspace(session), NOBODY, crm, EMAIL)

    assert skip is None


def test_whoever_is_in_a_source_is_skipped_with_the_record_that_says_so(
    session: Session, settings: Settings
) -> None:
    record = a_record()

    skip = decide(session, settings, a_workspace(session), IN_CRM, Crm({ADDRESS: [record]}), EMAIL, PHONE)

    assert skip == Skip(source="crm", record=record, fields=(EMAIL, PHONE), is_whole=True)
    assert skip.to_json() == {
        "source": "crm",
        "system": "hubspot",
        "title": "HubSpot",
        "url": "https://crm.example/1",
        "fields": ["email", "phone"],
    }


def test_a_source_that_is_not_named_skips_nobody(session: Session, settings: Settings) -> None:
    crm = Crm({ADDRESS: [a_record([ADDRESS])]})

    skip = decide(session, settings, a_workspace(session), SkipRule((OWNED,)), crm, EMAIL)

    assert skip is None


def test_a_record_that_may_be_about_somebody_else_skips_nobody(session: Session, settings: Settings) -> None:
    crm = Crm({ADDRESS: [a_record([ADDRESS], is_certain=False)]})

    skip = decide(session, settings, a_workspace(session), IN_CRM, crm, EMAIL)

    assert skip is None


@pytest.mark.parametrize(
    ("fields", "is_skipped"), [((EMAIL,), True), ((EMAIL, PHONE), False), ((PHONE,), False), ((), False)]
)
@pytest.mark.parametrize("when", SkipWhen)
def test_owned_people_are_those_of_whom_all_requested_values_are_owned(
    session: Session,
    settings: Settings,
    fields: tuple[ContactField, ...],
    when: SkipWhen,
    *,
    is_skipped: bool,
) -> None:
    workspace = a_workspace(session)
    own_ada(session, workspace)

    skip = decide(session, settings, workspace, SkipRule((OWNED,), when), Crm({}), *fields)

    expected = Skip(source=OWNED, record=None, fields=fields, is_whole=True) if is_skipped else None
    assert skip == expected


@pytest.mark.parametrize(
    ("records", "fields", "skipped"),
    [
        ([a_record([ADDRESS])], (EMAIL,), (EMAIL,)),
        ([a_record([ADDRESS])], (EMAIL, PHONE), (EMAIL,)),
        ([a_record(), a_record([ADDRESS], [NUMBER])], (EMAIL, PHONE), (EMAIL, PHONE)),
        ([a_record([ADDRESS]), a_record([], [NUMBER])], (EMAIL, PHONE), (EMAIL, PHONE)),
        ([a_record()], (EMAIL,), None),
        ([a_record([], [NUMBER])], (EMAIL,), None),
        ([a_record([ADDRESS])], (), None),
    ],
)
def test_with_has_field_only_what_a_record_has_is_skipped(
    session: Session,
    settings: Settings,
    records: list[OwnRecord],
    fields: tuple[ContactField, ...],
    skipped: tuple[ContactField, ...] | None,
) -> None:
    skip = decide(session, settings, a_workspace(session), MISSING, Crm({ADDRESS: records}), *fields)

    assert (skip and (skip.fields, skip.is_whole)) == (skipped and (skipped, skipped == fields))


def test_with_has_field_a_value_that_is_owned_counts_as_one_that_is_there(
    session: Session, settings: Settings
) -> None:
    workspace = a_workspace(session)
    own_ada(session, workspace)
    with_phone = Crm({ADDRESS: [a_record([], [NUMBER])]})

    both = decide(session, settings, workspace, MISSING, with_phone, EMAIL, PHONE)
    one = decide(session, settings, workspace, MISSING, Crm({ADDRESS: [a_record()]}), EMAIL, PHONE)

    assert both is not None
    assert (both.is_whole, one) == (True, None)


@pytest.mark.parametrize("reason", ["suppressed", "excluded"])
def test_who_is_suppressed_or_excluded_is_not_skipped(
    session: Session, settings: Settings, reason: str
) -> None:
    workspace, crm = a_workspace(session), Crm({ADDRESS: [a_record([ADDRESS])]})
    own_ada(session, workspace)
    if reason == "suppressed":
        suppress(session, "email", ADDRESS)
    else:
        exclude(session, workspace, "email", ADDRESS)

    skip = decide(session, settings, workspace, IN_CRM, crm, EMAIL)
    counts = estimate(session, settings, workspace, crm, IN_CRM)

    assert skip is None
    assert (counts.skipped, counts.owned, getattr(counts, reason)) == (0, 0, 1)


def test_an_estimate_counts_own_records_whether_they_are_skipped_or_not(
    session: Session, settings: Settings
) -> None:
    workspace = a_workspace(session)
    own_ada(session, workspace)
    crm = Crm(
        {
            "bob@acme.com": [a_record(["bob@acme.com"]), a_record([], [NUMBER])],
            "eve@acme.com": [a_record(), a_record(title="A/B")],
        }
    )
    addresses = (ADDRESS, "bob@acme.com", "bob@acme.com", "eve@acme.com", "new@acme.com")

    counted = [
        estimate(
            session, settings, workspace, crm, rule, addresses=addresses, fields=("email", "phone", "company")
        )
        for rule in (NOBODY, IN_CRM, MISSING)
    ]

    own_records = (
        OwnRecordCount("crm", "hubspot", "HubSpot", people=2, with_email=1, with_phone=1),
        OwnRecordCount("crm", "a_b", "A/B", people=1),
    )
    assert counted == [
        Estimate(credits_max=5 + 3 * 6, to_buy=4, own_records=own_records),
        Estimate(credits_max=5 + 6, to_buy=2, skipped=3, own_records=own_records),
        Estimate(credits_max=5 + 6 + 6, to_buy=3, skipped=2, own_records=own_records),
    ]


def test_an_estimate_of_a_skipped_owned_person_says_both(session: Session, settings: Settings) -> None:
    workspace = a_workspace(session)
    own_ada(session, workspace)

    counts = estimate(session, settings, workspace, Crm({}), IN_CRM)

    assert counts == Estimate(owned=1, skipped=1)


def test_with_has_field_only_the_missing_fields_cost_something(session: Session, settings: Settings) -> None:
    crm = Crm({ADDRESS: [a_record([ADDRESS])]})

    counts = estimate(session, settings, a_workspace(session), crm, MISSING, fields=("email", "phone"))

    assert (counts.credits_max, counts.to_buy, counts.skipped) == (5, 1, 0)


def test_systems_are_searched_in_batches(
    session: Session, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listed_people, "BATCH", 2)
    crm = Crm({})

    estimate(session, settings, a_workspace(session), crm, addresses=[f"{n}@acme.com" for n in range(5)])

    assert crm.sizes == [2, 2, 1]
    assert BATCH == 1000


@pytest.mark.parametrize(
    ("items", "counts", "fields", "entity", "text"),
    [
        (
            500,
            {"owned": 61, "to_buy": 227, "credits_max": 227},
            ["email"],
            "person",
            "500 people: 212 in HubSpot (190 with an address), 61 owned, 227 to buy for at most 227 credits",
        ),
        (
            1,
            {"owned": 0, "to_buy": 0, "credits_max": 0},
            ["email", "phone"],
            "person",
            "1 person: 212 in HubSpot (190 with an address, 1,004 with a number), nothing to buy",
        ),
        (
            2,
            {"owned": 0, "to_buy": 1, "credits_max": 1},
            ["company"],
            "company",
            "2 companies: 212 in HubSpot, 1 to buy for at most 1 credit",
        ),
    ],
)
def test_an_estimate_is_one_sentence(
    items: int, counts: dict[str, int], fields: list[str], entity: str, text: str
) -> None:
    own_records = [OwnRecordCount("crm", "hubspot", "HubSpot", people=212, with_email=190, with_phone=1004)]

    sentence = estimate_sentences.of_list(items, counts, own_records, fields, entity=entity)

    assert sentence == text


@pytest.mark.parametrize(
    ("language", "text"),
    [
        (
            "de",
            (
                "1.500 Personen: 212 in HubSpot (190 mit Adresse, 1.004 mit Nummer), "
                "61 schon freigeschaltet, 1 zu kaufen für höchstens 1 Credit"
            ),
        ),
        (
            "fr",
            (
                "1\u202f500 personnes\u00a0: 212 dans HubSpot (190 avec une adresse, "
                "1\u202f004 avec un numéro), "
                "61 déjà à vous, 1 à acheter pour 1 crédit au maximum"
            ),
        ),
        (
            "es",
            (
                "1.500 personas: 212 en HubSpot (190 con dirección, 1.004 con número), "
                "61 ya en su poder, 1 por comprar por 1 crédito como máximo"
            ),
        ),
    ],
)
def test_the_sentence_is_translated_with_all_of_its_parts(language: str, text: str) -> None:
    own_records = [OwnRecordCount("crm", "hubspot", "HubSpot", people=212, with_email=190, with_phone=1004)]
    counts = {"owned": 61, "to_buy": 1, "credits_max": 1}

    sentence = estimate_sentences.of_list(1500, counts, own_records, ["email", "phone"])

    assert texts.translate(sentence, language) == text


@pytest.mark.parametrize(
    ("changes", "is_whole", "text"),
    [
        (
            {},
            True,
            f"This person is in HubSpot{NOTHING_ASKED}",
        ),
        (
            {"title": None},
            True,
            f"Your workspace owns these values{NOTHING_ASKED}",
        ),
        ({}, False, "HubSpot has the e-mail address of this person, so no other was bought."),
    ],
)
def test_a_result_says_why_a_person_or_a_field_was_skipped(
    changes: dict[str, Any], text: str, *, is_whole: bool
) -> None:
    skipped = {"title": "HubSpot", "fields": ["email"]} | changes

    sentence = skips.sentence(skipped, is_whole=is_whole)

    assert sentence == text
