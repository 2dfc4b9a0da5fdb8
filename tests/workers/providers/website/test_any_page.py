from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from workers.providers.website import page_choice, robots
from workers.providers.website.page_people import read_page

OF_PAGES = (
    "<div>", "</div>", "<p>", "<br>", "<b>", "</b>", "<a href='", "'>", "</a>", "<h3>", "</h3>",
    "<table><tr><td>", "<div class='vcard'>", "<span class='fn'>", "<span class='email'>",
    "<div itemscope itemtype='http://schema.org/Person'>", "<span itemprop='name'>",
    "<span itemprop='email'>", "<script type='application/ld+json'>", "</script>", '{"@type":',
    '"Person"', '"name":', ",", "}", "[", "]", "{", ":", '"', "null", "1", "Ada", "Lovelace",
    "Bob Byron", "CTO", "Geschäftsführer:", "Vertreten durch", "und", "代表取締役", "山田太郎", " ", "\n",
    "@", "acme.de", "ada@acme.de", "mailto:", "tel:", "+49 30 901820", "%40", "%", "[at]", "(dot)",
    "javascript:linkTo_UnCryptMailto('", "');", "data-cfemail='", "/cdn-cgi/l/email-protection#",
    "543530", "&amp;", "&#0;", "\x00", "\ufeff", "\u202e", "linkedin.com/in/", "<base href='",
    "<meta name='robots' content='", "noindex", "<html lang='", "de-AT", "//[", "http://", "\\",
)  # fmt: skip
OF_RULES = (
    "User-agent:", "*", "Disallow:", "Allow:", "/", "$", "Crawl-delay:", "1e999", "nan", "-1",
    "Sitemap:", "\n", "%", "\x85",
)  # fmt: skip
OF_SITEMAPS = (
    "<loc>", "</loc>", "https://acme.de/team", "http://[", "<![CDATA[", "]]>", "&amp;",
    "<sitemapindex>", "\x1f\x8b", "é",
)  # fmt: skip


def texts(tokens: Sequence[str]) -> st.SearchStrategy[bytes]:
    """Return any bytes, or what pages of the kind are made of, in any order."""
    made = st.lists(st.sampled_from(tokens), max_size=40)
    return st.one_of(st.binary(max_size=300), made.map(lambda parts: " ".join(parts).encode()))


@settings(deadline=None)  # the first page takes the time to read the word lists
@given(page=texts(OF_PAGES), charset=st.sampled_from([None, "utf-16", "shift_jis", "zlib", "idna", "x\0y"]))
def test_any_bytes_are_a_page(page: bytes, charset: str | None) -> None:
    found = read_page(page, url="https://acme.de/team", domain="acme.de", charset=charset)

    emails = [person.email for person in found.people if person.email]
    assert len(set(emails)) == len(emails)
    assert all(email.endswith("acme.de") for email in emails)


@given(text=texts(OF_RULES))
def test_any_bytes_are_rules(text: bytes) -> None:
    rules = robots.parse(text)

    assert rules.allows("https://acme.de/team") in {True, False}
    assert 0 <= rules.crawl_delay < float("inf")


@given(text=texts(OF_SITEMAPS))
def test_any_bytes_are_a_sitemap(text: bytes) -> None:
    urls, _is_index = page_choice.locations(text)

    assert len(page_choice.choose(urls, at_most=3)) <= 3
