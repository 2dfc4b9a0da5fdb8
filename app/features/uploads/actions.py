"""What members and programs do with uploads; the API and the pages share it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from flask import Response

from app.domain.audit_actions import Action
from app.domain.errors import FieldError, ValidationFailed
from app.domain.kinds import ADVANCE_UPLOAD, Queue
from app.domain.lists import verified_rows
from app.domain.lists.headers import upload_columns
from app.domain.messages import Message
from app.domain.permissions import Permission
from app.engine.contacts.saved import contact_lists
from app.engine.enrichments import skips
from app.engine.enrichments.skips import SkipRule
from app.engine.owned import owned_edits
from app.features.uploads import representations, result_files, results, uploads
from app.features.uploads.tables import Operation, Upload
from app.infra.database import database_clock
from app.infra.telemetry.log import log
from app.web import admission, costs, permissions, purposes
from app.web.bodies.downloads import as_file
from app.web.bodies.idempotency_header import begin, finish, is_replay
from app.web.bodies.received_files import ReceivedFile
from app.web.export_records import record_export
from app.web.languages import negotiation
from app.web.owned import owned_changes
from app.web.services import services
from app.web.sign_in.admins import reads_as_admin
from app.web.sign_in.auth import caller

LIST_BATCH = 500
NOBODY_TO_SKIP = Message(
    "A list to verify skips nobody; verdicts that you already have are repeated for free. Leave 'skip' out."
)
NAMES_NOBODY = Message(
    "No person can be named by these columns. Map a LinkedIn profile, an e-mail or a phone, "
    "or a name and a company or its domain."
)


def create(file: ReceivedFile, options: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """Store the file, and return the upload; whether an earlier request with the same key stored it.

    `options` say what to do with it, and how it is read, as far as that is not detected (`TableOptions`).

    Raises:
        UploadNotReady: the workspace has too many unfinished uploads.

    """
    permissions.require(Permission.START_UPLOADS)
    now = database_clock.now()
    with admission.transaction() as session:
        reference = begin(session, now=now, body={"sha256": sha256(file.content).hexdigest(), **options})
        if reference:
            earlier = uploads.get(session, caller().workspace_id, reference)
            return representations.describe(session, earlier), True
        upload = uploads.create(
            session,
            workspace_id=caller().workspace_id,
            account_id=caller().account_id,
            api_key_id=caller().key_id,
            file_name=file.name,
            content=file.content,
            table_options=options,
            now=now,
        )
        finish(session, upload.id)
        representation = representations.describe(session, upload)
    log.info("upload received", upload=upload.id, bytes=len(file.content))
    _wake(upload)
    return representation, False


def add_to_list(upload_id: str, list_name: str) -> tuple[str, int]:
    """Add the people whom the upload found to the list of this name; return its id, and how many were new."""
    workspace_id, added, row = caller().workspace_id, 0, 0
    while True:  # a transaction for each batch: the lock of the lists is held for a short time only
        with admission.transaction() as session:
            upload = uploads.get(session, workspace_id, upload_id)
            now = database_clock.value(session)
            contact_list, _ = contact_lists.ensure(session, workspace_id, list_name, now=now)
            found, following = results.contact_ids(session, upload, first=row, limit=LIST_BATCH)
            added += owned_edits.add_contacts(session, owned_changes.edit(now), contact_list.id, found)
            list_id = contact_list.id
        if following is None:
            return list_id, added
        row = following


def map_columns(upload_id: str, mapping: Mapping[str, Any]) -> dict[str, Any]:
    """Store a mapping (see `MappingSchema`), have the upload priced, and return it.

    Raises:
        UploadNotReady: as in `uploads.map_columns`.
        ValidationFailed: there are more or fewer fields than columns, or they identify no person.

    """
    with admission.transaction() as session:
        upload = uploads.locked(session, caller().workspace_id, upload_id)
        if upload.operation == Operation.ENRICH:
            permissions.require_phones(mapping["fields_"])
        _check_columns(upload, mapping["columns"])
        if "fresh" in mapping:
            upload.is_fresh = mapping["fresh"]
        if "country" in mapping:
            uploads.set_country(upload, mapping["country"])
        uploads.map_columns(session, upload, mapping["columns"], mapping["fields_"], now=database_clock.now())
        representation = representations.describe(session, upload)
    _wake(upload)
    return representation


def start(upload_id: str, body: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """Start or continue the upload for the caller (see `StartSchema`).

    Return it, and whether the request is a replay.

    Raises:
        UploadNotReady, PurposeRequired: as in `uploads.start`.
        ValidationFailed: the purpose is not one that can be stated.

    """
    permissions.require(Permission.START_UPLOADS)
    purposes.check(body["purpose"])
    now = database_clock.now()
    with admission.transaction() as session:
        upload = uploads.locked(session, caller().workspace_id, upload_id)
        if is_replay(session, upload_id, now=now):
            return representations.describe(session, upload), True
        permissions.require_phones(upload.fields)
        if skips.SKIP in body:
            _require_people(upload)
            uploads.set_skip(upload, SkipRule.parse(body))
        uploads.start(
            session,
            upload,
            account_id=caller().account_id,
            api_key_id=caller().key_id,
            max_credits=body["max_credits"],
            purpose=body["purpose"],
            revision=body["revision"],
            now=now,
        )
        representation = representations.describe(session, upload)
    log.info("upload started", upload=upload_id, account=caller().account_id)
    _wake(upload)
    return representation, False


def cancel(upload_id: str) -> tuple[dict[str, Any], bool]:
    """Cancel the upload; return it, and whether the request is a replay."""
    now = database_clock.now()
    with admission.transaction() as session:
        upload = uploads.locked(session, caller().workspace_id, upload_id)
        replayed = is_replay(session, upload_id, now=now)
        if not replayed:
            uploads.cancel(session, upload, now=now)
        return representations.describe(session, upload), replayed


def delete(upload_id: str) -> None:
    """Delete the upload with its rows and its result."""
    with admission.transaction() as session:
        uploads.remove(session, uploads.locked(session, caller().workspace_id, upload_id))
    log.info("upload deleted", upload=upload_id, account=caller().account_id)


def download_result(upload: Upload, file_format: str | None = None) -> Response:
    """Return the result as a file, by default as the list came; its rows are read while it is sent.

    Its notes are in the language of the account that downloads it.
    """
    language = negotiation.language_of_files()
    record_export(Action.EXPORT_UPLOAD, upload.id)
    file_format = file_format or result_files.format_of(upload)
    batches = results.batches(services().database, upload, as_admin=reads_as_admin())
    shown = map(results.without_costs, batches) if costs.are_hidden() else batches
    translated = (results.in_language(rows, language) for rows in shown)
    parts = result_files.parts(upload, file_format, translated)
    # Passed through, because Flask would read all parts to find out how long the response is.
    response = Response(
        parts, content_type=result_files.content_type(upload, file_format), direct_passthrough=True
    )
    response.headers["Content-Language"] = language
    response.vary.add("Accept-Language")
    return as_file(response, result_files.name_of(upload, file_format))


def _check_columns(upload: Upload, columns: Sequence[str | None]) -> None:
    if len(columns) != len(upload.header):
        detail: str = Message(
            "The list has {count} columns; give a field or null for each.", count=len(upload.header)
        )
    elif upload.operation == Operation.VERIFY:
        if (problem := verified_rows.problem_of(columns)) is None:
            return
        detail = problem
    elif not upload_columns.names_people(columns):
        detail = NAMES_NOBODY
    else:
        return
    raise ValidationFailed(detail, errors=(FieldError("/columns", detail),))


def _require_people(upload: Upload) -> None:
    if upload.operation == Operation.VERIFY:
        raise ValidationFailed(NOBODY_TO_SKIP, errors=(FieldError(f"/{skips.SKIP}", NOBODY_TO_SKIP),))


def _wake(upload: Upload) -> None:
    """Send the upload to the workers; if Redis is away, the sweep does."""
    services().publisher.push(ADVANCE_UPLOAD, Queue.UPKEEP, [upload.id])
