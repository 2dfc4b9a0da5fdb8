"""Which texts on a page are names of people, and which are titles at a company."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache

from app.domain.email_patterns.patterns import form_of
from app.domain.errors import InvalidValue
from app.domain.normal.companies.legal_forms import is_form
from app.domain.normal.emails import mailbox_name
from app.domain.normal.names.latin_names import latin_name, script_of
from app.domain.normal.names.name_keys import name_key, spellings
from app.domain.normal.names.name_lexicon import is_initials
from app.domain.normal.names.names import PersonName, parse_name
from app.domain.normal.names.nicknames import given_names
from app.domain.normal.texts.text_folding import fold
from app.domain.normal.texts.wordlists import entries, words

MAX_NAME_LENGTH = 60
MAX_TITLE_LENGTH = 120
MAX_TITLE_WORDS = 14
MAX_PLAIN_TITLE = 70
MAX_PLAIN_WORDS = 8
MAX_PEOPLE = 8
"""People of one label."""
MAX_NAME_WORDS = 5
LEAST = 3
"""Letters of a name that are told apart in an address."""


def _lists(file: str) -> dict[str, frozenset[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for head, items in entries(file):
        found[head].update(map(fold, items))
    return {head: frozenset(items) for head, items in found.items()}


_PAGE = _lists("websites/page_words.txt")
_TITLES = _lists("websites/titles.txt")
_NO_NAMES = words("websites/no_names.txt")
PARTICLES = words("names/particles.txt")
_HAN_SURNAMES = words("names/han_surnames.txt")
_ENDINGS = tuple(sorted(_TITLES["ending"]))
_LABELS = _PAGE["label"]
_KINDS = frozenset().union(*(items for head, items in _PAGE.items() if head.startswith("kind ")))
_STRANGERS = re.compile(
    rf"\b(?:{'|'.join(sorted(map(re.escape, _PAGE['stranger']), key=len, reverse=True))})\b"
)
_SECTIONS = re.compile(
    rf"\b(?:{'|'.join(sorted(map(re.escape, _PAGE['section with']), key=len, reverse=True))})\b"
)
_WORD = re.compile(r"[^\W\d_][^\W\d_'\u2019.-]*(?:[.'\u2019-]+[^\W\d_]+)*\.?")
_KANJI, _KANA = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff", "\u3041-\u30ff"
_HAN = re.compile(f"[{_KANJI}]{{1,3}}[ \u3000]?[{_KANJI}{_KANA}]{{1,4}}|[\uac00-\ud7a3]{{2,4}}")
_ACRONYM = re.compile(r"[BCDFGHJKLMNPQRSTVWXZ]{3,}")
_ABBREVIATED = re.compile(
    r"\b(kfm|techn|stv|stellv|dipl|sen|sr|jr|asst|resp|adm|adj|ing|prof|dr)\.(?=\s)", re.IGNORECASE
)
"""Words of titles whose point ends no sentence."""
_NUMBER = re.compile(r"\d(?!\.\s)")
_SENTENCE = re.compile(r"(?<!\b\d)\.\s+\S|[!?;]")
_BETWEEN = re.compile(
    r"\s+[\u2013\u2014|\u2022\u00b7:/-]+\s+|\s*[:|\u2022]\s+|,\s+|\s*[(\[]|[)\]]\s*|\uff1a|\u3000"
)
_PEOPLE = re.compile(r",\s+|\s+(?:und|and|et|e|y|i|och|og|ja|a|en|&|\+|/)\s+|\s*[;/]\s*|、|・")
_EMPLOYER = re.compile(r"\s(?:@|at|bei|chez)\s+([^\s,].{1,60})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NamedPerson:
    """A name on a page, and the title that stands in the same line.

    `is_labelled` holds after a label that says what the person does for the company, also without a title.
    """

    name: PersonName
    title: str | None = None
    is_labelled: bool = False


@lru_cache(maxsize=4096)
def name_of(text: str) -> PersonName | None:
    """Return the name of a person that the text is; None for other texts.

    Each word begins with a capital letter, and none is a word of headings, titles or companies. A name has a
    given and a family name.
    """
    text = text.strip(" ,;:-\u2013|*")
    if (
        not text
        or len(text) > MAX_NAME_LENGTH
        or any(sign in text for sign in "@/<>{}=#!?\u2026\u201c\u201e")
    ):
        return None
    if any(map(str.isdigit, text)):
        return None
    try:
        name = parse_name(text)
    except InvalidValue:
        return None
    return name if name.first and name.last and _is_name(name) else None


def _is_name(name: PersonName) -> bool:
    parts = name.full.replace("(", " ").replace(")", " ").replace('"', " ").split()
    if not 1 < len(parts) <= MAX_NAME_WORDS or is_initials(name.last):
        return False
    for part in parts:
        if not _WORD.fullmatch(part.strip(",")):
            return False
        key = fold(part)
        if key in PARTICLES:
            continue
        if _ACRONYM.fullmatch(part):
            return False
        if not part[0].isupper() or key in _NO_NAMES or not _NO_NAMES.isdisjoint(key.split()):
            return False
        is_family = part == parts[-1] and key in _TITLES["surname"]
        if key in _TITLES["word"] and not is_family:
            return False
    return parts[0][0].isupper() and not is_form(fold(parts[-1]))


def han_name_of(text: str) -> PersonName | None:
    """Return the name that a text of Chinese or Korean characters is; only a label tells that it is one."""
    if not _HAN.fullmatch(text.strip()):
        return None
    try:
        return parse_name(text.strip())
    except InvalidValue:
        return None


def is_title(text: str) -> bool:
    """Return whether the text is a person's title at a company, such as Head of Sales."""
    if len(text) > MAX_TITLE_LENGTH or "@" in text or text.endswith(":"):
        return False
    if _SENTENCE.search(_ABBREVIATED.sub(r"\1", text)):
        return False
    parts = fold(text).split()
    if not 0 < len(parts) <= MAX_TITLE_WORDS or not _TITLES["other"].isdisjoint(parts):
        return False
    if text.endswith(".") and len(parts) > MAX_PLAIN_WORDS:
        return False
    known = [part in _TITLES["word"] or part.endswith(_ENDINGS) for part in parts]
    return any(known) and (known[0] or known[-1] or _TITLES["offer"].isdisjoint(parts))


