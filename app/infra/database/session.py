"""The session of a database, with what functions read of it besides the tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import sqlalchemy.orm
from sqlalchemy import Connection, Engine

from app.domain.audit_actions import SYSTEM, Actor
from app.domain.purposes import NO_RULE, PurposeRule
from app.domain.regional_rules import NO_RULES, RegionalRules
from app.domain.reverse_lookups import ReverseLookupLimits
from app.infra.crypto.digest_keys import DigestKeys


@dataclass(frozen=True, slots=True)
class DataSettings:
    """The settings that decide which stored data is disclosed, and where suppressions are recorded."""

    regional_rules: RegionalRules = NO_RULES
    purpose_rule: PurposeRule = NO_RULE
    reverse_lookup_limits: ReverseLookupLimits = field(default_factory=ReverseLookupLimits)
    suppression_journal: Path | None = None


@dataclass(frozen=True, slots=True)
class JournalLines:
    """The lines of the suppression journal that are written before and after the commit."""

    before_commit: list[str] = field(default_factory=list)
    after_commit: list[str] = field(default_factory=list)


class Session(sqlalchemy.orm.Session):
    """A session of a `Database`; `actor` is whom entries of the audit log name by default."""

    def __init__(
        self,
        bind: Engine | Connection,
        *,
        keys: DigestKeys | None = None,
        settings: DataSettings | None = None,
        actor: Actor = SYSTEM,
    ) -> None:
        super().__init__(bind, expire_on_commit=False)
        self._keys = keys
        self.settings = settings or DataSettings()
        self.actor = actor
        self.journal_lines = JournalLines()

    @property
    def keys(self) -> DigestKeys:
        """The keys of the digests and the encrypted columns."""
        if self._keys is None:
            raise RuntimeError("Open the Database with keys to read or write digests and encrypted columns.")
        return self._keys
