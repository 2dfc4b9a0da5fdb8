"""What exclusions hold about people: addresses and profiles, and notes that may name somebody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import delete, select, update

from app.domain.exclusions import Kind
from app.domain.records.person_matcher import PersonMatcher
from app.engine.accounts.workspaces import Workspace
from app.engine.contacts.bulk import batched
from app.engine.exclusions.exclusions import Exclusion, digest
from app.engine.mentions.mention_sources import Key, Source
from app.engine.privacy.holdings import Export, Holdings
from app.infra.clock import rfc3339
from app.infra.database.session import Session


@dataclass(frozen=True, slots=True)
class ExcludedPerson:
    """The exclusions that name a person, by id, and those of others whose notes mention the person."""

    own: tuple[str, ...]
    mentioning: tuple[str, ...]

    @property
    def rows(self) -> int:
        """Return how many exclusions name the person."""
        return len(self.own)

    @property
    def notes(self) -> int:
        """Return how many notes of other exclusions mention the person."""
        return len(self.mentioning)

    def export(self, session: Session) -> Export:
        """Return the exclusions that name the person, and whose they are."""
        query = (
            select(Exclusion, Workspace.name)
            .join(Workspace, Workspace.id == Exclusion.workspace_id)
            .where(Exclusion.id.in_(self.own))
            .order_by(Exclusion.id)
        )
        shown = [
            {
                "workspace": name,
                "value": row.value,
                "reason": row.reason,
                "note": row.note,
                "at": rfc3339(row.created_at),
            }
            for row, name in session.execute(query)
        ]
        return {"exclusions": shown}

    def erase(self, session: Session) -> list[tuple[Source, Sequence[Key]]]:
        """Delete the exclusions that name the person, and the notes that mention the person."""
        session.execute(delete(Exclusion).where(Exclusion.id.in_(self.own)))
        session.execute(update(Exclusion).where(Exclusion.id.in_(self.mentioning)).values(note=None))
        return []


def find(session: Session, matcher: PersonMatcher) -> ExcludedPerson:
    """Return the exclusions that name or mention the person, of all workspaces."""
    named = [(Kind.EMAIL.value, email) for email in matcher.emails]
    named += [(Kind.LINKEDIN_URL.value, url) for url in matcher.linkedin_urls]
    workspaces = session.scalars(select(Exclusion.workspace_id).distinct()).all()
    digests = [digest(session.keys, each, *value) for each in workspaces for value in named]
    own = [
        exclusion_id
        for part in batched(digests)
        for exclusion_id in session.scalars(select(Exclusion.id).where(Exclusion.digest.in_(part)))
    ]
    noted = session.execute(select(Exclusion.id, Exclusion.note).where(Exclusion.note.is_not(None)))
    mentioning = {row.id for row in noted if matcher.matches(row.note)} - set(own)
    return ExcludedPerson(tuple(sorted(own)), tuple(sorted(mentioning)))


HOLDINGS = Holdings(find={Exclusion.__tablename__: find}, texts=((Exclusion, ("value", "note")),))
