"""The people of a company on one of its pages, with what stands beside their names.

What a page says in a format for programs comes first: JSON-LD, microdata and microformats; then the text, by
its structure. A name and an address are a pair only if they stand in the same smallest element, no other name
or address competes there, and the address is written from the name. A wrong pair costs more than a missing
one.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field, replace
from urllib.parse import urldefrag, urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser

from app.domain.errors import InvalidValue, NotAProfileUrl
from app.domain.normal.emails import email_reasons
from app.domain.normal.names.name_keys import person_key
from app.domain.normal.names.names import PersonName
from app.domain.normal.phones.phones import assigned_phone
from app.domain.normal.places.countries import country_of
from app.domain.normal.profiles.profiles import normal_profile_url
from app.domain.normal.texts.text_folding import fold
from app.domain.normal.websites import normal_website
from workers.providers.website import (
    addresses,
    markup,
    page_kinds,
    page_sections,
    structured_people,
    written_names,
)
from workers.providers.website.names_on_page import (
    MAX_TITLE_LENGTH,
    NamedPerson,
    agrees,
    employer_in,
    has_left,
    is_given_name,
    is_label,
    is_of_strangers,
    is_title,
    is_written_out,
    may_be_title,
    name_of,
    named_after_label,
    people_in,
)
from workers.providers.website.page_lines import Line, PageLines, read_lines

MAX_LINKS = 2_000
MAX_FRAMES = 4
MAX_PEOPLE = 200
MAX_CARD_LINES = 40
"""Lines of a card; a larger element with one name is an article about somebody."""
MAX_RUN_LINES = 8
"""Lines after a name that are read where people have no element of their own."""
MAX_TITLE_DISTANCE = 3
MAX_PLACES = 3
"""Places of one address that are looked at."""

_PHONE = re.compile(r"\+?\(?[0-9][0-9 ().\u00a0\u2011/-]{6,24}[0-9]")
_FAX = re.compile(r"\b(?:fax|telefax|telefaks|faks|f)\b\.?\s*:?", re.IGNORECASE)
_VALUE = re.compile(r"\s(?:[+(]?\d[\d ().\u00a0/-]{5}|\S+@)")
_DASHES, _QUOTES = (
    ("-", "\u2013", "\u2014", "\u2015", "~"),
    ('"', "\u201c", "\u201d", "\u00bb", "\u00ab", "\u2019"),
)
_NO_INDEX = frozenset({"noindex", "none", "noai"})
_BOTS = frozenset({"robots", "contact-lookup"})
_REGION = re.compile(r"[a-z]{2}[-_]([A-Za-z]{2})")
_ONE_COUNTRY = {
    "cs": "CZ", "da": "DK", "fi": "FI", "hu": "HU", "it": "IT", "ja": "JP", "nb": "NO", "no": "NO",
    "pl": "PL", "sk": "SK", "sv": "SE", "tr": "TR",
}  # fmt: skip
"""Countries of languages that are spoken in one country, nearly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonOnPage:
    """A person of the company on a page; the address is at its own domain, the number in E.164."""

    full_name: str
    title: str | None = None
    email: str | None = None
    phone: str | None = None
    linkedin_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageReading:
    """What a page says: people, addresses of roles, links within the site, and whether it opts out.

    A page opts out by `noindex`, `noai` or `tdm-reservation` in a `meta` element; it has no people then.
    """

    people: tuple[PersonOnPage, ...] = ()
    role_addresses: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    is_noindex: bool = False


def read_page(
    html: bytes, *, url: str, domain: str, charset: str | None = None, country: str | None = None
) -> PageReading:
    """Read one page of a company; any bytes are a page.

    `domain` is the company's registrable domain, `charset` the encoding in the header, `country` the ISO
    country of national phone numbers, by default of the domain or of the page's language.
    """
    page = markup.document(html, charset)
    base = _base(page, url, domain)
    robots = _robots(page)
    links = () if robots & {"nofollow", "none"} else _links(page, base, domain)
    if robots & _NO_INDEX or _is_reserved(page):
        return PageReading(links=links, is_noindex=True)
    lines = read_lines(page)
    page_sections.mark(lines)
    reader = _PageReader(lines, domain, country or country_of(domain) or _country(page))
    may_have_people = page_kinds.is_about_people(url, _headings(page, lines))
    people = [*structured_people.read(page, domain), *reader.people(may_have_people=may_have_people)]
    return PageReading(
        people=tuple(_merged(people, reader.region)),
        role_addresses=tuple(reader.role_addresses()),
        links=links,
    )