def may_be_title(text: str) -> bool:
    """Return whether a text between a name and the person's address may be a title that is in no list."""
    if not 0 < len(text) <= MAX_PLAIN_TITLE or not text[0].isalpha() or text[0].islower():
        return False
    if (
        any(sign in text for sign in "@:?!|\u00b7\u2022\u2026\u201c\u201e")
        or _SENTENCE.search(text)
        or _NUMBER.search(text)
    ):
        return False
    parts = fold(text).split()
    is_short = 0 < len(parts) <= MAX_PLAIN_WORDS
    return (
        is_short
        and _TITLES["other"].isdisjoint(parts)
        and fold(text) not in _KINDS
        and not any(map(name_of, _BETWEEN.split(text)))
    )


def is_label(text: str) -> bool:
    """Return whether the text is a label before the names of those who represent a company."""
    return fold(text.replace("(", " ").replace("/-in", "").replace("/in", "")) in _LABELS


def is_of_strangers(text: str) -> bool:
    """Return whether a line is about an authority, an agency or another who is not the company's."""
    return len(text) <= MAX_TITLE_LENGTH and _STRANGERS.search(fold(text)) is not None


def is_about_strangers(heading: str) -> bool:
    """Return whether a section is about customers, or people who have left, by its heading."""
    key = fold(heading)
    return key in _PAGE["section"] or _SECTIONS.search(key) is not None


def has_left(title: str) -> bool:
    """Return whether a title is one that the person had before, as in Former CEO."""
    return fold(title).partition(" ")[0] in _TITLES["left"]


