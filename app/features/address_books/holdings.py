"""What address books hold about people, and the files that are encrypted until their people are stored."""

from __future__ import annotations

from app.engine.privacy.holdings import EncryptedAgain, Holdings
from app.features.address_books import personal_data, readings
from app.features.address_books.files import FILES
from app.features.address_books.tables import AddressBook, AddressBookFile, AddressBookPerson
from app.infra.database.session import Session


def _encrypt_next(session: Session) -> EncryptedAgain:
    values = FILES.encrypt_next(session)
    return EncryptedAgain(values, not FILES.is_any_outdated(session))


HOLDINGS = Holdings(
    find={AddressBookPerson.__tablename__: personal_data.find},
    texts=((AddressBookPerson, ("person",)), (AddressBook, ("title",))),
    await_writers=readings.await_writers,
    encrypt_next={AddressBookFile.__tablename__: _encrypt_next},
)
