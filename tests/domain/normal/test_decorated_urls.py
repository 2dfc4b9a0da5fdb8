"""URLs as people paste them: the same slug as the clean URL, or a clear error, but never another person."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.domain.errors import InvalidValue, NotAProfileUrl
from app.domain.normal.profiles.profiles import normal_company_url, normal_profile_url
from app.domain.normal.websites import normal_website

ADA = "https://www.linkedin.com/in/ada-lovelace"
BEFORE = ("", " ", "\ufeff", "\u200b", "<", '"', "'", "\u201c", "\u00ab", "(", "[", "*", "%20", "%EF%BB%BF")
LABELS = ("", "URL: ", "mailto:", "LinkedIn: ", "https://", "http://http://")
HOSTS = ("linkedin.com", "www.linkedin.com", "de.linkedin.com", "m.linkedin.com", "www.de.linkedin.com")
PATHS = (
    "",
    "/",
    "/de",
    "/en-us/",
    "/details/experience/",
    "?trk=x",
    "&trk=x",
    "&amp;trk=x",
    "%3Ftrk%3Dx",
    "#top",
)
PARAMETERS = (";jsessionid=1A2B", ";jsessionid", "?trk=x>,")
QUOTES = (
    ">",
    '"',
    "'",
    "\u201d",
    "\u00bb",
    ")",
    "]",
    "*",
    ",",
    ".",
    ";",
    "!",
    ">,",
    '".',
    "%20",
    "%22",
    "%2C",
)
BLANKS = ("%0A", "%C2%A0", "%E2%80%8B", "\u200b", "\u200d", "'\u200d", "\ufeff", " ", "\n")
AFTER = (*PATHS, *PARAMETERS, *QUOTES, *BLANKS)
SLUGS = st.from_regex(r"[a-z0-9][a-z0-9_-]{1,30}[a-z0-9]", fullmatch=True).filter(
    lambda slug: slug not in {"me", "pub", "unavailable"}
)
ESCAPED = re.compile("%[0-9a-f]{2}")
WORDS = st.sampled_from(("josé-garcía", "löwe-1", "小明-王-123", "محمد-1", "ada-🚀-1", "o\u2019brien"))


@pytest.mark.parametrize("before", [*BEFORE, *LABELS])
@pytest.mark.parametrize("after", AFTER)
def test_a_decorated_profile_url_has_the_same_normal_form(before: str, after: str) -> None:
    assert normal_profile_url(f"{before}{ADA}{after}") == ADA


@given(
    SLUGS | WORDS,
    st.sampled_from(HOSTS),
    st.sampled_from(BEFORE),
    st.lists(st.sampled_from(AFTER), max_size=3),
)
def test_decorations_together_give_the_same_slug_or_an_error(
    slug: str, host: str, before: str, after: list[str]
) -> None:
    clean = normal_profile_url(f"https://{host}/in/{slug}")

    try:
        decorated = normal_profile_url(f"{before}https://{host}/in/{slug}{''.join(after)}")
    except NotAProfileUrl:
        return

    assert decorated == clean


@given(
    SLUGS, st.integers(0, 40), st.sampled_from(' \t\n<>"`|^{}[]@,:;\\%?#\u200b\u200d\ufeff\u2060\u00ad\u00a0')
)
def test_a_stray_sign_in_a_profile_url_never_names_another_person(slug: str, place: int, sign: str) -> None:
    text = f"www.linkedin.com/in/{slug}"
    place = min(place, len(text))
    assume(not ESCAPED.match(sign + text[place:]))  # an encoded character, not a stray sign
    cut_off = normal_profile_url(text)

    try:
        found = normal_profile_url(text[:place] + sign + text[place:])
    except NotAProfileUrl:
        return

    assert found == cut_off or sign in "?#"  # what follows these is not part of the path


@pytest.mark.parametrize(
    "text",
    [
        f"[Ada]({ADA})",  # https://spec.commonmark.org/0.31.2/#links
        f"[]({ADA}/)",
        f'<a class="x" href="{ADA}" target=_blank>Ada</a>',
        f"<A HREF='{ADA}'>Ada</A>",
        f'=HYPERLINK("{ADA}","Ada")',  # https://support.google.com/docs/answer/3093313
        f'=HYPERLINK("{ADA}"; "Ada")',
        "https//www.linkedin.com/in/ada-lovelace",
        "htps://www.linkedin.com/in/ada-lovelace",
        "htttps:/linkedin.com/in/ada-lovelace",
        "https://www.linkedin.cn/in/ada-lovelace",
        "https://www.linkedin.cn/incareer/in/ada-lovelace",
        "https://www.bing.com/ck/a?!&&p=1&u=a1aHR0cHM6Ly93d3cubGlua2VkaW4uY29tL2luL2FkYS1sb3ZlbGFjZQ&ntb=1",
    ],
)
def test_links_of_documents_and_misspelt_schemes_lead_to_the_profile(text: str) -> None:
    assert normal_profile_url(text) == ADA


def test_a_lead_of_sales_navigator_may_lack_its_host() -> None:
    lead = normal_profile_url("/sales/lead/ACwAAAB12cdXyz,NAME_SEARCH,abc1?_ntb=1")

    assert lead == "https://www.linkedin.com/in/ACwAAAB12cdXyz"


@pytest.mark.parametrize(
    "text",
    [
        "[Ada](https://evil.example/in/ada-lovelace)",
        f'<a href="https://evil.example/x">{ADA}</a>',
        f"[{ADA}](https://evil.example)",
        f"[a]({ADA}) [b]({ADA}-2)",
        "https://www.linkedin.cn.evil.example/in/ada",
        "https://evil-linkedin.cn/in/ada",
        "https://www.bing.com/ck/a?u=a1%%%",
        "https://www.bing.com/ck/a?u=a1aHR0cHM6Ly9ldmlsLmV4YW1wbGUvaW4vYWRh",
        "htps://evil.example/in/ada",
        "/sales/search/people",
        "https://lnkd.in/abc123",
        "https://github.com/ada",
        "https://www.xing.com/profile/Ada_Lovelace",
    ],
)
def test_links_that_lead_elsewhere_are_no_profile(text: str) -> None:
    with pytest.raises(NotAProfileUrl):
        normal_profile_url(text)


@pytest.mark.parametrize(
    "text",
    [
        f"{ADA}...",
        f"{ADA}\u2026",
        f"{ADA}..?trk=x",
        f"{ADA}\nhttps://www.linkedin.com/in/grace-hopper",
        f"{ADA}, https://www.linkedin.com/in/grace-hopper",
        f"{ADA} https://www.linkedin.com/in/grace-hopper",
        f"{ADA};https://www.linkedin.com/in/grace-hopper",
        f"{ADA}/in/grace-hopper",
        f"{ADA}www.linkedin.com/in/grace-hopper",
        "https://www.linkedin.com/in/ada-\nlovelace",
        "https://www.linkedin.com/in/in/ada-lovelace",
        "https://www.linkedin.com/in/pub",
        "https://www.linkedin.com/in/jos%C3",
        "https://www.linkedin.com/in/ada%2Flovelace",
        "mailto:ada@acme.example",
        "www.linkedin.com.evil.example/in/ada",
    ],
)
def test_a_url_that_is_cut_off_or_names_several_people_is_refused(text: str) -> None:
    with pytest.raises(NotAProfileUrl):
        normal_profile_url(text)


def test_a_member_id_keeps_its_capitals() -> None:
    url = "https://www.linkedin.com/in/ACoAAAbCdEf_-123"

    assert normal_profile_url(url) == url


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("<https://www.linkedin.com/company/acme>,", "acme"),
        ("https://www.linkedin.com/company/at%26t&trk=x", "at&t"),
        ("linkedin.com/company/acme-(uk)", "acme-(uk)"),
        ("(linkedin.com/company/acme)", "acme"),
        ("https://www.linkedin.com/company/acme.", "acme"),
        ("https://de.linkedin.com/company/acme;jsessionid=1", "acme"),
    ],
)
def test_a_decorated_company_url_has_the_same_normal_form(text: str, slug: str) -> None:
    assert normal_company_url(text) == f"https://www.linkedin.com/company/{slug}"


@pytest.mark.parametrize("before", [*BEFORE, *LABELS])
@pytest.mark.parametrize("after", ["", ">", '",', "%20", "/?x=1)", ";", "\u200b", "."])
def test_a_decorated_website_has_the_same_normal_form(before: str, after: str) -> None:
    assert normal_website(f"{before}https://acme.example{after}") == "acme.example"


def test_a_website_that_is_cut_off_is_refused() -> None:
    with pytest.raises(InvalidValue, match="cut off"):
        normal_website("https://www.acme...")
