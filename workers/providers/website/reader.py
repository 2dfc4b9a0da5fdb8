"""Reads the website of a company: its home page, and a handful of pages that name people."""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from types import MappingProxyType
from urllib.parse import urlsplit

from app.domain.errors import InvalidValue
from app.domain.normal.names.name_keys import person_key
from app.domain.normal.webhook_addresses import Network
from app.domain.normal.websites import normal_website
from app.domain.providers.website_pages import PageState, RoleAddress
from workers.mail.host_locks import HostBusy, HostLocks
from workers.providers.website import page_choice, robots
from workers.providers.website.fetching import MAX_URL_LENGTH, Fetcher, FetchError
from workers.providers.website.page_kinds import KINDS, names_nobody
from workers.providers.website.page_people import PageReading, PersonOnPage, read_page
from workers.providers.website.robots import RobotsRules

MAX_PAGES = 8
"""Pages of a site that are read, its home page included; `robots.txt` and sitemaps come on top of it."""
MAX_SITEMAPS = 2
PAUSE_SECONDS = 0.25
"""The time between two requests to a host that asks for none."""
MIN_REQUEST_SECONDS = 0.5
"""Time that a request needs; none is sent with less of it left."""
ROBOTS_SECONDS = 86_400.0
"""RFC 9309, 2.4: the rules are used for a day."""
MAX_HOSTS = 1_000

MAX_VALIDATOR_LENGTH = 300
_OF_HOST = frozenset({"no_such_host", "unreachable", "not_found"})
"""Failures of a host that may have another name."""
_ENDS_READING = frozenset({"login_required", "rate_limited", "tarpit", "server_error"})
"""Failures of one page after which the site is left alone."""


@dataclass(frozen=True, slots=True)
class PersonOnSite:
    """A person and the address of the page that names the person."""

    person: PersonOnPage
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WebsiteReading:
    """What a site says: people, addresses of roles, the state of its pages, and why nothing was read, if so.

    `retry_after` is what the site asks to wait, in seconds; `requests` is the number of requests.
    """

    people: tuple[PersonOnSite, ...] = ()
    role_addresses: tuple[RoleAddress, ...] = ()
    pages: tuple[PageState, ...] = ()
    reason: str | None = None
    retry_after: float | None = None
    requests: int = 0

    @property
    def kept_pages(self) -> tuple[PageState, ...]:
        """Return the pages whose addresses name nobody, so that they can be kept."""
        return tuple(page for page in self.pages if names_nobody(page.url))

    @property
    def kept_role_addresses(self) -> tuple[RoleAddress, ...]:
        """Return the addresses of roles on the pages that can be kept."""
        return tuple(one for one in self.role_addresses if names_nobody(one.url))


@dataclass(slots=True)
class _Run:
    """The state of one reading."""

    fetcher: Fetcher
    known: Mapping[str, PageState]
    delays: dict[str, float] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)
    people: dict[str, PersonOnSite] = field(default_factory=dict)
    role_addresses: dict[RoleAddress, None] = field(default_factory=dict)
    pages: list[PageState] = field(default_factory=list)
    requests: int = 0
    resume_at: float = 0.0
    is_over: bool = False
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class _ReadPage:
    url: str
    links: tuple[str, ...] = ()
    is_unchanged: bool = False