@dataclass(slots=True)
class _Card:
    """The lines that belong to one name, and whether they have an element of their own."""

    name_line: int
    person: NamedPerson
    lines: range
    is_element: bool


@dataclass(slots=True)
class _PageReader:
    """Finds the people in the lines of a page."""

    lines: PageLines
    domain: str
    region: str | None
    named: dict[int, list[NamedPerson]] = field(default_factory=dict)
    names_in: defaultdict[int, set[str]] = field(default_factory=lambda: defaultdict(set))

    def people(self, *, may_have_people: bool) -> list[structured_people.Candidate]:
        """Return the people; those without an address only from pages about people."""
        self._find_names()
        cards = [self._card(index, person) for index, found in self.named.items() for person in found]
        candidates = [self._candidate(card) for card in cards[:MAX_PEOPLE]]
        names = [card.person.name for card in cards[:MAX_PEOPLE]]
        owned = {(found.email, person_key(found.name.full)) for found in candidates if found and found.email}
        taken = Counter(email for email, _ in owned)
        owns = {key: email for email, key in owned}
        phones = Counter(found.phone for found in candidates if found and found.phone)
        checked: list[structured_people.Candidate] = []
        for candidate in filter(None, candidates):
            address = candidate.email
            rivals = [name for name in names if owns.get(person_key(name.full), address) == address]
            is_own = taken[address or ""] == 1 and not _is_of_another(candidate, rivals)
            email = address if is_own else None
            phone = candidate.phone if candidate.phone and phones[candidate.phone] == 1 else None
            if email or (may_have_people and (candidate.title or candidate.is_labelled)):
                checked.append(replace(candidate, email=email, phone=phone))
        paired = {candidate.email for candidate in checked if candidate.email}
        return [*checked, *self._owners(paired)]

    def _owners(self, paired: Container[str]) -> Iterator[structured_people.Candidate]:
        """Yield the people from whose names the other addresses are written out."""
        places: defaultdict[str, list[int]] = defaultdict(list)
        for index, line in enumerate(self.lines.lines):
            if not self.lines.is_aside(line):
                for address in self._personal(line):
                    places[address].append(index)
        others = {index for found in places.values() for index in found}
        for address in [address for address in places if address not in paired][:MAX_PEOPLE]:
            near = places[address][:MAX_PLACES]
            owners = (
                written_names.owner(self.lines, index, address, others, is_alone=len(places) == 1)
                for index in near
            )
            if person := next(filter(None, owners), None):
                yield structured_people.Candidate(
                    name=person.name, title=person.title, email=address, is_labelled=True
                )

    def role_addresses(self) -> list[str]:
        """Return the addresses of roles, such as info@, at the company's domain."""
        found = (address for line in self.lines.lines for address in self._own(line))
        return [address for address in dict.fromkeys(found) if "role" in email_reasons(address)]

    def _find_names(self) -> None:
        """Find the lines with names, and count the names in each element."""
        label, label_line = "", -2
        for index, line in enumerate(self.lines.lines):
            if self.lines.is_aside(line):
                continue
            text = line.text
            found = named_after_label(text, label) if label_line == index - 1 else []
            found = found or _named(line) or self._named_in_two(index)
            is_own = (
                text.endswith((":", "\uff1a")) or index - 1 not in self.named
            )  # else the title of that name
            if is_own and is_label(text.rstrip(": \uff1a")):
                label, label_line = text.rstrip(": \uff1a"), index
            if self._is_quoted(index):
                continue
            if not found or self._is_of_strangers(index, 1 if found[0].is_labelled else 2):
                continue
            self.named[index] = found
            for container in self.lines.ancestors(line.container):
                self.names_in[container].update(person_key(person.name.full) for person in found)

    def _named_in_two(self, index: int) -> list[NamedPerson]:
        """Return the person whose given and family name are two lines of one heading."""
        above, line = self.lines.lines[index - 1] if index else None, self.lines.lines[index]
        if above is None or not line.is_heading or above.container != line.container:
            return []
        if " " in above.text or " " in line.text:
            return []
        name = name_of(f"{above.text} {line.text}")
        return [NamedPerson(name)] if name else []

    def _is_quoted(self, index: int) -> bool:
        """Return whether a line names who said what the line before it quotes."""
        above = self.lines.lines[index - 1].text if index else ""
        return self.lines.lines[index].text.startswith(_DASHES) and above.endswith(_QUOTES)

    def _is_of_strangers(self, index: int, before: int) -> bool:
        """Return whether a line, or one of some before it, is about people who are not the company's."""
        lines = self.lines.lines[max(index - before, 0) : index + 1]
        return any(is_of_strangers(line.text) for line in lines)

    def _card(self, index: int, person: NamedPerson) -> _Card:
        """Return the largest element around a name without another, else the lines up to the next name."""
        line = self.lines.lines[index]
        card = None
        containers = self.lines.containers
        for container in self.lines.ancestors(line.container):
            if len(self.names_in[container]) > 1 or containers[container].is_bound:
                break
            card = container
        if card is not None:
            found = self._within(index, card)
            if len(found) <= MAX_CARD_LINES and (len(found) > 1 or self._holds_values(line)):
                return _Card(index, person, found, is_element=True)
        outer = containers[card].parent if card is not None else line.container
        return _Card(index, person, self._run(index, outer), is_element=False)

    def _within(self, index: int, container: int) -> range:
        """Return the lines around a line that are in the container."""
        lines = self.lines.lines

        def is_in(position: int) -> bool:
            line = lines[position]
            return not line.is_aside and container in self.lines.ancestors(line.container)

        first = last = index
        while first > 0 and index - first <= MAX_CARD_LINES and is_in(first - 1):
            first -= 1
        while last + 1 < len(lines) and last - index <= MAX_CARD_LINES and is_in(last + 1):
            last += 1
        return range(first, last + 1)

    def _run(self, index: int, container: int) -> range:
        """Return the lines from a name to the next one, or to the end of the element around it."""
        last = index
        while last + 1 < len(self.lines.lines) and last - index < MAX_RUN_LINES:
            line = self.lines.lines[last + 1]
            is_outside = line.is_aside or container not in self.lines.ancestors(line.container)
            if last + 1 in self.named or is_outside:
                break
            last += 1
        return range(index, last + 1)

    def _holds_values(self, line: Line) -> bool:
        return bool(self._own(line))

    def _candidate(self, card: _Card) -> structured_people.Candidate | None:
        lines = [self.lines.lines[index] for index in card.lines]
        person = card.person
        personal = {address for line in lines for address in self._personal(line)}
        agreeing = [address for address in personal if agrees(address, person.name)]
        email = agreeing[0] if len(agreeing) == 1 else None
        title = person.title or self._title(card)
        if email and not title and not person.is_labelled:
            title = self._plain_title(card)
            is_listed = "," in self.lines.lines[card.name_line].text
            if not is_written_out(email, person.name) and (
                not title or is_listed or not is_given_name(email, person.name)
            ):
                return None
        if not (title or person.is_labelled or email):
            return None
        if title and (self._is_elsewhere(title) or (has_left(title) and not email)):
            return None
        is_alone = len(self.named[card.name_line]) == 1
        numbers = self._numbers(lines) if is_alone else set()
        profiles = {profile for line in lines for profile in _profiles(line)} if is_alone else set()
        return structured_people.Candidate(
            name=person.name,
            title=title,
            email=email,
            phone=numbers.pop() if len(numbers) == 1 else None,
            linkedin_url=profiles.pop() if len(profiles) == 1 else None,
            is_labelled=person.is_labelled,
        )

    def _title(self, card: _Card) -> str | None:
        """Return the title in the lines after a name, else in the one before."""
        after = [index for index in range(card.name_line + 1, card.lines.stop) if self._has_words(index)]
        before = [card.name_line - 1] if card.is_element and card.name_line > card.lines.start else []
        own = [part for part in self.lines.lines[card.name_line].parts if not people_in(part)]
        near = [*after[:MAX_TITLE_DISTANCE], *before]
        texts = [*own, *(_without_values(self.lines.lines[index].text) for index in near)]
        return next(
            (text.strip(" ,|\u2013-") for text in texts if is_title(text) and not people_in(text)), None
        )

    def _has_words(self, index: int) -> bool:
        """Return whether a line says something beside numbers, signs and addresses."""
        text = _without_values(f" {self.lines.lines[index].text}")
        return any(map(str.isalpha, text))

    def _plain_title(self, card: _Card) -> str | None:
        """Return the line below a name, or else above it, if it may be a title that is in no list."""
        below, above = card.name_line + 1, card.name_line - 1
        near = [index for index in (below, above) if index in card.lines]
        texts = (self.lines.lines[index].text for index in near)
        return next((text.strip(" ,|\u2013-") for text in texts if may_be_title(text)), None)

    def _is_elsewhere(self, title: str) -> bool:
        """Return whether a title names another employer than the site's company."""
        employer = employer_in(title)
        label = self.domain.partition(".")[0].replace("-", "")
        return employer is not None and label not in fold(employer).replace(" ", "")

    def _own(self, line: Line) -> list[str]:
        """Return the addresses at the company's domain; what is shown counts if a link says another one."""
        links = [href for href in line.hrefs if href[:7].lower() == "mailto:"]
        shown = addresses.in_text(line.spaced) or addresses.in_text(line.text)
        found = list(shown)
        if len(shown) < max(len(links), 1):
            found += [address for href in line.hrefs for address in addresses.in_link(href)]
        shielded = (addresses.in_text(addresses.unshielded(code)) for code in line.shielded)
        found += [address for one in shielded for address in one]
        return [address for address in dict.fromkeys(found) if addresses.is_at(address, self.domain)]

    def _personal(self, line: Line) -> list[str]:
        """Return the addresses that may be a person's: of no role, and not named after the company."""
        label = self.domain.partition(".")[0].replace("-", "")
        found = [address for address in self._own(line) if "role" not in email_reasons(address)]
        return [address for address in found if fold(address.partition("@")[0]).replace(" ", "") != label]

    def _numbers(self, lines: Iterable[Line]) -> set[str]:
        found = set()
        for line in lines:
            text = line.text
            if _FAX.search(text) and not any(href.lower().startswith("tel:") for href in line.hrefs):
                continue
            dialled = [href[4:] for href in line.hrefs if href[:4].lower() == "tel:"]
            for number in dialled or _PHONE.findall(text):
                if phone := assigned_phone(number, self.region):
                    found.add(phone.e164)
        return found


