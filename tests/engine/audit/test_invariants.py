from __future__ import annotations

from collections.abc import Iterator

import pytest
from audit_support import Days, an_enrichment, busy_days, faults, plant
from bounce_support import a_refund
from jobs_support import DIGEST_KEYS, figures
from sqlalchemy import select

from app.engine.audit.invariants import RULES
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.ledger.reveals import Reveal
from app.infra.database.db import Database
from app.infra.database.session import Session

ENTRY = (
    "INSERT INTO ledger (id, workspace_id, job_id, kind, available, held, spent, created_at)"
    " VALUES ('led_{number}', '{{workspace}}', '{job}', '{kind}', {figures}, '2026-11-20')"
)


@pytest.fixture(scope="module")
def _busy(_template: str) -> Iterator[tuple[Session, Days]]:
    """Yield a session and test data shared by all tests of this module; never committed."""
    database = Database(_template, keys=DIGEST_KEYS)
    with Session(database.engine, keys=DIGEST_KEYS) as session:
        yield session, busy_days(session)
        session.rollback()
    database.close()


@pytest.fixture
def days(_busy: tuple[Session, Days]) -> Iterator[Days]:
    session, days = _busy
    with session.begin_nested() as savepoint:
        yield days
        savepoint.rollback()


@pytest.fixture
def session(_busy: tuple[Session, Days], days: Days) -> Session:
    return _busy[0]


def entry(kind: str, figures: str, job: str, number: int = 1) -> str:
    return ENTRY.format(kind=kind, figures=figures, job=job, number=number)


