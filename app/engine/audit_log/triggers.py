"""The triggers of the audit log: the log refuses changes, and reveals record themselves.

A reveal records itself in the statement that stores it, so that none is stored without its entry and the
reveal costs no further statement. The reason of the entry is the purpose that was stated for the reveal. The
first migration creates the same triggers.
"""

from __future__ import annotations

from sqlalchemy import DDL, MetaData, event

_REVEAL = """
    INSERT INTO audit_log_pending (occurred_at, actor_kind, actor_id, action, object_id, workspace_id,
                                   reason, request_id, outcome)
    SELECT {now},
           CASE WHEN job.key_id IS NOT NULL THEN 'api_key' WHEN job.account_id IS NOT NULL THEN 'account'
                ELSE 'system' END,
           coalesce(job.key_id, job.account_id), 'reveal.' || NEW.field, NEW.contact_id, NEW.workspace_id,
           NEW.purpose, NEW.job_id, 'succeeded'
    FROM (SELECT 1 AS one) AS one LEFT JOIN jobs AS job ON job.id = NEW.job_id;
"""
_IS_SEALED = "EXISTS (SELECT 1 FROM audit_log WHERE pending_id = OLD.id)"
APPEND_ONLY = "audit_log_append_only"
"""The trigger that refuses deletions from the log; pruning replaces it for its own transaction."""
REFUSAL = "the audit log is append-only"

POSTGRESQL = (
    f"""
CREATE FUNCTION audit_log_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '{REFUSAL}';
END $$
""",
    f"""
CREATE FUNCTION audit_log_keep_pending() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT {_IS_SEALED} THEN
        RAISE EXCEPTION '{REFUSAL}';
    END IF;
    RETURN OLD;
END $$
""",
    f"""
CREATE FUNCTION audit_log_record_reveal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    {_REVEAL.format(now="statement_timestamp()")}
    RETURN NULL;
END $$
""",
    f"""
CREATE TRIGGER {APPEND_ONLY} BEFORE UPDATE OR DELETE ON audit_log
FOR EACH ROW EXECUTE FUNCTION audit_log_refuse()
""",
    """
CREATE TRIGGER audit_log_no_truncate BEFORE TRUNCATE ON audit_log
FOR EACH STATEMENT EXECUTE FUNCTION audit_log_refuse()
""",
    """
CREATE TRIGGER audit_log_pending_no_update BEFORE UPDATE ON audit_log_pending
FOR EACH ROW EXECUTE FUNCTION audit_log_refuse()
""",
    """
CREATE TRIGGER audit_log_pending_no_truncate BEFORE TRUNCATE ON audit_log_pending
FOR EACH STATEMENT EXECUTE FUNCTION audit_log_refuse()
""",
    """
CREATE TRIGGER audit_log_pending_until_sealed BEFORE DELETE ON audit_log_pending
FOR EACH ROW EXECUTE FUNCTION audit_log_keep_pending()
""",
    """
CREATE TRIGGER audit_log_reveal_bought AFTER INSERT ON reveals
FOR EACH ROW EXECUTE FUNCTION audit_log_record_reveal()
""",
    """
CREATE TRIGGER audit_log_reveal_bought_again AFTER UPDATE OF job_id ON reveals
FOR EACH ROW WHEN (NEW.job_id IS DISTINCT FROM OLD.job_id) EXECUTE FUNCTION audit_log_record_reveal()
""",
)
_SQLITE_NOW = "strftime('%Y-%m-%d %H:%M:%f', 'now') || '000'"
SQLITE_NO_DELETE = f"""
CREATE TRIGGER {APPEND_ONLY} BEFORE DELETE ON audit_log
BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END
"""
SQLITE = (
    SQLITE_NO_DELETE,
    f"""
CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log
BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END
""",
    f"""
CREATE TRIGGER audit_log_pending_no_update BEFORE UPDATE ON audit_log_pending
BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END
""",
    f"""
CREATE TRIGGER audit_log_pending_until_sealed BEFORE DELETE ON audit_log_pending WHEN NOT {_IS_SEALED}
BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END
""",
    f"""
CREATE TRIGGER audit_log_reveal_bought AFTER INSERT ON reveals
BEGIN {_REVEAL.format(now=_SQLITE_NOW)} END
""",
    f"""
CREATE TRIGGER audit_log_reveal_bought_again AFTER UPDATE OF job_id ON reveals
WHEN NEW.job_id IS NOT OLD.job_id
BEGIN {_REVEAL.format(now=_SQLITE_NOW)} END
""",
)


def register(metadata: MetaData) -> None:
    """Create the triggers after the tables of the metadata were created."""
    for dialect, statements in (("postgresql", POSTGRESQL), ("sqlite", SQLITE)):
        for statement in statements:
            ddl = DDL(statement.replace("%", "%%"))  # type: ignore[no-untyped-call]  # SQLAlchemy's
            trigger = ddl.execute_if(dialect=dialect)
            event.listen(metadata, "after_create", trigger)
