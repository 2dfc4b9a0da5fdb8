"""Translates sentences that were stored in English: by a worker, for readers whose language it did not know.

A stored sentence no longer has the template of its `Message`, so the one that it fits is searched for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import islice

from app.domain.messages import Figure, Message
from app.infra.languages import texts
from app.infra.languages.catalogues import SOURCE, message_ids

_GAP = re.compile(r"\{(\w+)\}")
_WHOLE_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+|\d+")
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?]) (?=\S)")
_MIN_LETTERS = 8
"""A template with fewer letters outside of its gaps would fit texts of other templates."""
_MAX_TOGETHER = 12
"""A text of the catalogue, with what its gaps contain, has at most so many sentences."""
_LETTER = re.compile(r"[^\W\d_]")
_KEPT = 256


def translate(text: str, language: str) -> str:
    """Return a text of one or several sentences in a language; an unknown sentence stays as it is."""
    if language == SOURCE or not text:
        return text
    return texts.translate(text, language) if isinstance(text, Message) else _sentences(text, language)


@lru_cache(_KEPT)
def _sentences(text: str, language: str) -> str:
    """Translate the longest known beginning, then what follows it."""
    done: list[str] = []
    while text:
        ends = [match.start() for match in islice(_BETWEEN_SENTENCES.finditer(text), _MAX_TOGETHER)]
        if len(ends) < _MAX_TOGETHER:
            ends.append(len(text))
        found = ((end, known) for end in reversed(ends) if (known := _translated(text[:end], language)))
        end, sentence = next(found, (ends[0], text[: ends[0]]))
        done.append(sentence)
        text = text[end + 1 :]
    return " ".join(done)


def _translated(sentence: str, language: str) -> str | None:
    """Return a text that is or fits one of the catalogue in a language, None if there is none."""
    if sentence in _catalogue(language)[0]:
        return texts.translate(sentence, language)
    found = _fitting(sentence, language)
    return None if found is None else texts.translate(found, language)


def _fitting(sentence: str, language: str) -> Message | None:
    """Return the message that the sentence was: of the templates that it fits, that with most letters."""
    for literal, pattern, template, plural in _catalogue(language)[1]:
        if literal in sentence and (match := pattern.fullmatch(sentence)):
            values = {name: _value(value, language) for name, value in match.groupdict().items()}
            counted = sorted(values.items(), key=lambda item: not isinstance(item[1], int))
            return Message(template, plural, **dict(counted))
    return None


def _value(text: str, language: str) -> object:
    if _WHOLE_NUMBER.fullmatch(text):
        return Figure(text.replace(",", "")) if "," in text else int(text)
    return _sentences(text, language) if " " in text else text


Template = tuple[str, re.Pattern[str], str, str | None]


@cache
def _catalogue(language: str) -> tuple[frozenset[str], list[Template]]:
    """Return the texts without gaps, and the templates, those with most letters first."""
    whole, templates = set[str](), list[tuple[int, Template]]()
    for message_id in message_ids(language):
        forms = (message_id,) if isinstance(message_id, str) else tuple(message_id)
        if not _GAP.search(forms[-1]):
            whole.add(forms[0])
            continue
        plural = forms[1] if len(forms) > 1 else None
        templates += (_template(form, forms[0], plural) for form in forms if _letters(form) >= _MIN_LETTERS)
    templates.sort(key=lambda item: item[0], reverse=True)
    return frozenset(whole), [template for _letters_of_it, template in templates]


def _template(form: str, template: str, plural: str | None) -> tuple[int, Template]:
    literals = _GAP.split(form)[::2]
    return _letters(form), (max(literals, key=len), re.compile("".join(_expression(form))), template, plural)


def _letters(form: str) -> int:
    return len(_LETTER.findall(_GAP.sub("", form)))


def _expression(form: str) -> Iterator[str]:
    """Yield the parts of the regular expression of a template; a gap that comes again has the same text."""
    seen: set[str] = set()
    for index, part in enumerate(_GAP.split(form)):
        if index % 2 == 0:
            yield re.escape(part)
        elif part in seen:
            yield f"(?P={part})"
        else:
            seen.add(part)
            yield f"(?P<{part}>.+?)"