class WebsiteReader:
    """Reads sites; one at a time per host, with the pauses that the host asks for.

    `contact` is named to the sites' owners. `gateway` and `networks` are those of `Fetcher`.
    """

    def __init__(
        self,
        contact: str,
        *,
        gateway: str = "",
        networks: tuple[Network, ...] = (),
        max_pages: int = MAX_PAGES,
        pause: float = PAUSE_SECONDS,
    ) -> None:
        self._contact = contact
        self._gateway = gateway
        self._networks = networks
        self._max_pages = max_pages
        self._pause = pause
        self._locks = HostLocks(pause)
        self._rules: OrderedDict[str, tuple[float, RobotsRules]] = OrderedDict()
        self._mutex = Lock()

    def read(
        self, domain: str, seconds: float, known: Mapping[str, PageState] = MappingProxyType({})
    ) -> WebsiteReading:
        """Read the site of a registrable domain within this many seconds; what does not fit is left out.

        `known` are the pages of an earlier reading by their addresses: one that has not changed is not read.
        """
        deadline = time.monotonic() + seconds
        fetcher = Fetcher(domain, self._contact, deadline, self._networks, self._gateway)
        run = _Run(fetcher, known)
        try:
            with self._locks.lock_host(domain, deadline=deadline):
                reason = self._read(run, domain)
        except HostBusy as busy:
            return WebsiteReading(reason="busy", retry_after=busy.after)
        return WebsiteReading(
            people=tuple(run.people.values()),
            role_addresses=tuple(run.role_addresses),
            pages=tuple(run.pages),
            reason=reason,
            retry_after=run.retry_after,
            requests=run.requests,
        )

    def _read(self, run: _Run, domain: str) -> str | None:
        """Read the pages; return why there was nothing to read."""
        home = self._home(run, domain)
        if home is None:
            return _first_reason(run.pages)
        read = {state.url for state in run.pages}
        if home.is_unchanged:
            urls = [url for url in run.known if url not in read][: self._max_pages - 1]
        else:
            links = list(home.links)
            if page_choice.missing_kinds(links):
                links += self._in_sitemap(run, home)
            links += self._behind_entrance(run, links)
            read = {state.url for state in run.pages}
            urls = page_choice.choose(links, at_most=self._max_pages - len(run.pages), read=read)
        for url in urls:
            if run.is_over or not self._wait(run):
                break
            self._page(run, url)
        return None if run.people or run.role_addresses else _first_reason(run.pages)

    def _home(self, run: _Run, domain: str) -> _ReadPage | None:
        """Read the home page, of the domain or of its `www.` host."""
        for origin in (f"https://{domain}", f"https://www.{domain}"):
            if not self._wait(run):
                return None
            page = self._page(run, f"{origin}/")
            if page is not None or run.pages[-1].reason not in _OF_HOST:
                return page
        return None

    def _page(self, run: _Run, url: str) -> _ReadPage | None:
        """Read one page into the run; return None if it was not read."""
        known = run.known.get(url)
        try:
            page = run.fetcher.fetch(url, headers=_conditions(known), allows=lambda at: self._allows(run, at))
            run.requests += 1
        except FetchError as error:
            run.requests += error.reason != "robots_disallowed"
            run.is_over = error.reason in _ENDS_READING
            run.retry_after = error.retry_after or run.retry_after
            run.pages.append(PageState(url=url, reason=run.refusals.get(_origin(url), error.reason)))
            return None
        finally:
            run.resume_at = time.monotonic() + max(self._pause, run.delays.get(_origin(url), 0.0))
        if page.is_unchanged and known is not None:
            run.pages.append(known)
            return _ReadPage(url, is_unchanged=True)
        if robots.is_opted_out(page.headers):
            run.pages.append(PageState(url=url, reason="opted_out"))
            return _ReadPage(page.url)
        digest = hashlib.sha256(page.body).hexdigest()
        is_unchanged = known is not None and known.digest == digest
        reading = read_page(page.body, url=page.url, domain=run.fetcher.domain, charset=page.charset)
        places = (RoleAddress(email, url) for email in reading.role_addresses)
        run.role_addresses.update(dict.fromkeys(places))
        if not is_unchanged:
            _collect(run, reading, page.url)
        run.pages.append(
            PageState(
                url=url,
                etag=page.headers.get("etag", "")[:MAX_VALIDATOR_LENGTH] or None,
                last_modified=page.headers.get("last-modified", "")[:MAX_VALIDATOR_LENGTH] or None,
                digest=digest,
                reason="opted_out" if reading.is_noindex else None,
            )
        )
        return _ReadPage(page.url, reading.links)

    def _behind_entrance(self, run: _Run, links: Sequence[str]) -> tuple[str, ...]:
        """Return the links of the page behind a home page from which no page of a kind is linked."""
        if len(page_choice.missing_kinds(links)) < len(KINDS):
            return ()
        entrance = page_choice.entrance(links, read=[state.url for state in run.pages])
        if entrance is None or run.is_over or not self._wait(run):
            return ()
        page = self._page(run, entrance)
        return page.links if page else ()

    def _in_sitemap(self, run: _Run, home: _ReadPage) -> list[str]:
        """Return the addresses in the sitemaps that `robots.txt` names, or in the usual place."""
        origin = _origin(home.url)
        named = [*self._rules_of(run, origin).sitemaps, f"{origin}/sitemap.xml"]
        waiting = [url for url in named if _is_at(url, run.fetcher.domain)]
        for _ in range(MAX_SITEMAPS):
            if run.is_over or not waiting or not self._wait(run):
                break
            url = waiting.pop(0)
            try:
                run.requests += 1
                sitemap = run.fetcher.fetch(url, allows=lambda at: self._allows(run, at))
            except FetchError as error:
                run.is_over = error.reason in _ENDS_READING
                continue
            finally:
                run.resume_at = time.monotonic() + max(self._pause, run.delays.get(origin, 0.0))
            found, is_index = page_choice.locations(sitemap.body)
            found = [url for url in found if _is_at(url, run.fetcher.domain)]
            if not is_index:
                return found
            waiting = found
        return []

    def _allows(self, run: _Run, url: str) -> bool:
        """Return whether the rules of the address's host allow to read it, and its delay fits in the time."""
        if url.endswith("/robots.txt"):
            return True
        origin = _origin(url)
        rules = self._rules_of(run, origin)
        run.delays[origin] = rules.crawl_delay
        if rules.refusal:
            run.refusals[origin] = rules.refusal if rules.refusal in _OF_HOST else f"robots_{rules.refusal}"
        return rules.allows(url)

    def _rules_of(self, run: _Run, origin: str) -> RobotsRules:
        """Return the rules of a host, from this day's readings or from the host."""
        now = time.monotonic()
        with self._mutex:
            loaded_at, rules = self._rules.get(origin, (0.0, None))
        if rules is not None and now - loaded_at < ROBOTS_SECONDS:
            return rules
        run.requests += 1
        rules = robots.load(run.fetcher, origin)
        if rules.refusal:
            return rules
        with self._mutex:
            self._rules[origin] = (now, rules)
            while len(self._rules) > MAX_HOSTS:
                self._rules.popitem(last=False)
        run.resume_at = time.monotonic() + self._pause  # the delay is between pages
        return rules if self._wait(run) else RobotsRules(refusal="tarpit")

    def _wait(self, run: _Run) -> bool:
        """Wait until the host may be asked again; return whether there is time left for a request."""
        pause = max(run.resume_at - time.monotonic(), 0.0)
        if time.monotonic() + pause + MIN_REQUEST_SECONDS > run.fetcher.deadline:
            return False
        time.sleep(pause)
        return True


