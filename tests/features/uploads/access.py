"""Who may use the endpoints and the pages of uploads."""

from __future__ import annotations

from typing import Any

from access_support import MEMBER, AccessRule, Maker, requires
from sqlalchemy import delete
from users_support import SignedInUser

from app.domain.callers import Scope
from app.features.uploads import uploads
from app.features.uploads.tables import Upload, UploadStatus
from app.infra import clock


def of_an_upload(*statuses: int, **extra: Any) -> AccessRule:
    return requires(
        Scope.ENRICH, *statuses, owned_by="the workspace's", code_if_missing="upload_not_found", **extra
    )


ACCESS_RULES = {
    "POST /api/uploads": requires(Scope.ENRICH, 201, file=b"Email\r\nada@acme.com\r\n"),
    "GET /api/uploads": requires(Scope.ENRICH, 200),
    "GET /api/uploads/<upload_id>": of_an_upload(200),
    "PUT /api/uploads/<upload_id>/mapping": of_an_upload(200, body={"columns": ["email"]}),
    "POST /api/uploads/<upload_id>/start": of_an_upload(200, body={"max_credits": 1}),
    "POST /api/uploads/<upload_id>/cancel": of_an_upload(200),
    "GET /api/uploads/<upload_id>/result": of_an_upload(200),
    "DELETE /api/uploads/<upload_id>": of_an_upload(204),
}
WITHOUT_A_BODY = {"POST /api/uploads/<upload_id>/cancel"}
BY_ID: tuple[str, ...] = ()
PAGES = {
    "GET /uploads": MEMBER,
    "POST /uploads": MEMBER,
    "GET /uploads/<upload_id>": MEMBER,
    "POST /uploads/<upload_id>/mapping": MEMBER,
    "POST /uploads/<upload_id>/start": MEMBER,
    "POST /uploads/<upload_id>/cancel": MEMBER,
    "POST /uploads/<upload_id>/delete": MEMBER,
    "POST /uploads/<upload_id>/list": MEMBER,
    "GET /uploads/<upload_id>/result": MEMBER,
}
RECORDED: tuple[Any, ...] = ()


def an_upload(owner: SignedInUser, _contact_id: str) -> str:
    """Create the only upload of the owner's workspace, whose file has been read; return its id."""
    with owner.database.transaction() as session:
        session.execute(delete(Upload).where(Upload.workspace_id == owner.workspace_id))
        upload = uploads.create(
            session,
            workspace_id=owner.workspace_id,
            account_id=owner.account_id,
            api_key_id=None,
            file_name="people.csv",
            content=b"",
            now=clock.now(),
        )
        upload.status, upload.header, upload.columns = UploadStatus.READY.value, ["Email"], ["email"]
        return upload.id


MAKERS: dict[str, Maker] = {"upload_id": an_upload}
