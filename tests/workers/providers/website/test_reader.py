from __future__ import annotations

import gzip
import itertools
import resource
import socket
import time
import zlib
from collections.abc import Iterator
from typing import Any

import pytest
import web_sites
from web_sites import Request, Sites

from app.domain.providers.website_pages import PageState, RoleAddress
from workers.providers.website.reader import WebsiteReader, WebsiteReading

CARD = "<div><h3>Ada Lovelace</h3><p>CTO</p><a href='mailto:ada@acme.de'>Mail</a></div>"
HOME = "<a href='/products'>Products</a><a href='/team'>Team</a><a href='/impressum'>Impressum</a>"
SECONDS = 3.0
MAX_MEGABYTES = 80


@pytest.fixture
def sites() -> Iterator[Sites]:
    with web_sites.serving() as served:
        yield served


def read(sites: Sites, *, seconds: float = SECONDS, known: Any = (), **options: Any) -> WebsiteReading:
    reader = WebsiteReader("ops@example.com", gateway=sites.url, **{"pause": 0.0, **options})
    return reader.read("acme.de", seconds, {state.url: state for state in known})


def names(found: WebsiteReading) -> list[str]:
    return [seen.person.full_name for seen in found.people]


def test_the_home_page_and_those_that_name_people_are_read(sites: Sites) -> None:
    sites.add("/", HOME)
    sites.add("/team", CARD)
    sites.add("/impressum", "<p>Geschäftsführer: Bob Byron</p><p>info@acme.de</p>")

    found = read(sites)

    places = {seen.person.full_name: (seen.person.email, seen.url) for seen in found.people}
    assert places == {
        "Ada Lovelace": ("ada@acme.de", "https://acme.de/team"),
        "Bob Byron": (None, "https://acme.de/impressum"),
    }
    assert found.role_addresses == (RoleAddress("info@acme.de", "https://acme.de/impressum"),)
    assert sites.paths == ["/robots.txt", "/", "/sitemap.xml", "/impressum", "/team"]
    assert (found.reason, found.requests) == (None, 5)


def test_a_request_names_the_product_and_the_contact(sites: Sites) -> None:
    sites.add("/", HOME)

    read(sites)

    assert {headers["User-Agent"] for headers in sites.headers} == {"contact-lookup/0.1.0 (+ops@example.com)"}


def test_no_more_pages_are_read_than_allowed(sites: Sites) -> None:
    sites.add("/", "".join(f"<a href='/team/{index}'>x</a>" for index in range(1_000)))
    sites.add("*", CARD)

    found = read(sites, max_pages=4)

    assert len([path for path in sites.paths if path.startswith("/team")]) == 3
    assert names(found) == ["Ada Lovelace"]


def test_rules_of_the_host_are_obeyed(sites: Sites) -> None:
    sites.add("/robots.txt", "User-agent: *\nDisallow: /team\n", content_type="text/plain")
    sites.add("/", HOME)
    sites.add("/team", CARD)

    found = read(sites)

    assert "/team" not in sites.paths
    assert [state.reason for state in found.pages if state.url.endswith("/team")] == ["robots_disallowed"]


@pytest.mark.parametrize(
    ("robots", "status", "reason"),
    [
        ("User-agent: contact-lookup\nDisallow: /\n", 200, "robots_disallowed"),
        ("", 503, "robots_rate_limited"),
        ("", 500, "robots_server_error"),
        ("", 429, "robots_rate_limited"),
    ],
)
def test_a_site_that_refuses_robots_is_not_read(sites: Sites, robots: str, status: int, reason: str) -> None:
    sites.add("/robots.txt", robots, status=status, content_type="text/plain")
    sites.add("/", CARD)

    found = read(sites)

    assert (found.reason, found.people, sites.paths) == (reason, (), ["/robots.txt"])


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_without_rules_a_site_may_be_read(sites: Sites, status: int) -> None:
    sites.add("/robots.txt", "", status=status)
    sites.add("/", CARD)

    found = read(sites)

    assert names(found) == ["Ada Lovelace"]


