"""The purposes that callers state: only purposes in the settings are accepted, and one may be required."""

from __future__ import annotations

from app.domain.errors import FieldError, PurposeRequired, ValidationFailed
from app.domain.messages import Message
from app.web.services import services


def check(purpose: str | None) -> PurposeRequired | None:
    """Return why a request that is not free is refused: a purpose is required for everyone, and it has none.

    If it is required for some countries only, the worker decides, because it knows the person's country.

    Raises:
        ValidationFailed: the purpose is not one that can be stated.

    """
    rule = services().settings.purpose_rule
    if purpose is None:
        return rule.refusal() if rule.is_everywhere else None
    if purpose not in rule.allowed:
        error = FieldError("/purpose", Message("It must be one of: {names}.", names=", ".join(rule.allowed)))
        raise ValidationFailed(errors=(error,))
    return None
