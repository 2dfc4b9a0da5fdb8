"""What stands in brackets in a name: nicknames and generations are kept, notes are not."""

from __future__ import annotations

import re

from app.domain.normal.names.generations import generation_of
from app.domain.normal.names.honorifics import is_honorific, title_count
from app.domain.normal.names.name_notes import is_pronoun

_BRACKETS = re.compile(r"\[[^\[\]]*\]|\{[^{}]*\}|<[^<>]*>")
_QUOTED_WORDS = re.compile(r"""(?<=\w)\s+["\u201c][^"\u201c\u201d]*\s[^"\u201c\u201d]*["\u201d]\s+(?=\w)""")
"""A nickname of several words, which is left out: Dwayne "The Rock" Johnson."""
_PARENTHESIS = re.compile(r"\(([^()]*)(?:\)|$)")
_UNPAIRED = re.compile(r"(\([^()]+\))|[()]")
_RETIRED = frozenset({"ret", "retd", "rtd"})
_NICKNAME = re.compile(r"[^\W\d_][\w'.-]*")
_DISTINCTION = re.compile(r"[^\d()]{0,20}?\d{1,4}(?:-\d{0,4})?")


def without_brackets(text: str, *, following: str = "") -> tuple[str, str]:
    """Return a name without what stands in brackets, and from it what tells people of one name apart.

    A note with a number does: Ram Yadav (Siraha-4). A nickname of one word before another one is kept;
    `following` is the next part of the name, if it is given apart.
    """
    text = _QUOTED_WORDS.sub(" ", _BRACKETS.sub(" ", text))
    if "(" not in text and ")" not in text:
        return text, ""
    distinctions: list[str] = []

    def kept(found: re.Match[str]) -> str:
        inside = found[1].strip()
        before, after = text[: found.start()].strip(), f"{text[found.end() :]} {following}".lstrip()
        if (
            after[:1].isalpha()
            and _NICKNAME.fullmatch(inside)
            and not (is_pronoun(inside) or is_honorific(inside) or _are_titles(before))
            and inside.rstrip(".").lower() not in _RETIRED
        ):
            return found[0]
        if generation_of(f"Ada Low {inside}").name == "Ada Low" or not (before or after):
            return f" {inside}"
        if _DISTINCTION.fullmatch(inside):
            distinctions.append(inside)
        return " "

    text = " ".join(_PARENTHESIS.sub(kept, text).split())
    return _UNPAIRED.sub(r"\1", text), "".join(distinctions[:1])


def _are_titles(text: str) -> bool:
    """Return whether there is nothing but titles, as before Dipl.-Kffr. (FH) Ada Lovelace."""
    words = text.rpartition(",")[2].split()
    return bool(words) and title_count([*words, "-"]) == len(words)