def test_a_delay_between_requests_is_kept_and_only_what_fits_is_read(sites: Sites) -> None:
    times: list[float] = []
    sites.add("/robots.txt", "User-agent: *\nCrawl-delay: 0.6\n", content_type="text/plain")
    sites.pages["/"] = lambda request: (times.append(time.monotonic()), request.page(HOME))[0]
    sites.pages["*"] = lambda request: (times.append(time.monotonic()), request.page(CARD))[0]

    read(sites, seconds=2.0)

    assert [later - before >= 0.6 for before, later in itertools.pairwise(times)] == [True] * (len(times) - 1)
    assert len(times) == 3


def test_of_a_site_that_asks_for_long_delays_one_page_is_read(sites: Sites) -> None:
    sites.add("/robots.txt", "User-agent: *\nCrawl-delay: 60\n", content_type="text/plain")
    sites.add("/", HOME + CARD)

    found = read(sites)

    assert (names(found), sites.paths) == (["Ada Lovelace"], ["/robots.txt", "/"])


def test_rules_are_read_once_a_day(sites: Sites) -> None:
    sites.add("/", CARD)
    reader = WebsiteReader("ops@example.com", gateway=sites.url, pause=0.0)

    for _ in range(2):
        reader.read("acme.de", SECONDS)

    assert sites.paths.count("/robots.txt") == 1


def test_pages_that_have_not_changed_are_not_sent_again(sites: Sites) -> None:
    def page(body: str) -> web_sites.Handler:
        def answer(request: Request) -> None:
            is_known = request.headers["If-None-Match"] == '"1"'
            request.page(b"" if is_known else body, status=304 if is_known else 200, etag='"1"')

        return answer

    sites.pages |= {"/": page(HOME), "/team": page(CARD)}
    first = read(sites)
    sites.requests.clear()

    second = read(sites, known=[state for state in first.pages if state.etag])

    assert sites.paths == ["/robots.txt", "/", "/team"]
    assert (second.people, [state.digest for state in second.pages]) == (
        (),
        [state.digest for state in first.pages if state.digest],
    )


def test_a_page_with_the_same_content_teaches_nothing_again(sites: Sites) -> None:
    sites.add("/", CARD)
    first = read(sites)

    second = read(sites, known=first.pages)

    assert (names(first), names(second)) == (["Ada Lovelace"], [])


def test_a_redirect_within_the_site_is_followed(sites: Sites) -> None:
    sites.pages["/"] = lambda request: (
        request.page("", status=301, location="https://www.acme.de/de/")
        if request.headers["Host"] == "acme.de"
        else request.page("")
    )
    sites.add("/de/", CARD)

    found = read(sites)

    assert [seen.url for seen in found.people] == ["https://www.acme.de/de/"]


@pytest.mark.parametrize(
    ("locations", "reason"),
    [
        (("https://acme.de/a", "https://other.example/"), "redirected_away"),
        (("http://127.0.0.1/",), "redirected_away"),
        (("https://[::1",), "redirected_away"),
        (("file:///etc/passwd",), "redirected_away"),
        (("",), "too_many_redirects"),
        (tuple(f"/{index}" for index in range(9)), "too_many_redirects"),
    ],
)
def test_a_redirect_to_another_owner_or_without_an_end_ends_the_reading(
    sites: Sites, locations: tuple[str, ...], reason: str
) -> None:
    remaining = iter(locations)
    sites.pages["*"] = lambda request: request.page("", status=302, location=next(remaining, "/loop"))
    sites.add("/robots.txt", "")

    found = read(sites)

    assert (found.reason, found.people) == (reason, ())


@pytest.mark.parametrize(
    ("status", "headers", "reason"),
    [
        (401, {}, "login_required"),
        (403, {}, "login_required"),
        (429, {"retry_after": "120"}, "rate_limited"),
        (503, {"retry_after": "120"}, "rate_limited"),
        (500, {}, "server_error"),
        (404, {}, "not_found"),
        (200, {"content_type": "image/png"}, "not_a_page"),
        (200, {"content_encoding": "br"}, "not_a_page"),
        (200, {"content_encoding": "gzip"}, "unreachable"),
        (200, {"x_robots_tag": "otherbot: noindex, contact-lookup: noai"}, "opted_out"),
        (200, {"x_robots_tag": "max-snippet: 3, noindex"}, "opted_out"),
        (200, {"tdm_reservation": "1"}, "opted_out"),
    ],
)
def test_a_site_that_does_not_want_to_be_read_is_left_alone(
    sites: Sites, status: int, headers: dict[str, str], reason: str
) -> None:
    sites.add("/", CARD, status=status, **headers)

    found = read(sites)

    assert (found.reason, found.people) == (reason, ())
    assert found.retry_after == (120.0 if headers.get("retry_after") else None)


