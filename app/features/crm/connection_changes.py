"""What admins do with the CRM connections of their workspace, through the API and the pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, NamedTuple

from app.domain.errors import FieldError, InvalidValue, ValidationFailed
from app.domain.messages import Message
from app.features.crm import connections, credential_checks, mapping, properties
from app.features.crm.connections import ConnectionStatus, Credentials, CrmConnection
from app.features.crm.index import crm_index
from app.features.crm.index.crm_people import RecordKind
from app.features.crm.schemas import NewConnection, crm_named
from app.infra.database import database_clock
from app.infra.database.session import Session
from app.infra.telemetry.log import log
from app.web import admission
from app.web.bodies.idempotency_header import begin, finish, is_replay, release
from app.web.sign_in.admins import admin_caller


class _Former(NamedTuple):
    """The encrypted credentials before a change, and when the CRM accepted them last."""

    credentials: bytes
    checked_at: datetime | None


def create(new: NewConnection) -> tuple[CrmConnection, bool]:
    """Connect a CRM with a token; return the connection, and whether the request is a replay.

    If a worker finds out in time that the token or the host is wrong, nothing is stored.

    Raises:
        ValidationFailed: the workspace has too many, or the CRM does not accept the token or the mapping.

    """
    with admission.transaction() as session:
        admin = admin_caller(session)
        now = database_clock.value(session)
        reference = begin(session, now=now)
        if reference:
            return connections.get(session, admin.workspace_id, reference), True
        connection = connections.create(
            session,
            admin.workspace_id,
            vendor=new.vendor,
            base_url=new.base_url,
            credentials=Credentials(token=new.token),
            mapping=new.mapping,
            account_id=admin.account_id,
            now=now,
        )
        connection.constants = new.constants
        finish(session, connection.id)
    connection = credential_checks.awaited(connection)
    _require_accepted(connection)
    _require_writable(connection)
    log.info("crm connected", account=admin.account_id, connection=connection.id, crm=connection.vendor)
    return connection, False


def change(connection_id: str, changes: Mapping[str, Any]) -> tuple[CrmConnection, bool]:
    """Change what is written, or the token (see `ConnectionChangeSchema`), and have the credentials checked.

    Returns the connection, and whether the request is a replay.

    A new token that a worker finds out in time to be wrong is not kept.

    Raises:
        ValidationFailed: a property of the mapping is not valid, or the CRM does not accept the token.

    """
    with admission.transaction() as session:
        admin = admin_caller(session)
        connection = connections.get(session, admin.workspace_id, connection_id, lock=True)
        now = database_clock.value(session)
        if is_replay(session, connection_id, now=now):
            return connection, True
        former = _Former(connection.credentials, connection.checked_at)
        if "mapping" in changes or "constants" in changes:
            chosen = changes.get("mapping", connection.mapping)
            _change_mapping(session, connection, chosen, changes.get("constants", connection.constants))
        if "new_people" in changes:
            _create_as(session, connection, changes["new_people"], now=now)
        if "excluded_stages" in changes:
            stages = list(dict.fromkeys(changes["excluded_stages"]))
            connections.exclude_stages(session, connection, stages, account_id=admin.account_id, now=now)
        if "token" in changes:
            credentials = Credentials(token=changes["token"])
            connections.replace_credentials(session, connection, credentials, now=now)
        else:
            connections.check(session, connection, now=now)
    if "token" in changes:
        connection = credential_checks.awaited(connection)
        if connection.status == ConnectionStatus.RECONNECT:
            _require_accepted(connection, former)
    log.info("crm connection changed", account=admin.account_id, connection=connection_id)
    return connection, False


def change_mapping(
    connection_id: str, chosen: Mapping[str, str], constants: Mapping[str, str], new_people: RecordKind
) -> None:
    """Change the mapping, the constants, and as what new people are created.

    Raises:
        ValidationFailed: a property of them is not valid.

    """
    with admission.transaction() as session:
        admin = admin_caller(session)
        connection = connections.get(session, admin.workspace_id, connection_id, lock=True)
        _change_mapping(session, connection, chosen, constants)
        _create_as(session, connection, new_people, now=database_clock.value(session))
    log.info("crm connection changed", account=admin.account_id, connection=connection_id)


def exclude_stages(connection_id: str, stages: Sequence[str]) -> None:
    """Exclude whoever has a record with one of these stages in the CRM."""
    with admission.transaction() as session:
        admin = admin_caller(session)
        connection = connections.get(session, admin.workspace_id, connection_id, lock=True)
        now = database_clock.value(session)
        connections.exclude_stages(session, connection, stages, account_id=admin.account_id, now=now)
    log.info("crm connection changed", account=admin.account_id, connection=connection_id)


def delete(connection_id: str) -> None:
    """Disconnect the CRM; what was pushed to it stays there.

    Its people may be a million, whose deletion takes longer than a transaction may.
    """
    with admission.transaction() as session:
        admin = admin_caller(session)
        connections.stop_reading(
            session, connections.get(session, admin.workspace_id, connection_id, lock=True)
        )
    while _forget_some(connection_id):
        pass
    with admission.transaction() as session:
        admin = admin_caller(session)
        connections.delete(session, admin.workspace_id, connection_id)
    log.info("crm disconnected", account=admin.account_id, connection=connection_id)


def _require_accepted(checked: CrmConnection, former: _Former | None = None) -> None:
    """Return if nothing is known to be wrong with the credentials, or they were replaced meanwhile.

    Raises:
        ValidationFailed: what is wrong; the connection is deleted, or has its former credentials again.

    """
    error = credential_checks.refusal(crm_named(checked.vendor), checked)
    if error is None:
        return
    with admission.transaction() as session:
        connection = connections.get(session, checked.workspace_id, checked.id, lock=True)
        if connection.credentials != checked.credentials:
            return
        if former is None:
            connections.delete(session, connection.workspace_id, connection.id)
        else:
            now = database_clock.value(session)
            connections.restore_credentials(
                session, connection, former.credentials, checked_at=former.checked_at, now=now
            )
        release(session)
    raise ValidationFailed(errors=(error,))


def _require_writable(new: CrmConnection) -> None:
    """Return if the CRM has the properties of a new connection, as far as they are known.

    Raises:
        ValidationFailed: it has not; the connection is deleted.

    """
    with admission.transaction() as session:
        errors = _mistakes(session, new, dict(crm_named(new.vendor).mapping), {})
        if errors:
            connections.delete(session, new.workspace_id, new.id)
            release(session)
    if errors:
        raise ValidationFailed(errors=errors)


def _forget_some(connection_id: str) -> int:
    with admission.transaction() as session:
        return crm_index.forget_some(session, connection_id)


def _change_mapping(
    session: Session, connection: CrmConnection, chosen: Mapping[str, str], constants: Mapping[str, str]
) -> None:
    crm, former = crm_named(connection.vendor), (connection.mapping, connection.constants)
    with _at("/mapping"):
        valid = mapping.validate(crm, chosen)
    with _at("/constants"):
        valid_constants = mapping.validate_constants(crm, valid, constants)
    connections.change_mapping(session, connection, valid, valid_constants)
    errors = _mistakes(session, connection, *former)
    if errors:
        raise ValidationFailed(errors=errors)


def _create_as(session: Session, connection: CrmConnection, new_people: RecordKind, *, now: datetime) -> None:
    """Change as what new people are created; with the check, the properties of these records are read."""
    if new_people == connection.new_people:
        return
    crm = crm_named(connection.vendor)
    if not crm.creates_leads:
        detail = Message("New people can be contacts only in {title}.", title=crm.title)
        raise ValidationFailed(errors=(FieldError("/new_people", detail),))
    connections.create_as(session, connection, new_people)
    connections.check(session, connection, now=now)


def _mistakes(
    session: Session, connection: CrmConnection, mapped: Mapping[Any, str], constants: Mapping[str, str]
) -> tuple[FieldError, ...]:
    """Return what the CRM does not accept of a connection's entries, but for these, which it had before."""
    return tuple(
        mapping.mistakes(
            crm_named(connection.vendor),
            properties.of_connection(session, connection),
            dict(connection.mapping.items() - mapped.items()),
            dict(connection.constants.items() - constants.items()),
        )
    )


@contextmanager
def _at(pointer: str) -> Iterator[None]:
    try:
        yield
    except InvalidValue as error:
        raise ValidationFailed(errors=(FieldError(pointer, str(error)),)) from error
