"""What a column of a list means, told from its header: a field, and of e-mails and phones which one.

Headers are compared as words without case, accents and punctuation. Most are looked up in
`data/columns.txt`; those of e-mails and phones are read word by word, since exports have many of them:
`Secondary Email Status`, `Phone 2 - Type`, `Work Direct Phone`, `Geschäftliche E-Mail`. A header with a word
that belongs to neither (`Manager Email`, `Business Fax`) means something else and is left alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from app.domain.normal.text_folding import fold, split_camel


@dataclass(frozen=True, slots=True)
class Column:
    """A column's meaning; `kind` is the type of an e-mail or phone, if the header says it.

    `group` tells several e-mails or phones apart. Of several columns with one field
    the one with the lowest `rank` is believed first.
    """

    field: str
    kind: str | None = None
    group: str = ""
    rank: int = 0


_DATA = Path(__file__).parents[1] / "data"


def _read() -> dict[str, Column]:
    """Read the fields' headers from the file beside this one; those that come first there are the surest."""
    meanings: dict[str, Column] = {}
    for line in (_DATA / "columns.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            field, headers = line.split(": ", maxsplit=1)
            for rank, header in enumerate([*headers.split(", "), field.replace("_", " ")]):
                meanings.setdefault(header, Column(field, rank=rank))
    return meanings


_HEADERS = _read()
FIELDS = tuple(
    """full_name first_name middle_name last_name email work_email personal_email email_status
    email_confidence email_verified_at phone mobile_phone direct_phone work_phone hq_phone phone_type
    do_not_call title seniority department linkedin_url city country location company_name company_domain
    company_linkedin_url company_industry company_headcount company_city company_country company_location
    updated_at""".split()  # noqa: SIM905 -- a list of words, to be read
)

_TOGETHER = (  # words that mean one thing, longest first
    ("e mail", "email"),
    ("linked in", "linkedin"),
    ("web site", "website"),
    ("direct dial", "direct"),
    ("head office", "headquarters"),
    ("do not call", "dnc"),
    ("last verified at", "verifiedat"),
    ("last verified", "verifiedat"),
    ("verified at", "verifiedat"),
    ("verified on", "verifiedat"),
    ("verification date", "verifiedat"),
    ("seen at", "seenat"),
    ("last seen", "seenat"),
    ("catch all", "catchall"),
)


def _words() -> dict[str, dict[str, str]]:
    """Read the words of e-mails' and phones' headers from the file beside this one, by group."""
    groups: dict[str, dict[str, str]] = {}
    for line in (_DATA / "value_columns.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            head, words = line.split(": ", maxsplit=1)
            group, name = head.split(" ")
            meanings = groups.setdefault(head if group == "names" else group, {})
            meanings |= dict.fromkeys(words.split(), name)
    return groups


_WORDS = _words()
_PARTS, _KINDS, _WHICH, _FILLERS = (_WORDS[group] for group in ("part", "kind", "which", "filler"))
_OF_SOMEBODY = re.compile(r"^(?:person|contact|prospect|lead|candidate|customer|attendee|kontakt|contacto) ")
_OF_COMPANY = re.compile(
    r"^(?:person |contact |prospect |lead |current )?(?:organi[sz]ation|org|account|employer|company|firma) "
)
_NUMBERED = re.compile(r"([a-z]+)(\d+)")
_PHONE_OR_EMAIL_KIND = {
    ("email", "corporate"): "work",
    ("email", "hq"): "work",
    ("email", "mobile"): None,
    ("email", "direct"): "work",
    ("phone", "corporate"): "hq",
    ("phone", "personal"): "other",
}


@lru_cache(maxsize=1024)
def column(header: str) -> Column | None:
    """Tell what a column with this header holds; None if it is nothing that is kept."""
    key = fold(split_camel(header))
    plain = fold(header)
    for apart, together in _TOGETHER:
        key = key.replace(apart, together)
    said = (plain, fold(split_camel(header)), key)
    for name in (
        *said,
        *(_OF_SOMEBODY.sub("", one) for one in said),
        *(_OF_COMPANY.sub("company ", one) for one in said),
    ):
        if name in _HEADERS:
            return _HEADERS[name]
    words = _NUMBERED.sub(r"\1 \2", key).split()
    return _value_column(words, "email") or _value_column(words, "phone")


def _value_column(words: list[str], field: str) -> Column | None:
    """Read the words of a column of e-mails or phones; None if it is none."""
    names = _WORDS[f"names {field}"]
    if not any(word in names for word in words):
        return None
    part, kinds, group = "", [], []
    for word in words:
        if word in _KINDS:
            kinds.append(_KINDS[word])
        elif word in _PARTS:
            part = part or _PARTS[word]
        elif word.isdecimal() or word in _WHICH:
            group.append(word)
        elif word not in names and word not in _FILLERS:
            return None
    kind = _strongest(field, kinds)
    return Column(f"{field}{part}", kind, " ".join([*kinds, *group]))


def _strongest(field: str, kinds: list[str]) -> str | None:
    """Choose what several words say: a work mobile is a mobile, a work direct dial is direct."""
    for kind in ("mobile", "direct", "hq", "corporate", "work", "personal"):
        if kind in kinds:
            return _PHONE_OR_EMAIL_KIND.get((field, kind), kind)
    return None
