"""What is said after a change of a list, in the reader's language."""

from __future__ import annotations

from app.features.lists.matching import Round
from app.web.languages import formats
from app.web.languages.texts import gettext, ngettext, translate
from app.web.pages.forms import InvalidForm


def not_accepted(invalid: InvalidForm) -> str:
    """Return why the name of a list is refused."""
    return gettext("The name of the list is not accepted. {why}", why=translate(invalid.messages["name"]))


def added(count: int, unchanged: int) -> str:
    """Return how many contacts were added, and how many were on the list before."""
    done = ngettext(
        "{number} contact added to the list.",
        "{number} contacts added to the list.",
        count,
        number=formats.number(count),
    )
    before = ngettext(
        "{number} was on it already.",
        "{number} were on it already.",
        unchanged,
        number=formats.number(unchanged),
    )
    return f"{done} {before}" if unchanged else done


def removed(count: int) -> str:
    """Return how many contacts were removed."""
    return ngettext(
        "{number} contact removed from the list.",
        "{number} contacts removed from the list.",
        count,
        number=formats.number(count),
    )


def changed(done: Round, confirmed: int, *, is_removal: bool) -> str:
    """Return what came of a change by filters; `confirmed` is how many matched when it was confirmed."""
    sentences = [removed(done.changed) if is_removal else added(done.changed, 0)]
    if others := done.matched - done.changed:
        sentences.append(_unchanged(others, is_removal=is_removal))
    if done.matched != confirmed:
        sentences.append(
            gettext(
                "When you confirmed, {confirmed} matched; in the end, {matched} did.",
                confirmed=formats.number(confirmed),
                matched=formats.number(done.matched),
            )
        )
    return " ".join(sentences)


def _unchanged(count: int, *, is_removal: bool) -> str:
    if is_removal:
        return ngettext(
            "{number} was not on it.", "{number} were not on it.", count, number=formats.number(count)
        )
    return ngettext(
        "{number} was on it already, or has opted out.",
        "{number} were on it already, or have opted out.",
        count,
        number=formats.number(count),
    )
