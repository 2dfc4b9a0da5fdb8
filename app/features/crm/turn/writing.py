"""Writes values to a CRM; a value that it refuses is left out, and the others are written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from app.features.crm.vendors.errors import AccessRefused, Duplicate, Refusal, Rejected
from app.features.crm.vendors.person import CrmRecord

MAX_WRITES = 4
"""The requests for one person: a CRM may name one property at a time, and each round leaves out some."""
FORBIDDEN = "forbidden"


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Writes the values of one person with `write`; `begin` is called with them before each request.

    `identity` are the properties that say whose the record is, `email` the one of the address. A record that
    `is_new` is not created without an address, because nothing would find it.
    """

    write: Callable[[Mapping[str, str]], CrmRecord]
    begin: Callable[[Mapping[str, str]], None]
    is_named: Callable[[str, str], bool]
    identity: Collection[str]
    email: str
    is_new: bool
    refused: dict[str, Refusal] = field(default_factory=dict)

    def run(self, values: Mapping[str, str]) -> CrmRecord | None:
        """Write the values and return the record; None if the CRM refused all of them.

        Raises:
            Duplicate: another record exists already.
            CrmError: the CRM did not do what was asked.

        """
        for _ in range(MAX_WRITES - 1):
            self.begin(values)
            try:
                return self.write(values)
            except (AccessRefused, Duplicate, Rejected) as error:
                lost = self._lost(error, values)
                if not lost:
                    raise
            self.refused.update(lost)
            values = {name: value for name, value in values.items() if name not in lost}
            if not values:
                return None
        self.begin(values)
        return self.write(values)

    def _lost(
        self, error: AccessRefused | Duplicate | Rejected, values: Mapping[str, str]
    ) -> dict[str, Refusal]:
        """Return what to leave out of the next request; nothing if it would not help."""
        if isinstance(error, Duplicate):
            has_address = self.email in values and not self.is_new
            return {self.email: Refusal.DUPLICATE} if has_address else {}
        rest = dict.fromkeys(values.keys() - set(self.identity), Refusal.UNNAMED)
        if isinstance(error, AccessRefused):
            # The permission may lack for one property or for all: then the next request is refused as well.
            is_some = error.reason == FORBIDDEN and len(rest) < len(values)
            return dict.fromkeys(rest, Refusal.READ_ONLY) if is_some else {}
        if error.reason != "invalid_values":
            return {}
        if not error.refused:
            return rest
        named = self._named(error, values)
        return {} if self.is_new and self.email in named else named

    def _named(self, rejection: Rejected, values: Mapping[str, str]) -> dict[str, Refusal]:
        return {
            name: reason
            for name in values
            for complaint, reason in rejection.refused.items()
            if self.is_named(name, complaint)
        }
