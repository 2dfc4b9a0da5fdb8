"""What a CRM answers instead of doing what was asked."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

NOT_ACCEPTED = "unauthorized"
"""The reason of an `AccessRefused` if the credentials are not accepted at all: no other request would be."""


class Refusal(StrEnum):
    """Why a CRM refused the value of a property."""

    NOT_AN_OPTION = "not_an_option"
    TOO_LONG = "too_long"
    INVALID = "invalid"
    UNKNOWN_PROPERTY = "unknown_property"
    READ_ONLY = "read_only"
    DUPLICATE = "duplicate"
    UNNAMED = "unnamed"
    """The CRM did not say which value it refused."""


_NONE: Mapping[str, Refusal] = MappingProxyType({})


class CrmError(Exception):
    """A vendor did not do what was asked; `reason` is a code without personal data."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class AccessRefused(CrmError):  # noqa: N818 -- it names what happened
    """The credentials are not accepted, or lack a permission: the workspace must connect again."""


class Throttled(CrmError):  # noqa: N818 -- it names what happened
    """The vendor's rate limit is reached; `seconds` is the wait that it asks for, None if it does not say."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        super().__init__("rate_limited")


class Unreachable(CrmError):  # noqa: N818 -- it names what happened
    """There was no usable response, or one that is not documented; the request may have been carried out."""


class Rejected(CrmError):  # noqa: N818 -- it names what happened
    """The vendor refused the request; `refused` has the properties it complained about, with the reason."""

    def __init__(self, reason: str, refused: Mapping[str, Refusal] = _NONE) -> None:
        self.refused = dict(refused)
        super().__init__(reason)


class Duplicate(CrmError):  # noqa: N818 -- it names what happened
    """The record exists already; `record_id` is its id if the vendor says it."""

    def __init__(self, record_id: str | None) -> None:
        self.record_id = record_id
        super().__init__("duplicate")
