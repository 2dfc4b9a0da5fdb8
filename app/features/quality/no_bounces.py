"""Why a line of a bounce list is not reported."""

from __future__ import annotations

from enum import StrEnum


class NoBounce(StrEnum):
    """Why a line is not reported."""

    TEMPORARY = "This failure is temporary: the address may work later."
    REFUSED = "The mail was refused for another reason than the address, such as its content or its sender."
    UNWANTED = "This is a complaint or an unsubscription: the address works."
    NOT_SENT = (
        "The mail was not sent, as the address is on a list of the mail program. Report the bounce itself."
    )
    UNCLEAR = "It is not said why the mail failed."
    OTHER = "This is not a bounce."
