"""The field of a column, derived from its header; for e-mails and phones also which one it belongs to.

Headers are compared as words without case, accents and punctuation. Most are in `data/lists/columns.txt`
and, for each language, in `data/lists/headers`. Headers of e-mails and phones are parsed word by word, since
exports have many variants: `Secondary Email Status`, `Phone 2 - Type`, `Work Direct Phone`, `Geschäftliche
E-Mail`. A header that also contains an unknown word (`Manager Email`, `Business Fax`) has another meaning and
is ignored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from app.domain.lists.headers.header_words import read_headers
from app.domain.lists.headers.joined_headers import joined_field, names_place
from app.domain.lists.headers.name_headers import name_part, names_both_parts
from app.domain.lists.headers.opt_out_headers import opt_out_field
from app.domain.normal.texts.text_folding import fold, split_camel


@dataclass(frozen=True, slots=True)
class Column:
    """The meaning of a column; `kind` is the type of an e-mail or phone, if the header states it.

    `group` distinguishes several e-mails or phones. Among several columns of one field, the one with the
    lowest `rank` takes precedence.
    """

    field: str
    kind: str | None = None
    group: str = ""
    rank: int = 0


FIELDS = tuple(
    """full_name first_name middle_name last_name email work_email personal_email email_status
    email_confidence email_verified_at phone mobile_phone direct_phone work_phone hq_phone phone_type
    do_not_call do_not_contact marketing_consent title seniority department linkedin_url city state
    country location company_name company_domain company_linkedin_url company_industry company_headcount
    company_city company_state company_country company_location
    updated_at""".split()  # noqa: SIM905 -- easier to read than a list of quoted words
)

_TOGETHER = (  # phrases that are read as one word, longest first
    ("e mail", "email"),
    ("e post", "epost"),
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
    ("email id", "email"),  # as an address is called in India
    ("mail id", "email"),
    ("b2b", "work"),
)


_OF_COMPANIES = {
    "full_name": "company_name",
    "first_name": "company_name",  # one word for both, as `Nombre`
    "last_name": "company_name",  # likewise, as `Nom`
    "city": "company_city",
    "state": "company_state",
    "country": "company_country",
    "location": "company_location",
}
"""The fields of a company whose headers name fields of a person."""
_PHRASES, _WORDS = read_headers()
_SINGLE_HEADERS = {
    text: field
    for text, (field, _rank) in _PHRASES.items()
    if field in FIELDS and not field.startswith(("email", "phone", "do_not_", "marketing_"))
}
"""The field of each header of a value that stands in one column."""
NAME_HEADERS = {text: field for text, (field, _rank) in _PHRASES.items() if field.endswith("_name")}
"""The field of each header of a name."""
_PARTS, _KINDS, _WHICH, _FILLERS = (_WORDS[group] for group in ("part", "kind", "which", "filler"))
_OF_PERSON = re.compile(
    r"^(?:person|contact|prospect|lead|candidate|customer|attendee|delegate|participant|registrant|speaker"
    r"|journalist|your|kontakt|contacto|teilnehmer|participante) "
)
_OF_COMPANY = re.compile(
    r"^(?:person |contact |prospect |lead |current )?(?:organi[sz]ation|org|account|employer|company|firma) "
)
_OF_ADDRESS = re.compile(
    r"^(?:primary |mailing )?(?:address|adresse|indirizzo|direccion|endereco|adres|adresa|osoite)(?: [12])? "
)
_OF_GROUP = re.compile(r"\s*([^\W\d_]{1,30})\s*[-\u2013:/>|.]\s*(?=\w)")
"""The first word of a header as an entity whose field the rest names: `Persona - Nombre`."""
_MOST_LANGUAGES = 3
_PLACES = frozenset({"city", "state", "country"})
_TEXTS = frozenset(
    {
        "full_name",
        "first_name",
        "middle_name",
        "last_name",
        "title",
        "department",
        "seniority",
        "company_name",
    }
)
_NUMBER_OR_QUESTION = re.compile(r"[#№?]")
"""Signs of a header that names a number or a question, and so no text: `Attendee #`, `Contact?`."""
_OF_FORM = re.compile(
    r"\((?:optional|required|mandatory|if any|if applicable|s"
    r"|(?:with|as|incl\.?|including|e\.?g\.?) [^()]{1,60})\)",
    re.IGNORECASE,
)
"""What forms write beside the name of a field: `Job title (optional)`, `Phone (with country code)`."""
_ASKED = re.compile(
    r"\s*(?:\d{1,3}[.)]\s+)?"
    r"(?:(?:what(?:'s|\u2019s| is| are)|(?:please )?(?:enter|provide|give)) your |your )?([^?]{1,100})\??\s*",
    re.IGNORECASE,
)
"""How forms ask for a field: `1. Name`, `What is your full name?`."""
_BILINGUAL = re.compile(r"[/|\n(\[\u3010\uff08]|\s[-\u2013]\s")
_CLOSING = ")]\u3011\uff09 "
_OF_SALESFORCE = re.compile(r"__p?c$", re.IGNORECASE)  # the end of a custom field's name
_ASSURED = re.compile(
    r"[(\[] ?(?:verified|validated|valid|verifiziert|verificado|vérifié) ?[)\]]|^verified (?!at|on)",
    re.IGNORECASE,
)
"""Words that say that the values are verified; they do not make the column one of statuses."""
_NUMBERED = re.compile(r"(?<=[a-z])(?=\d)")  # reads a header of a million letters once
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
    """Return the meaning of a column with this header; None if it is not imported."""
    found = _column(header)
    if found and found.field in _TEXTS and _NUMBER_OR_QUESTION.search(header):
        return None
    return found or _column_of_group(header) or _column_of_languages(header) or _column_asked_for(header)


def _column_of_languages(header: str) -> Column | None:
    """Return the meaning of a header that names a field in several languages: `E-mail / メール`."""
    parts = _BILINGUAL.split(header, maxsplit=_MOST_LANGUAGES)
    if not 1 < len(parts) <= _MOST_LANGUAGES:
        return None
    found = [_column(part.strip(_CLOSING)) for part in parts]
    fields = {each.field if each else "" for each in found}
    if fields == {"full_name", "first_name"}:  # one word for both: `Name / Nombre`
        return Column("full_name")
    return found[0] if len(fields) == 1 else None


def _column_asked_for(header: str) -> Column | None:
    asked = _ASKED.fullmatch(header)
    return _column(asked[1]) if asked and asked[1] != header else None


def _column(header: str) -> Column | None:
    header = _OF_FORM.sub("", _ASSURED.sub("", _OF_SALESFORCE.sub("", header)))
    if joined := joined_field(header, _SINGLE_HEADERS):
        return Column(joined)
    key = fold(split_camel(header))
    plain = fold(header)
    for apart, together in _TOGETHER:
        key = key.replace(apart, together)
    forms = (plain, fold(split_camel(header)), key)
    of_person = [_OF_PERSON.sub("", form) for form in forms]
    for name in (*forms, *of_person, *(_OF_COMPANY.sub("company ", form) for form in forms)):
        if name in _PHRASES and (name in forms or _PHRASES[name][0] != "email_word_status"):
            field, rank = _PHRASES[name]
            return _value_column_of(field.split("_")) or Column(field, rank=rank)
    place = _PHRASES.get(_OF_ADDRESS.sub("", plain))
    if place and place[0] in _PLACES:
        return Column(place[0], rank=place[1])
    if part := name_part(header) or ("full_name" if names_both_parts(header, NAME_HEADERS) else None):
        return Column(part)
    if names_place(header, _SINGLE_HEADERS):
        return Column("location")
    return _value_column_of(_NUMBERED.sub(" ", key).split()) or _opt_out_column(forms[1])


def _opt_out_column(name: str) -> Column | None:
    field = opt_out_field(name, _WORDS["optout"])
    return Column(field) if field else None


def _column_of_group(header: str) -> Column | None:
    """Return the meaning of a header that begins with the word for a person or a company, in any language."""
    group = _OF_GROUP.match(header)
    entity = _WORDS["of"].get(fold(group[1])) if group else None
    if group is None or entity is None:
        return None
    rest = header[group.end() :]
    if entity == "company" and (found := _column(f"company {rest}")):
        return found
    found = _column(rest)
    if found and entity == "company":
        field = _OF_COMPANIES.get(found.field, found.field)
        return replace(found, field=field) if field.startswith("company") else None
    return found if found and found.field != "email_word_status" else None


def _value_column_of(words: list[str]) -> Column | None:
    """Return the meaning of an e-mail or phone column by its words; None for other columns."""
    return _value_column(words, "email") or _value_column(words, "phone")


def _value_column(words: list[str], field: str) -> Column | None:
    """Return the meaning of a column of e-mails or of phones; None for other columns."""
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
    """Return the most specific kind: a work mobile is a mobile, a work direct dial is direct."""
    for kind in ("mobile", "direct", "hq", "corporate", "work", "personal"):
        if kind in kinds:
            return _PHONE_OR_EMAIL_KIND.get((field, kind), kind)
    return None
