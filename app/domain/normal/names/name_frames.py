"""What lists, forms and programs put around a name: quotes, numbers, marks of an addressee, paths."""

from __future__ import annotations

import re

from app.domain.normal.names.name_notes import is_pronoun
from app.domain.normal.names.placeholder_names import ends_like_company

_QUOTED = re.compile(r"""["\u201c\u201e\u00ab]([^"\u201c\u201d\u201e\u00ab\u00bb]+)["\u201c\u201d\u00bb]""")
_SINGLE_QUOTED = re.compile(r"'([^']+(?:(?<=\w)'(?=\w)[^']+)*)'")
_QUOTED_GIVEN = re.compile(r"""["\u201c\u201e]([^\W\d_]+)["\u201c\u201d] (?=[^\W\d_])""")
"""A nickname in quotes in the place of the given name: "Rick" Edmonds."""
_NUMBER = re.compile(r"(?:\(?\d{1,4}[.)]|#\d{1,6}|\d{1,4} [-\u2013])\s+(?=[^\W\d])")
_TO = r"c/o|attn|attention|fao|z\.? ?hd|zu h[a\u00e4]nden|t\.a\.v|[a\u00e0] l'attention de"
_ADDRESSEE = re.compile(rf"(?:{_TO})\b[.:\s]+(?:von |van )?(?=[^\W\d])", re.IGNORECASE)
_AT_ANOTHERS = re.compile(r"\sc/o\s.*", re.IGNORECASE)
_NOTED = "EXT|OLD|DNU|DO NOT USE|INACTIVE|DUPLICATE|DUPE|Copy of|Kopie von|Copia de|Copie de"
_SHORT = "ZZ+|XX+|AAA+|ICE"
_MARK = re.compile(rf"(?:{_NOTED}|(?:{_SHORT})(?=[\s:_-]+\S+\s+\S))[\s:_-]+(?=[^\W\d_][^\W\d_A-Z])")
"""A mark of the one who keeps the list: ZZZ Ada Lovelace. A short one leaves two words, unlike ICE Cube."""
_SHORT_MARK = re.compile(_SHORT)
_STARTS = re.compile(rf"(?:{_TO}|{_NOTED}|{_SHORT})\b", re.IGNORECASE)
_STATUS = re.compile(r"Status is (?:online|offline|reachable)\s*", re.IGNORECASE)
_VIEW = re.compile(
    r"(?P<before>.*?)\s*(?:View (?P<en>[^']+)(?:'s?)? profile|Profil von (?P<de>.+) anzeigen|"
    r"(?:Voir le profil de|Ver (?:el )?perfil de|Visualizza il profilo di) (?P<other>.+)|"
    r"Profiel van (?P<nl>.+) weergeven)\b.*"
)
"""The text of a link to a profile."""
_DEGREE = re.compile(r"[\s\u00b7,](?<![\s\u00b7,]{2})[\s\u00b7,]{0,2}(?:1st|2nd|3rd)\+? degree connection.*")
_PATH = re.compile(
    r"(?:CN=)?([^/()=\[\],]*[^\W\d_]{2})/(?:[A-Z]{1,2}=)?([^\W\d_][^/()\[\],]*)(?:/[^/()\[\],]+)*"
)
"""A name in a directory, as Lotus Notes writes it: Ada Lovelace/US/Acme."""
_NO_LETTER = re.compile(r"(?<!\S)[.\u2010-\u2015_~=?*-]+(?!\S)")
_FLAG = re.compile(r"(?<=[^\W\d_]) -[A-Z]{1,3}(?!\S)")
"""A mark of a directory after a name: Lovelace, Ada -EXT."""
_HASHTAGS = re.compile(r"(?:#[^\W\d]\w*\s+)+(?=[^\W\d_])")
_ADDRESS = re.compile(
    r"\s?[<(\[]?(?:mailto:)?[^\s@<>()\[\]\"',]{1,64}@[^\s@<>()\[\]\"',]+\.[^\W\d_]{2,}[>)\]]?"
)
_SENT_BY = re.compile(r"(?<=[^\W\d_])\s(?:via|on behalf of|im Auftrag von|de la part de)\s.+")
_TITLE_AFTER = re.compile(r"(?<=[^\W\d_])[\s,]{1,2}(?:Mr|Mrs|Ms|Mme|Mlle)\.?$", re.IGNORECASE)
_JOINED = re.compile(r"([^\W\d_]{2,})[._]([^\W\d_]{2,})")
"""A given and a family name joined as in an account name: ada.lovelace."""
_END = ";:?!/"
_WORDS = frozenset(
    {"status", "degree", "profile", "profil", "via", "behalf", "mr", "mrs", "ms", "mme", "mlle"}
)


def may_be_framed(words: list[str]) -> bool:
    """Return whether lower-case words need a closer look; it is False for most names, and quick."""
    return not _WORDS.isdisjoint(words) or _STARTS.match(" ".join(words)) is not None


def is_mark(word: str) -> bool:
    """Return whether a word in capitals is a short mark, such as ICE."""
    return _SHORT_MARK.fullmatch(word) is not None


def unframed(text: str) -> str:
    """Return the name in a text; the text is one of `clean_text`."""
    text = _ADDRESS.sub(" ", text).strip() if "@" in text else text
    text = text.rstrip(_END).strip()
    for pattern in (_QUOTED, _SINGLE_QUOTED):
        if found := pattern.fullmatch(text):
            text = found[1].strip()
    text = _QUOTED_GIVEN.sub(r"\1 ", text, count=1) if _QUOTED_GIVEN.match(text) else text
    for pattern in (_NUMBER, _HASHTAGS, _ADDRESSEE, _MARK, _STATUS):
        if (found := pattern.match(text)) and found.end() < len(text):
            text = text[found.end() :]
    for pattern in (_AT_ANOTHERS, _DEGREE, _SENT_BY, _FLAG):
        text = pattern.sub("", text)
    if text.count(" ") > 1:
        text = _TITLE_AFTER.sub("", text)
    if found := _JOINED.fullmatch(text):
        text = f"{found[1]} {found[2]}"
    if found := _VIEW.fullmatch(text):
        text = found["before"] or found["en"] or found["de"] or found["other"] or found["nl"]
    text = " ".join(_NO_LETTER.sub(" ", text).split()).rstrip(", ") if _NO_LETTER.search(text) else text
    company, _comma, rest = text.partition(", ")
    text = rest if rest and ends_like_company(company) else text
    return _without_path(text)


def _without_path(text: str) -> str:
    """Return the name at the start of a path; a text with two family names or two people is unchanged."""
    found = _PATH.fullmatch(text) if "/" in text else None
    if found is None or " " not in found[1].strip():
        return text
    before, after = found[1].rpartition(" ")[2], found[2]
    is_word = before[0].isupper() and not before.isupper() and after[0].isupper()
    return found[1] if is_word and " " not in after.strip() and not is_pronoun(before) else text
