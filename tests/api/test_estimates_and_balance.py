"""An estimate says in words what the request costs, and whether that is more than the workspace has."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import update
from users_support import SignedInUser

from app.engine.accounts.workspaces import Workspace

ENRICHMENT = (
    "/api/ext/enrichment-request",
    {
        "entity": "person",
        "items": [{"subject": {"full_name": f"Ada {name}", "company_domain": "acme.com"}} for name in "AB"],
        "fields": ["email"],
    },
)
VERIFICATION = ("/api/verifications", {"values": ["ada@acme.com", "bob@acme.com"]})
SEARCH = ("/api/people-searches", {"company_domain": "unknown.example", "limit": 2})
ESTIMATES = pytest.mark.parametrize(("path", "body"), [ENRICHMENT, VERIFICATION, SEARCH])


def estimate(user: SignedInUser, path: str, body: dict[str, Any], **values: Any) -> dict[str, Any]:
    """Return the estimate for a workspace with these values."""
    with user.database.transaction() as session:
        session.execute(update(Workspace).values(**values))
    response = user.client.post(path, json=body | {"dry_run": True}, headers=user.headers)
    found: dict[str, Any] = response.get_json()["estimate"]
    return found


@ESTIMATES
@pytest.mark.parametrize(("available", "exceeds"), [(1, True), (2, False)])
def test_an_estimate_says_whether_it_exceeds_the_balance(
    user: SignedInUser, path: str, body: dict[str, Any], available: int, *, exceeds: bool
) -> None:
    found = estimate(user, path, body, available=available)

    assert (found["credits_max"], found["exceeds_balance"]) == (2, exceeds)


@ESTIMATES
def test_whoever_may_not_see_costs_is_not_told_the_balance(
    user: SignedInUser, path: str, body: dict[str, Any]
) -> None:
    found = estimate(user, path, body, available=1, denied_to_members=["see_costs"])

    assert (found["credits_max"], found["exceeds_balance"]) == (2, None)


@pytest.mark.parametrize(
    ("path", "body", "summary"),
    [
        (*ENRICHMENT, "2 Personen: 2 zu kaufen für höchstens 2 Credits"),
        (*VERIFICATION, "2 Adressen zu prüfen für höchstens 2 Credits, 0 Nummern kostenlos"),
        (*SEARCH, "0 Personen kostenlos gezeigt, höchstens 2 zu finden für höchstens 2 Credits"),
    ],
)
def test_an_estimate_is_in_the_language_of_the_request(
    user: SignedInUser, path: str, body: dict[str, Any], summary: str
) -> None:
    headers = user.headers | {"Accept-Language": "de-AT, en;q=0.5"}

    response = user.client.post(path, json=body | {"dry_run": True}, headers=headers)

    assert response.get_json()["estimate"]["summary"] == summary
    assert response.headers["Content-Language"] == "de"
    assert "Accept-Language" in response.headers["Vary"]
