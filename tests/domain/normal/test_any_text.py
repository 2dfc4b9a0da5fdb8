from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.domain.email_patterns import patterns, spelling
from app.domain.errors import InvalidValue, Problem
from app.domain.normal import emails, hashes, masks, websites
from app.domain.normal.companies import company_domains, company_names, employers
from app.domain.normal.names import name_keys, names, nicknames
from app.domain.normal.phones import phones
from app.domain.normal.profiles import profiles
from app.domain.normal.texts import title_words
from app.domain.records import company_identity
from app.domain.records.similarity import company_similarity, name_similarity

NASTY = st.one_of(
    st.text(),
    st.text(st.characters(categories=("Cs", "Cc", "Cf", "Mn", "So", "Lo", "Nd"))),
    st.text("aA.@:/\\%0-_[]?#&+'\" \u202e\u0301ß王", max_size=60),
    st.builds(lambda path: f"https://www.linkedin.com/in/{path}", st.text(max_size=20)),
    st.builds(lambda host: f"https://{host}.com/", st.text(max_size=20)),
    st.builds(lambda local: f"{local}@acme.com", st.text(max_size=20)),
    st.builds(lambda digits: f"+{digits}", st.text("0123456789 ()x;.-", max_size=30)),
)
TAKE_ANY_TEXT: list[Callable[[str], object]] = [
    emails.normal_email,
    emails.email_domain,
    emails.email_kind,
    emails.email_reasons,
    websites.normal_website,
    company_domains.company_domain,
    lambda text: company_domains.company_domain("google.com", text),
    company_domains.mail_company_domain,
    employers.names_employer,
    profiles.normal_profile_url,
    profiles.normal_company_url,
    phones.parse_phone,
    lambda text: phones.parse_phone("020 7946 0018", text),
    lambda text: phones.parse_phone(text, "US"),
    phones.phone_from_e164,
    names.parse_name,
    name_keys.name_key,
    company_names.company_key,
    name_keys.spellings,
    name_keys.person_key,
    name_keys.nickname_of,
    nicknames.given_names,
    lambda text: name_similarity.name_score(names.parse_name(text), names.PersonName(text, text, text)),
    lambda text: company_similarity.company_score(text, "Acme"),
    lambda text: company_identity.are_one_company(text, "Acme", "acme.com"),
    lambda text: patterns.form_of(text, names.PersonName(text, text, text)),
    lambda text: patterns.simple_form_of(text, names.PersonName(text, text, text)),
    lambda text: patterns.spelling_shares(text, names.PersonName("a", "b", "a b"), spelling.odds({}, text)),
    lambda text: patterns.candidates(names.parse_name(text), text, [patterns.PatternStat(text, 1)]),
    title_words.title_terms,
    title_words.searched_words,
    masks.mask_email,
    masks.mask_phone,
    hashes.website_hash,
    hashes.profile_hash,
    hashes.parse_hash,
    lambda text: hashes.parse_prefix(text, len(text)),
    hashes.prefix_bounds,
]
IDEMPOTENT = [
    emails.normal_email,
    websites.normal_website,
    profiles.normal_profile_url,
    profiles.normal_company_url,
    name_keys.name_key,
]


@pytest.mark.parametrize("take", TAKE_ANY_TEXT)
@settings(max_examples=40, deadline=None)
@given(text=NASTY)
@example(text="")
@example(text="\0")
@example(text="\ud800")
@example(text="\u202e\u200f")
@example(text="a" * 10_000)
@example(text="1" * 10_000)
@example(text="." * 10_000)
@example(text="王" * 10_000)
@example(text="a@" * 5_000)
@example(text="%25" * 4_000)
@example(text=" " * 10_000 + '"')
@example(text="( " * 5_000)
@example(text=":1" * 5_000)
@example(text="https://xn--\u00fc.xn--/")
def test_any_text_is_normalised_or_refused(take: Callable[[str], object], text: str) -> None:
    try:
        take(text)
    except (InvalidValue, Problem) as refusal:
        assert refusal.args  # noqa: PT017 -- either of the two errors is allowed


@pytest.mark.parametrize("normal", IDEMPOTENT)
@settings(max_examples=150, deadline=None)
@given(text=NASTY)
@example(text="https://www.linkedin.com/in/%25252541")
@example(text="https://www.linkedin.com/in/İ%E1%BA%9E")
@example(text="Ǆ@acme.com")
def test_a_normal_form_is_its_own_normal_form(normal: Callable[[str], str], text: str) -> None:
    try:
        once = normal(text)
    except (InvalidValue, Problem):
        return

    assert normal(once) == once
