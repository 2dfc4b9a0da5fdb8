from __future__ import annotations

import pytest
from jobs_support import NOW

from app.domain.findings import EmailStatus, FoundEmail, Source, SourceKind
from workers.resolve.provider_call import with_address_reasons

SOURCE = Source("one", SourceKind.PROVIDER, NOW)


def found(address: str, status: EmailStatus = EmailStatus.VALID, reasons: tuple[str, ...] = ()) -> FoundEmail:
    return FoundEmail(email=address, type="work", status=status, source=SOURCE, reasons=reasons)


def test_a_plain_address_gets_no_reasons() -> None:
    plain = found("ada@acme.com")

    assert with_address_reasons(plain) == plain


@pytest.mark.parametrize(
    ("address", "reason"),
    [("info@acme.com", "role"), ("ada@gmail.com", "webmail"), ("ada@mailinator.com", "disposable")],
)
def test_the_reasons_of_an_address_are_added(address: str, reason: str) -> None:
    assert with_address_reasons(found(address)).reasons == (reason,)


def test_existing_reasons_are_kept_without_duplicates() -> None:
    assert with_address_reasons(found("info@acme.com", reasons=("guessed", "role"))).reasons == (
        "guessed",
        "role",
    )


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
def test_a_disposable_address_is_at_best_risky(before: EmailStatus, after: EmailStatus) -> None:
    assert with_address_reasons(found("ada@mailinator.com", before)).status is after


@pytest.mark.parametrize("address", ["info@acme.com", "ada@gmail.com"])
def test_a_role_or_webmail_address_keeps_the_status_of_its_source(address: str) -> None:
    assert with_address_reasons(found(address)).status is EmailStatus.VALID