def _collect(run: _Run, reading: PageReading, url: str) -> None:
    """Add the people of a page; the first page that has a value of a person counts."""
    for person in reading.people:
        key = person_key(person.full_name)
        before = run.people.get(key)
        if before is None:
            run.people[key] = PersonOnSite(person, url)
        else:
            place = before.url if before.person.email else url
            run.people[key] = PersonOnSite(_merged(before.person, person), place)


def _merged(one: PersonOnPage, other: PersonOnPage) -> PersonOnPage:
    return replace(
        one,
        title=one.title or other.title,
        email=one.email or other.email,
        phone=one.phone or other.phone,
        linkedin_url=one.linkedin_url or other.linkedin_url,
    )


def _conditions(known: PageState | None) -> dict[str, str]:
    """Return the headers by which a server sends a page only if it has changed (RFC 9110, 13.1)."""
    if known is None:
        return {}
    headers = {"If-None-Match": known.etag or "", "If-Modified-Since": known.last_modified or ""}
    return {name: value for name, value in headers.items() if value}


def _first_reason(pages: Iterable[PageState]) -> str | None:
    return next((page.reason for page in pages if page.reason), None)


def _origin(url: str) -> str:
    return f"https://{urlsplit(url).netloc.lower()}"


def _is_at(url: str, domain: str) -> bool:
    try:
        return normal_website(url) == domain and len(url) <= MAX_URL_LENGTH
    except InvalidValue:
        return False