def test_what_is_for_other_robots_does_not_count(sites: Sites) -> None:
    sites.add("/", CARD, x_robots_tag="otherbot: noindex")

    assert names(read(sites)) == ["Ada Lovelace"]


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(CARD.encode())),
        ("deflate", zlib.compress(CARD.encode())),
        ("deflate", zlib.compress(CARD.encode())[2:-4]),
        ("identity", CARD.encode()),
    ],
    ids=["gzip", "zlib", "deflate", "identity"],
)
def test_compressed_pages_are_read(sites: Sites, encoding: str, body: bytes) -> None:
    sites.add("/", body, content_encoding=encoding)

    assert names(read(sites)) == ["Ada Lovelace"]


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (gzip.compress(CARD.encode() + bytes(300_000_000)), {"content_encoding": "gzip"}),
        (CARD.encode() + b"x" * 10_000_000, {}),
        (CARD.encode() + b"\0" * 10_000_000, {}),
        (CARD.encode() + b"<div>" * 10_000, {}),
        ((CARD + "<a href='/x'>x</a>" * 1_000_000).encode(), {}),
    ],
    ids=["bomb", "line", "NUL", "nested", "links"],
)
def test_a_page_too_large_is_cut(sites: Sites, body: bytes, headers: dict[str, str]) -> None:
    sites.add("/", body, **headers)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    found = read(sites, seconds=8.0)

    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert names(found) == ["Ada Lovelace"]
    assert grown < MAX_MEGABYTES


def drip(request: Request) -> None:
    request.send_response(200)
    request.send_header("Content-Type", "text/html")
    request.end_headers()
    while not request.sites.over.wait(0.05):
        request.wfile.write(b"<p>")


def endless_headers(request: Request) -> None:
    request.send_response(200)
    while not request.sites.over.is_set():
        request.wfile.write(b"X-More: x\r\n" * 1_000)


def silent(request: Request) -> None:
    request.sites.over.wait(10)


@pytest.mark.parametrize(
    ("answer", "reason"), [(drip, "tarpit"), (silent, "tarpit"), (endless_headers, "unreachable")]
)
@pytest.mark.parametrize("path", ["/", "/robots.txt"])
def test_a_tarpit_ends_the_reading_in_time(
    sites: Sites, answer: web_sites.Handler, reason: str, path: str
) -> None:
    sites.add("/", CARD)
    sites.pages[path] = answer
    started = time.monotonic()

    found = read(sites, seconds=1.5)

    assert found.reason in {reason, f"robots_{reason}"}
    assert time.monotonic() - started < 2.5


def test_pages_that_are_missing_in_the_menu_are_found_in_the_sitemap(sites: Sites) -> None:
    index = "<sitemapindex><loc>https://acme.de/posts.xml</loc><loc>https://acme.de/pages.xml</loc></sitemapindex>"
    urls = "<urlset><url><loc><![CDATA[https://acme.de/team]]></loc></url><loc>https://x.example/team</loc></urlset>"
    sites.add("/robots.txt", "Sitemap: https://other.example/s.xml\nSitemap: https://acme.de/s.xml\n")
    sites.add("/", "")
    sites.add("/s.xml", index, content_type="application/xml")
    sites.add("/pages.xml", gzip.compress(urls.encode()), content_type="application/x-gzip")
    sites.add("/team", CARD)

    found = read(sites)

    assert names(found) == ["Ada Lovelace"]
    assert sites.paths == ["/robots.txt", "/", "/s.xml", "/pages.xml", "/team"]