HELD, RELEASED = "-1, 1, 0", "1, -1, 0"
MOVED = "UPDATE workspaces SET available = available + {}, held = held + {} WHERE id = '{{workspace}}'"
# The corrupting statements, the rule that they violate, and the id that is reported.
PLANTED = [
    ("balance_is_the_sum", ["workspace"], ["UPDATE workspaces SET available = 7 WHERE id = '{workspace}'"]),
    ("balance_is_the_sum", ["other"], ["UPDATE workspaces SET spent = 1 WHERE id = '{other}'"]),
    ("held_by_open_jobs", ["workspace"], ["UPDATE jobs SET held = 3 WHERE id = '{queued}'"]),
    (
        "nothing_is_negative",
        ["enriching"],
        [
            "INSERT INTO job_items (job_id, index, request, charged) VALUES ('{enriching}', 7, '{{}}', -2)",
            "UPDATE jobs SET charged = 0 WHERE id = '{enriching}'",
            "UPDATE reveals SET credits = 0 WHERE job_id = '{enriching}'",
        ],
    ),
    (
        "nothing_is_negative",
        ["contact"],
        [
            (
                "INSERT INTO reveals (workspace_id, contact_id, field, job_id, credits, created_at)"
                " VALUES ('{workspace}', '{contact}', 'phone', '{found}', -1, '2026-11-20')"
            )
        ],
    ),
    (
        "charged_value_is_new",
        ["contact"],
        ["DELETE FROM revealed_values WHERE contact_id = '{contact}'"],
    ),
    (
        "entry_adds_up",
        ["led_1"],
        ["UPDATE ledger SET id = 'led_1', kind = 'gift' WHERE kind = 'grant' AND workspace_id = '{other}'"],
    ),
    (
        "entry_adds_up",
        ["led_1"],
        [
            "UPDATE ledger SET id = 'led_1', available = available + 1, spent = -1 WHERE job_id = '{queued}'",
            "UPDATE workspaces SET available = available + 1, spent = spent - 1 WHERE id = '{workspace}'",
        ],
    ),
    (
        "entry_has_its_job",
        ["led_1", "led_2"],
        [entry("hold", HELD, "job_gone"), entry("release", RELEASED, "job_gone", 2)],
    ),
    (
        "entry_has_its_job",
        ["led_1", "led_2"],
        [
            "DELETE FROM ledger WHERE job_id = '{expired}'",
            entry("hold", HELD, "{expired}"),
            entry("release", RELEASED, "{expired}", 2),
        ],
    ),
    ("final_job_is_closed", ["missed"], ["DELETE FROM ledger WHERE job_id = '{missed}'"]),
    ("close_is_what_the_job_says", ["missed", "missed"], ["UPDATE jobs SET held = 2 WHERE id = '{missed}'"]),
    (
        "open_job_is_not_closed",
        ["queued"],
        [
            entry("release", RELEASED, "{queued}"),
            "UPDATE jobs SET held = 0 WHERE id = '{queued}'",
            MOVED.format(1, -1),
        ],
    ),
    (
        "only_final_jobs_are_finished",
        ["missed"],
        ["UPDATE jobs SET finished_at = NULL WHERE id = '{missed}'"],
    ),
    (
        "only_final_jobs_are_finished",
        ["queued"],
        ["UPDATE jobs SET finished_at = '2026-11-20' WHERE id = '{queued}'"],
    ),
    (
        "limit_counter_is_the_sum",
        ["limit"],
        ["UPDATE spending_counters SET spent = spent + 1 WHERE limit_id = '{limit}'"],
    ),
    (
        "limit_counter_is_the_sum",
        ["limit"],
        ["UPDATE spending_counters SET held = held - 1 WHERE limit_id = '{limit}'"],
    ),
    (
        "limited_workspace_is_marked",
        ["limited"],
        ["UPDATE workspaces SET is_limited = NOT is_limited WHERE id = '{limited}'"],
    ),
    ("charged_for_an_answer", ["found"], ["UPDATE jobs SET outcome = 'not_found' WHERE id = '{found}'"]),
    (
        "charged_for_an_answer",
        ["enriched"],
        ["UPDATE job_items SET outcome = NULL WHERE job_id = '{enriched}' AND index = 0"],
    ),
    (
        "items_add_up",
        ["enriched"],
        ["UPDATE job_items SET charged = 1 WHERE job_id = '{enriched}' AND index = 0"],
    ),
    ("paid_reveal_is_owned", ["found"], ["DELETE FROM reveals WHERE job_id = '{found}'"]),
    ("owned_reveal_is_paid", ["found"], ["UPDATE reveals SET credits = 3 WHERE job_id = '{found}'"]),
    ("refund_is_due", ["refunded"], ["UPDATE reveals SET refunded_at = NULL WHERE job_id = '{refunded}'"]),
    ("refund_is_due", ["found"], ["UPDATE reveals SET refunded_at = '2026-11-20' WHERE job_id = '{found}'"]),
    (
        "feedback_refund_is_entered",
        ["workspace"],
        ["UPDATE feedback SET refunded = refunded + 1 WHERE workspace_id = '{workspace}'"],
    ),
    (
        "bounce_is_decided_once",
        ["fdb_1"],
        ["UPDATE feedback SET id = 'fdb_1', confirmed_at = '2026-11-20', refuted_at = '2026-11-20'"],
    ),
    ("bounce_is_decided_once", ["fdb_1"], ["UPDATE feedback SET id = 'fdb_1', kind = 'valid'"]),
    ("running_job_has_a_lease", ["running"], ["UPDATE jobs SET lease_until = NULL WHERE id = '{running}'"]),
    (
        "open_job_is_not_stuck",
        ["queued"],
        ["UPDATE jobs SET deadline_at = '2026-11-20 09:27:59.000000' WHERE id = '{queued}'"],
    ),
    (
        "open_job_is_not_stuck",
        ["running"],
        [
            (
                "UPDATE jobs SET deadline_at = '2026-11-20 09:20:00.000000',"
                " lease_until = '2026-11-20 09:27:59.000000' WHERE id = '{running}'"
            )
        ],
    ),
    ("key_stands_for_something", ["other"], ["UPDATE idempotency_keys SET reference = NULL WHERE key = 'k'"]),
    (
        "key_stands_for_something",
        ["job_gone"],
        ["UPDATE idempotency_keys SET reference = 'job_gone' WHERE key = 'k'"],
    ),
    (
        "key_stands_for_something",
        ["found"],
        ["UPDATE idempotency_keys SET reference = '{found}' WHERE key = 'k'"],
    ),
    (
        "key_stands_for_something",
        ["whe_1"],
        [
            (
                "INSERT INTO webhook_endpoints (id, workspace_id, url, types, created_at)"
                " VALUES ('whe_1', '{workspace}', 'https://hooks.example/', '[]', '2026-11-20 09:30:00')"
            ),
            "UPDATE idempotency_keys SET reference = 'whe_1' WHERE key = 'k'",
        ],
    ),
    (
        "key_stands_for_something",
        ["evt_1"],
        [
            (
                "INSERT INTO events (id, workspace_id, type, data, dedup_key, created_at)"
                " VALUES ('evt_1', '{workspace}', 'test', '{{}}', 'k', '2026-11-20 09:30:00')"
            ),
            "UPDATE idempotency_keys SET reference = 'evt_1' WHERE key = 'k'",
        ],
    ),
]
HARMLESS = {
    "the person was erased": ["DELETE FROM contacts WHERE id = '{contact}'"],
    "whose reveal was refunded was erased": [
        "DELETE FROM contacts WHERE id IN (SELECT contact_id FROM reveals WHERE job_id = '{refunded}')"
    ],
    "a saved profile was erased": ["DELETE FROM saved_profiles"],
    "a list was deleted": ["UPDATE idempotency_keys SET reference = 'lst_gone' WHERE key = 'k'"],
    "a tested event was deleted": ["UPDATE idempotency_keys SET reference = 'evt_gone' WHERE key = 'k'"],
    "a replayed delivery was deleted": ["UPDATE idempotency_keys SET reference = 'whk_gone' WHERE key = 'k'"],
    "a webhook endpoint was deleted": ["UPDATE idempotency_keys SET reference = 'whe_gone' WHERE key = 'k'"],
    "a deadline is over, a lease is not": [
        "UPDATE jobs SET deadline_at = '2026-11-20 09:20:00.000000' WHERE id = '{running}'"
    ],
    "a deadline is just over": [
        "UPDATE jobs SET deadline_at = '2026-11-20 09:28:01.000000' WHERE id = '{queued}'"
    ],
}


