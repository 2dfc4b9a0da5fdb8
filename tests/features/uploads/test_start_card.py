"""The uploads on the start page: those that run first, with their progress."""

from __future__ import annotations

from apiflask import APIFlask
from page_support import Visitor
from users_support import SignedInUser, create_user

from app.features.uploads import uploads
from app.features.uploads.tables import Upload, UploadStatus
from app.infra import clock


def test_a_running_upload_is_shown_with_its_progress_before_those_that_are_over(
    browser: Visitor, user: SignedInUser
) -> None:
    _upload(user, "running.csv", UploadStatus.RUNNING, done=40)
    _upload(user, "over.csv", UploadStatus.FINISHED, done=100)

    page = browser.open("/").text

    assert '<progress value="40" max="100" aria-label="Progress of running.csv">' in page
    assert page.index("running.csv") < page.index("over.csv")
    assert page.count("<progress") == 1


def test_uploads_of_others_are_not_shown(app: APIFlask, browser: Visitor) -> None:
    _upload(create_user(app, email="eve@babbage.example"), "theirs.csv", UploadStatus.RUNNING, done=1)

    assert "theirs.csv" not in browser.open("/").text


def _upload(user: SignedInUser, name: str, status: UploadStatus, *, done: int) -> Upload:
    with user.database.transaction() as session:
        upload = uploads.create(
            session,
            workspace_id=user.workspace_id,
            account_id=user.account_id,
            api_key_id=None,
            file_name=name,
            content=b"Name\nAda\n",
            now=clock.now(),
        )
        upload.status, upload.outcomes = status.value, {"found": done}
        upload.estimate = {"people": 100, "choices": []}
        return upload