@pytest.mark.parametrize(
    "home",
    [
        "<a href='/'>Acme</a><a href='/de/'>Deutsch</a><a href='/fr/'>Fran\u00e7ais</a>",
        "<meta http-equiv=Refresh content=\"0; url='/de/'\">",
        "<frameset><frame src=/de/></frameset>",
    ],
    ids=["choice", "refresh", "frames"],
)
def test_behind_a_home_page_without_a_menu_the_next_page_is_read(sites: Sites, home: str) -> None:
    sites.add("/", home)
    sites.add("/de/", "<a href='/de/team'>Team</a>")
    sites.add("/de/team", CARD)

    found = read(sites)

    assert names(found) == ["Ada Lovelace"]
    assert sites.paths == ["/robots.txt", "/", "/sitemap.xml", "/de/", "/de/team"]


def test_one_page_with_two_addresses_is_read_once(sites: Sites) -> None:
    sites.add("/", "<a href='/team'>Team</a><a href='/team.html'>Team</a><a href='/team/index.html'>Team</a>")
    sites.add("*", CARD)

    read(sites)

    assert [path for path in sites.paths if "team" in path] == ["/team"]


def test_the_headline_of_an_article_is_no_kind_of_page(sites: Sites) -> None:
    sites.add(
        "/",
        "<a href='/insights/legal-and-operational-implications-for-the-market'>Read</a><a href='/team'>T</a>",
    )
    sites.add("/team", CARD)

    read(sites)

    assert [path for path in sites.paths if "insights" in path] == []


@pytest.mark.parametrize(
    "sitemap",
    [
        b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
        + b"".join(b'<!ENTITY a%d "%s">' % (n, b"&a%d;" % (n - 1) * 10) for n in range(1, 20))
        + b"]><urlset><loc>&a19;</loc></urlset>",
        b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><loc>&a;</loc>',
        b"<loc>" * 200_000,
        gzip.compress(bytes(300_000_000)),
        b"\x1f\x8bno gzip",
    ],
    ids=["entities", "external", "open", "bomb", "broken"],
)
def test_a_hostile_sitemap_is_only_text(sites: Sites, sitemap: bytes) -> None:
    sites.add("/", CARD)
    sites.add("/sitemap.xml", sitemap, content_type="application/xml")

    assert names(read(sites)) == ["Ada Lovelace"]


def test_huge_rules_are_read_up_to_their_limit(sites: Sites) -> None:
    rules = "User-agent: *\nDisallow: /team\n" + "Disallow: /*a*b*c*d$\n" * 200_000
    sites.add("/robots.txt", rules, content_type="text/plain")
    sites.add("/", HOME + CARD)
    started = time.monotonic()

    found = read(sites, seconds=8.0)

    assert "/team" not in sites.paths
    assert names(found) == ["Ada Lovelace"]
    assert time.monotonic() - started < 8.0


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1"])
def test_a_host_with_an_internal_address_is_not_asked(
    sites: Sites, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def resolve(host: str, port: int, **_options: object) -> list[tuple[Any, ...]]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)

    found = WebsiteReader("ops@example.com", pause=0.0).read("acme.de", SECONDS)

    assert (found.reason, found.people, asked) == ("robots_not_public", (), ["acme.de"])


def test_the_other_host_is_asked_if_the_first_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def resolve(host: str, *_arguments: object, **_options: object) -> list[tuple[Any, ...]]:
        asked.append(host)
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", resolve)

    found = WebsiteReader("ops@example.com", pause=0.0).read("acme.de", SECONDS)

    assert (found.reason, asked) == ("no_such_host", ["acme.de", "www.acme.de"])


def test_a_host_is_read_by_one_at_a_time(sites: Sites) -> None:
    sites.add("/", CARD)
    reader = WebsiteReader("ops@example.com", gateway=sites.url, pause=0.0)

    with reader._locks.lock_host("acme.de", deadline=time.monotonic() + SECONDS):  # noqa: SLF001 -- another thread
        found = reader.read("acme.de", 2.1)

    assert (found.reason, sites.paths) == ("busy", [])


def test_a_state_without_validators_has_no_conditions(sites: Sites) -> None:
    sites.add("/", CARD)

    read(sites, known=[PageState(url="https://acme.de/")])

    assert not {"If-None-Match", "If-Modified-Since"} & set(sites.headers[-1])