def _named(line: Line) -> list[NamedPerson]:
    """Return the people whom a line names, as a whole or in its parts."""
    if found := people_in(line.apart):
        return found
    parts = line.parts
    if len(parts) < 2 or len(line.text) > 2 * MAX_TITLE_LENGTH:  # noqa: PLR2004 -- it has one part
        return []
    named = [person for part in parts for person in people_in(part)]
    return named if len(named) == 1 else []


def _without_values(text: str) -> str:
    """Return a text up to a number or an address: Director. (580) 774-0100 ada@acme.com."""
    value = _VALUE.search(text)
    return text[: value.start()].strip(" .,|\u2013-") if value else text


def _is_of_another(candidate: structured_people.Candidate, names: Iterable[PersonName]) -> bool:
    """Return whether the address is written from another name of the page rather than from the own one."""
    email, own = candidate.email, person_key(candidate.name.full)
    rivals = [name for name in names if person_key(name.full) != own and agrees(str(email), name)]
    return any(name.last != candidate.name.last for name in rivals) and not _is_full(
        str(email), candidate.name
    )


def _is_full(email: str, name: PersonName) -> bool:
    """Return whether an address has the family name."""
    local = fold(email.rpartition("@")[0]).replace(" ", "")
    return fold(name.last).replace(" ", "") in local


