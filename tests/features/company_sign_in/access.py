"""Who may use the endpoint and the pages of sign-in with company accounts."""

from __future__ import annotations

from typing import Any

from access_support import OPEN, Maker, open_to_all
from users_support import SignedInUser

from app.features.company_sign_in import codes
from app.infra import clock

VERIFIER = "v" * 43
ACCESS_RULES = {
    "POST /api/ext/company-login": open_to_all(
        "it hands out tokens for codes, which are random; failures are limited by network",
        body={"code": "{sign_in_code}", "code_verifier": VERIFIER},
    ),
}
WITHOUT_A_BODY: set[str] = set()
BY_ID: tuple[str, ...] = ()
PAGES = {"GET /sign-in/company": OPEN, "GET /sign-in/company/callback": OPEN}
RECORDED: tuple[Any, ...] = ()


def a_code(owner: SignedInUser, _contact_id: str) -> str:
    """Issue a code of a sign-in with the owner's company account."""
    with owner.database.transaction() as session:
        return codes.issue(session, owner.account_id, codes.challenge_of(VERIFIER), now=clock.now())


MAKERS: dict[str, Maker] = {"sign_in_code": a_code}
