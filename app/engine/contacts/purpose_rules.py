"""The purpose rule of the sessions of a database: for whose values a purpose must be stated."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from app.domain.purposes import NO_RULE, PurposeRule

_INFO = "purpose_rule"


def session_info(rule: PurposeRule) -> dict[str, Any]:
    """Return what the sessions of a database carry so that they disclose values by this rule."""
    return {_INFO: rule}


def rule_of(session: Session) -> PurposeRule:
    """Return the rule of the session's database."""
    rule: PurposeRule = session.info.get(_INFO, NO_RULE)
    return rule