def employer_in(title: str) -> str | None:
    """Return the employer that a title names, as in CEO at Acme."""
    found = _EMPLOYER.search(f" {title}")
    return found[1].strip() if found else None


def people_in(text: str) -> list[NamedPerson]:
    """Return the people whom a line names: alone, with a title, or after a label, there also several."""
    if len(text) > MAX_NAME_LENGTH + MAX_TITLE_LENGTH:
        return []
    if found := _labelled(text):
        return found
    parts = [part.strip() for part in _BETWEEN.split(text) if part and part.strip() and "@" not in part]
    parts = [part for part in parts if fold(part) not in _PAGE["field"]]
    for position, part in enumerate(parts[:2] if len(parts) > 1 else ()):
        name = name_of(part)
        others = [other for index, other in enumerate(parts) if index != position]
        if name and is_title(title := ", ".join(others)) and not any(map(name_of, others)):
            return [NamedPerson(name, title)]
    name = name_of(text)
    return [NamedPerson(name)] if name else []


def named_after_label(text: str, label: str) -> list[NamedPerson]:
    """Return the people whom a text after a label names, or the line below it."""
    names = [part for part in _PEOPLE.split(text) if part.strip()][:MAX_PEOPLE]
    found = [name_of(part) or han_name_of(part) for part in names]
    title = label if is_title(label) else None
    return (
        [NamedPerson(name, title, is_labelled=True) for name in found if name] if found and found[0] else []
    )


def _ends_with_a_part(local: str, family: str) -> bool:
    """Return whether a login ends with the beginning of a family name, as cacardwe of Cardwell."""
    return any(local.endswith(family[:size]) for size in range(LEAST + 1, len(family)))


def is_given_name(email: str, name: PersonName) -> bool:
    """Return whether an address is the given names alone, or a nickname."""
    local = name_key(mailbox_name(email.rpartition("@")[0])).replace(" ", "")
    words = name_key(name.full.removesuffix(name.last)).split()
    givens = {spelled.replace(" ", "") for spelled in spellings(name.first)} | given_names(name.first)
    return len(local) >= LEAST and local in givens | {*words, "".join(words)}


def is_written_out(email: str, name: PersonName) -> bool:
    """Return whether an address has the given and the family name, one of them perhaps as an initial."""
    local = mailbox_name(email.rpartition("@")[0])
    form = form_of(email, name) if len(local) > LEAST else None
    return form is not None and "{f" in form and "{l" in form


def _labelled(text: str) -> list[NamedPerson]:
    for sign in (":", "\uff1a", "\u3000", " "):
        label, separator, named = text.partition(sign)
        while separator:
            if is_label(label):
                label = label.strip()
                return named_after_label(named.strip(), label)
            if sign != " ":
                break
            more, separator, named = named.partition(sign)
            label = f"{label} {more}"
    return []


@lru_cache(maxsize=4096)
def agrees(email: str, name: PersonName) -> bool:
    """Return whether the local part of an address is written from the name.

    It follows a form of addresses, or it has the family name or, at its start, the given one or a nickname.
    """
    name = latin_name(name) if script_of(name.full) else name
    local = name_key(mailbox_name(email.rpartition("@")[0])).replace(" ", "")
    starts = {spelled[:1] for part in (name.first, name.last) for spelled in spellings(part)}
    starts |= {other[:1] for other in given_names(name.first)}
    if local[:1] in starts and form_of(email, name) is not None:
        return True
    families = {
        part for spelled in spellings(name.last) for part in (spelled.replace(" ", ""), *spelled.split())
    }
    if any(len(family) > LEAST and family in local for family in families - PARTICLES):
        return True
    if local[:1] in starts and any(_ends_with_a_part(local, family) for family in families - PARTICLES):
        return True
    givens = {spelled.partition(" ")[0] for spelled in spellings(name.first)} | given_names(name.first)
    initial = name_key(name.last)[:1]
    return is_given_name(email, name) or any(
        len(given) >= LEAST and local.startswith(given) and local[len(given) :] in {"", initial}
        for given in givens
    )
