"""The purposes that callers state: only those of the settings are accepted."""

from __future__ import annotations

from app.domain.errors import FieldError, ValidationFailed
from app.web.services import services


def check(purpose: str | None) -> None:
    """Raise ValidationFailed if the purpose is not one of those that can be stated; None is accepted."""
    allowed = services().settings.purposes
    if purpose is not None and purpose not in allowed:
        error = FieldError("/purpose", f"It must be one of: {', '.join(allowed)}.")
        raise ValidationFailed(errors=(error,))
