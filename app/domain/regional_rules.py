"""Rules that hide personal e-mail addresses and mobile numbers of people in some countries."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from app.domain.errors import InvalidValue
from app.domain.normal.places.countries import is_country

_EU_CODES = "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK"
_EU_TERRITORIES = "AX GF GP MF MQ RE YT"
"""Parts of Finland and France, in the Union, that have codes of their own (TFEU, article 355)."""
EUROPEAN_UNION = frozenset(f"{_EU_CODES} {_EU_TERRITORIES}".split())
_REGIONS = {"EU": EUROPEAN_UNION, "EEA": EUROPEAN_UNION | {"IS", "LI", "NO"}}
EVERYWHERE, UNKNOWN = "*", "unknown"
"""The words for people of all countries, and for those whose country is not known."""
PERSONAL, MOBILE = "personal", "mobile"


def parse_places(words: Iterable[str]) -> frozenset[str]:
    """Return the countries of a rule, with the countries of `EU` and `EEA`, and with EVERYWHERE and UNKNOWN.

    Raises:
        InvalidValue: a word is neither a country nor one of these.

    """
    places: set[str] = set()
    for word in words:
        code = word.upper()
        if word.lower() in {EVERYWHERE, UNKNOWN}:
            places.add(word.lower())
        elif code in _REGIONS:
            places |= _REGIONS[code]
        elif is_country(code):
            places.add(code)
        else:
            raise InvalidValue(f"{word!r} is not an ISO 3166 code of two letters, EU, EEA, unknown or *.")
    return frozenset(places)


def is_maybe_mobile(kind: str, line_type: str) -> bool:
    """Return whether a number is a mobile by its type or digits, or may be one because both are unknown."""
    return MOBILE in {kind, line_type} or (kind, line_type) == ("other", "unknown")


@dataclass(frozen=True, slots=True)
class RegionalRules:
    """The places where personal e-mails are hidden, and those where mobile numbers are."""

    personal_emails: frozenset[str] = frozenset()
    mobiles: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        """Return whether anything is hidden anywhere."""
        return bool(self.personal_emails or self.mobiles)

    @property
    def key(self) -> str:
        """Return the rules as text, equal for equal rules; empty without any."""
        parts = (f"{name}={','.join(sorted(places))}" for name, places in self._by_name if places)
        return " ".join(parts)

    @property
    def _by_name(self) -> Collection[tuple[str, frozenset[str]]]:
        return (PERSONAL, self.personal_emails), (MOBILE, self.mobiles)

    def hides_email(self, kind: str, country: str | None) -> bool:
        """Return whether an address of this type is hidden, of a person in this country; None is unknown."""
        return kind == PERSONAL and is_in(self.personal_emails, country)

    def hides_phone(self, kind: str, line_type: str, country: str | None, of_number: str | None) -> bool:
        """Return whether a number is hidden, by the country of the person or by the country of the number."""
        if not is_maybe_mobile(kind, line_type):
            return False
        return is_in(self.mobiles, country) or of_number in self.mobiles

    def visible_types(self, kinds: Iterable[str], country: str | None) -> tuple[str, ...]:
        """Return the types of e-mails or phones that are not hidden of a person in this country."""
        hidden = {kind for kind, places in self._by_name if is_in(places, country)}
        return tuple(kind for kind in kinds if kind not in hidden)


NO_RULES = RegionalRules()


def is_in(places: Collection[str], country: str | None) -> bool:
    """Return whether a rule for these places applies to people in this country; None is unknown."""
    return EVERYWHERE in places or (country or UNKNOWN) in places