def _profiles(line: Line) -> list[str]:
    found = []
    for href in line.hrefs:
        if "linkedin.com/in/" in href.lower():
            try:
                found.append(normal_profile_url(href))
            except (InvalidValue, NotAProfileUrl):
                continue
    return found


def _merged(candidates: Iterable[structured_people.Candidate], region: str | None) -> Iterable[PersonOnPage]:
    """Return one person per name, with the first of each value; one address is one person's."""
    people: dict[str, PersonOnPage] = {}
    for found in candidates:
        key = person_key(found.name.full)
        person = people.get(key) or PersonOnPage(full_name=found.name.full)
        number = assigned_phone(found.phone, region) if found.phone else None
        people[key] = PersonOnPage(
            full_name=person.full_name,
            title=person.title or found.title,
            email=person.email or found.email,
            phone=person.phone or (number.e164 if number else None),
            linkedin_url=person.linkedin_url or found.linkedin_url,
        )
    shared = Counter(person.email for person in people.values() if person.email)
    return [
        replace(person, email=None) if person.email and shared[person.email] > 1 else person
        for person in people.values()
    ]


def _robots(page: LexborHTMLParser) -> frozenset[str]:
    """Return the directives for robots, and for this one, in `meta` elements."""
    found: set[str] = set()
    for meta in page.css("meta[name][content]"):
        if (meta.attributes.get("name") or "").strip().lower() in _BOTS:
            found.update(re.split(r"[\s,]+", (meta.attributes.get("content") or "").lower()))
    return frozenset(found)


