"""Where a sign-in with a company account leads: to a page of this server, or to the extension."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from flask import request

from app.domain.errors import FieldError, ValidationFailed
from app.features.company_sign_in.codes import CHALLENGE
from app.web.pages.error_pages import local_path
from app.web.services import services

MAX_STATE = 200


@dataclass(frozen=True, slots=True)
class Target:
    """A page or, with `redirect_uri`, the extension, with its challenge and its state."""

    next_path: str = "/"
    redirect_uri: str = ""
    challenge: str = ""
    state: str = ""

    @classmethod
    def of_request(cls) -> Self:
        """Return the target that the query of this request names."""
        query = request.args
        if "redirect_uri" not in query:
            return cls(next_path=local_path(query.get("next", "/")))
        ids = services().settings.oidc_extension_ids
        if query["redirect_uri"] not in {f"https://{name}.chromiumapp.org/sign-in" for name in ids}:
            raise _invalid("redirect_uri", "Add the id of the extension to the setting OIDC_EXTENSION_IDS.")
        challenge, state = query.get("code_challenge", ""), query.get("state", "")
        if query.get("code_challenge_method") != "S256" or not CHALLENGE.fullmatch(challenge):
            raise _invalid("code_challenge", "Send the SHA-256 of the verifier, by the method S256.")
        if not 0 < len(state) <= MAX_STATE:
            raise _invalid("state", f"Send a random text of at most {MAX_STATE} characters.")
        return cls(redirect_uri=query["redirect_uri"], challenge=challenge, state=state)


def _invalid(name: str, detail: str) -> ValidationFailed:
    return ValidationFailed(errors=(FieldError(f"/{name}", detail),))
