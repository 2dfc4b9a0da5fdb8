"""What uploaded lists hold about people, and the files that are encrypted until their rows are stored."""

from __future__ import annotations

from app.engine.privacy.holdings import EncryptedAgain, Holdings
from app.features.uploads import erasure, files, personal_data
from app.features.uploads.tables import Upload, UploadFile, UploadRow
from app.infra.database.session import Session


def _encrypt_next(session: Session) -> EncryptedAgain:
    values = files.encrypt_next(session)
    return EncryptedAgain(values, not files.is_any_outdated(session))


HOLDINGS = Holdings(
    find={UploadRow.__tablename__: personal_data.find},
    sources=(personal_data.UPLOAD_ROWS,),
    texts=((UploadRow, ("cells", "subject")), (Upload, ("file_name",))),
    await_writers=erasure.await_writers,
    encrypt_next={UploadFile.__tablename__: _encrypt_next},
)
