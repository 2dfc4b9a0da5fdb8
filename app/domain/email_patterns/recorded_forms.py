"""The form that is stored with an address, from which the pattern of its domain is learned."""

from __future__ import annotations

from app.domain.email_patterns.company_forms import FORMS, OTHER
from app.domain.email_patterns.patterns import form_of, simple_form_of
from app.domain.email_patterns.spelling import fill
from app.domain.normal.emails import email_reasons
from app.domain.normal.names.name_keys import spellings
from app.domain.normal.names.name_lexicon import is_initials
from app.domain.normal.names.names import PersonName
from app.domain.normal.names.nicknames import given_names

_NAME_SEPARATORS = ".-_0123456789"


def recorded_form(email: str, name: PersonName) -> str | None:
    """Return the form of a person's work address, `OTHER` if it follows none, or None if that is not known.

    A single name fits too many forms, a name in another script fits none, and a role address is not personal.
    Nor is the form known of a family name of one letter, or of initials that are written out in the address.
    """
    if not (name.first and name.last) or is_initials(name.last):
        return None
    if form := simple_form_of(email, name) or _any_form(email, name):
        return form
    is_latin = next(fill(FORMS[0], name), None) is not None  # nothing either if the given name is an initial
    return OTHER if is_latin and "role" not in email_reasons(email) else None


def _any_form(email: str, name: PersonName) -> str | None:
    """Return the form for any name, after a cheap check that all letters occur in the name."""
    keys = (name.full.lower(), *spellings(name.first), *spellings(name.last), *given_names(name.first))
    letters = frozenset(_NAME_SEPARATORS).union(*keys)
    if not letters.issuperset(email.rpartition("@")[0].partition("+")[0]):
        return None
    return form_of(email, name)
