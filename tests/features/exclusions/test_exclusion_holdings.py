"""What exclusions hold about people, for the parts of the service that go through all features."""

from __future__ import annotations

from collections.abc import Sequence

from jobs_support import NOW, a_workspace
from sqlalchemy import select

from app.domain.exclusions import Kind, Reason
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.exclusions import exclusions
from app.engine.exclusions.exclusions import Entry, Exclusion
from app.engine.privacy import erasure, redaction
from app.features.exclusions import holdings
from app.infra.database.session import Session

ADA = Identifier("email", "ada@acme.com")
URL = Identifier("linkedin_url", "https://www.linkedin.com/in/ada-lovelace")
ENTRIES = (
    Entry(Kind.EMAIL, ADA.value, Reason.CUSTOMER),
    Entry(Kind.LINKEDIN_URL, URL.value, Reason.PARTNER, "from the fair"),
    Entry(Kind.DOMAIN, "acme.com", Reason.CUSTOMER, "ask ada@acme.com"),
    Entry(Kind.EMAIL, "bob@acme.com", Reason.OTHER, "a colleague"),
)


def stored(session: Session, *workspaces: str) -> None:
    for workspace_id in workspaces:
        exclusions.add(session, workspace_id, ENTRIES, created_by="acc_1", now=NOW)


def left(session: Session) -> list[tuple[str, str | None]]:
    rows = session.execute(select(Exclusion.value, Exclusion.note)).all()
    return sorted((row.value, row.note) for row in rows)


def erase(session: Session, identifiers: Sequence[Identifier]) -> erasure.ErasurePlan:
    plan = erasure.plan(session, [], identifiers)
    erasure.erase(session, plan, now=NOW)
    session.expire_all()
    return plan


def test_an_erasure_deletes_the_exclusions_of_the_person_in_every_workspace(session: Session) -> None:
    stored(session, a_workspace(session), a_workspace(session))

    plan = erase(session, [ADA, URL])

    assert (plan.counts["exclusions"], plan.counts["notes"]) == (4, 2)
    assert left(session) == [("acme.com", None), ("acme.com", None), *[("bob@acme.com", "a colleague")] * 2]


def test_a_person_is_shown_who_excludes_them_and_why(session: Session) -> None:
    stored(session, a_workspace(session))
    matcher = redaction.person_matcher([ADA])

    shown = holdings.find(session, matcher).export(session)["exclusions"]

    assert [(row["value"], row["reason"], row["note"]) for row in shown] == [(ADA.value, "customer", None)]