def _is_reserved(page: LexborHTMLParser) -> bool:
    """Return whether the page reserves its rights on text and data mining (TDMRep, W3C, 2024)."""
    return any(
        (meta.attributes.get("name") or "").strip().lower() == "tdm-reservation"
        and (meta.attributes.get("content") or "").strip() == "1"
        for meta in page.css("meta[name][content]")
    )


def _country(page: LexborHTMLParser) -> str | None:
    root = page.css_first("html")
    language = ((root.attributes.get("lang") if root else None) or "").strip()
    if found := _REGION.fullmatch(language):
        return found[1].upper()
    return _ONE_COUNTRY.get(language.lower())


def _headings(page: LexborHTMLParser, lines: PageLines) -> list[str]:
    title = page.css_first("title")
    headings = [line.text for line in lines.lines if line.is_heading]
    return [(title.text() if title else "")[:MAX_TITLE_LENGTH], *headings[:3]]


def _base(page: LexborHTMLParser, url: str, domain: str) -> str:
    """Return the address that relative links refer to: the page's, or its `base` within the same site."""
    base = page.css_first("base[href]")
    absolute = _absolute(url, (base.attributes.get("href") or "") if base else "", domain)
    return absolute or url


def _links(page: LexborHTMLParser, base: str, domain: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for href in _moved_to(page):
        if absolute := _absolute(base, href, domain):
            found[absolute] = None
    for link in page.css("a[href]"):
        if "nofollow" in (link.attributes.get("rel") or "").lower():
            continue
        if absolute := _absolute(base, link.attributes.get("href") or "", domain):
            found[absolute] = None
        if len(found) >= MAX_LINKS:
            break
    return tuple(found)


def _moved_to(page: LexborHTMLParser) -> Iterator[str]:
    """Yield the addresses that a page only stands for: of a refresh, and of frames."""
    for meta in page.css('meta[http-equiv="refresh" i][content]')[:1]:
        yield (meta.attributes.get("content") or "").partition("=")[2].strip(" '\"")
    for frame in page.css("frame[src]")[:MAX_FRAMES]:
        yield frame.attributes.get("src") or ""


def _absolute(base: str, href: str, domain: str) -> str | None:
    """Return the address of a link to a page of the site without its fragment; None for any other link."""
    try:
        url = urldefrag(urljoin(base, href.strip())).url
        parts = urlsplit(url)
        is_own = parts.scheme in {"http", "https"} and normal_website(url) == domain
    except (ValueError, InvalidValue):
        return None
    return url if is_own and len(url) <= MAX_LINKS else None
