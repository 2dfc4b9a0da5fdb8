from __future__ import annotations

import pytest
from jobs_support import NOW

from app.domain.findings import EmailStatus, FoundEmail, Source, SourceKind
from workers.resolve.verification import assess

SOURCE = Source("one", SourceKind.PROVIDER, NOW)


def found(address: str, status: EmailStatus = EmailStatus.VALID, reasons: tuple[str, ...] = ()) -> FoundEmail:
    return FoundEmail(email=address, type="work", status=status, source=SOURCE, reasons=reasons)


def test_of_a_plain_address_nothing_is_to_be_said() -> None:
    plain = found("ada@acme.com")

    assert assess(plain) == plain


@pytest.mark.parametrize(
    ("address", "reason"),
    [("info@acme.com", "role"), ("ada@gmail.com", "webmail"), ("ada@mailinator.com", "disposable")],
)
def test_what_an_address_tells_is_added(address: str, reason: str) -> None:
    assert assess(found(address)).reasons == (reason,)


def test_what_was_known_is_kept_and_said_once() -> None:
    assert assess(found("info@acme.com", reasons=("guessed", "role"))).reasons == ("guessed", "role")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (EmailStatus.VALID, EmailStatus.RISKY),
        (EmailStatus.ACCEPT_ALL, EmailStatus.RISKY),
        (EmailStatus.RISKY, EmailStatus.RISKY),
        (EmailStatus.INVALID, EmailStatus.INVALID),
        (EmailStatus.UNKNOWN, EmailStatus.UNKNOWN),
    ],
)
def test_a_throw_away_address_is_at_best_risky(before: EmailStatus, after: EmailStatus) -> None:
    assert assess(found("ada@mailinator.com", before)).status is after


@pytest.mark.parametrize("address", ["info@acme.com", "ada@gmail.com"])
def test_a_role_or_webmail_address_is_as_good_as_its_source_says(address: str) -> None:
    assert assess(found(address)).status is EmailStatus.VALID