@pytest.mark.parametrize(("rule", "named", "statements"), PLANTED)
def test_each_violation_is_found_by_exactly_one_rule(
    session: Session, days: Days, rule: str, named: list[str], statements: list[str]
) -> None:
    plant(session, days, statements)

    found = faults(session)

    assert sorted(found) == sorted((rule, getattr(days, name, name)) for name in named)


def test_every_rule_has_a_violation_in_this_test() -> None:
    assert {rule for rule, _named, _statements in PLANTED} == {rule.name for rule in RULES}


@pytest.mark.parametrize("statements", HARMLESS.values(), ids=HARMLESS)
def test_expected_changes_violate_no_rule(session: Session, days: Days, statements: list[str]) -> None:
    plant(session, days, statements)

    assert faults(session) == []


def test_normal_activity_violates_no_rule(session: Session, days: Days) -> None:
    assert faults(session) == []


def test_an_item_refunded_before_its_enrichment_ends_violates_no_rule(session: Session, days: Days) -> None:
    contact_id = contact_of(session, an_enrichment(session, days.other, "new", over=False))
    address = session.scalars(select(Email).where(Email.contact_id == contact_id)).one()

    refunded = a_refund(session, days.other, session.get_one(Contact, contact_id), address)

    assert (refunded, figures(session, days.other)) == (2, (3, 4, -2))
    assert faults(session) == []


def contact_of(session: Session, job_id: str) -> str:
    return session.scalars(select(Reveal.contact_id).where(Reveal.job_id == job_id)).one()
