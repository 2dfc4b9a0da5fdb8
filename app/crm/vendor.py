"""The interface of a CRM: how a workspace connects it, and the requests that a push consists of.

A vendor builds requests and reads responses. The function that sends them is passed in, so that this package
can be imported by the API, which never calls a vendor, and by the workers, which do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, ClassVar, TypeAlias

from app.crm_settings import CrmAccess

OK = range(200, 300)
NO_CONTENT = 204
UNAUTHORIZED, FORBIDDEN, NOT_FOUND, CONFLICT, REQUEST_TIMEOUT, TOO_MANY = 401, 403, 404, 409, 408, 429
SERVER_ERROR = 500


class CrmField(StrEnum):
    """The fields of a contact that can be written to a CRM."""

    FIRST_NAME = "first_name"
    LAST_NAME = "last_name"
    EMAIL = "email"
    PHONE = "phone"
    TITLE = "title"
    COMPANY = "company"
    WEBSITE = "website"
    LINKEDIN_URL = "linkedin_url"
    COUNTRY = "country"
    LIST = "list"
    RECEIPT_LINK = "receipt_link"


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
    """The vendor refused the values; `properties` names those that it complained about."""

    def __init__(self, reason: str, properties: Sequence[str] = ()) -> None:
        self.properties = tuple(properties)
        super().__init__(reason)


class Duplicate(CrmError):  # noqa: N818 -- it names what happened
    """The record exists already; `record_id` is its id if the vendor says it."""

    def __init__(self, record_id: str | None) -> None:
        self.record_id = record_id
        super().__init__("duplicate")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request to a vendor's API; `body` is sent as JSON, `form` as a form."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    body: Mapping[str, Any] | None = None
    form: Mapping[str, str] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Response:
    """A vendor's response: `body` is its JSON, None without; `retry_after` is in seconds."""

    status: int
    body: Any = field(default=None, repr=False)
    retry_after: float | None = None

    @property
    def object(self) -> Mapping[str, Any]:
        """Return the JSON object; empty if the body is something else."""
        return self.body if isinstance(self.body, dict) else {}


Send: TypeAlias = Callable[[Request], Response]
"""Sends a request with the connection's credentials; raises `Unreachable` without a response."""


@dataclass(frozen=True, slots=True)
class CrmRecord:
    """A person in the CRM: its id, and the values of the requested properties, without empty ones."""

    id: str
    values: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)


@dataclass(frozen=True, slots=True)
class Employer:
    """The company of a person, for CRMs in which it is a record of its own."""

    name: str | None
    domain: str | None


@dataclass(frozen=True, slots=True)
class OAuth:
    """The OAuth 2.0 endpoints of a vendor: a URL for the browser, and the path of the token endpoint."""

    authorize_url: str
    token_path: str
    scopes: tuple[str, ...]


class Crm:
    """Base class of the vendors.

    `mapping` is the default property of each field. `company_property` is the property that holds the id of
    the company's record, for CRMs where the company is not a text. `needs_url` states whether each workspace
    has an address of its own, as with self-hosted CRMs. `calls_per_minute` is the rate at which it is called.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    api_url: ClassVar[str] = ""
    needs_url: ClassVar[bool] = False
    takes_token: ClassVar[bool] = True
    key_help: ClassVar[str] = ""
    calls_per_minute: ClassVar[int]
    mapping: ClassVar[Mapping[CrmField, str]]
    company_property: ClassVar[str | None] = None

    def __init__(self, access: CrmAccess) -> None:
        self.access = access
        self.base_url = (access.base_url or self.api_url).rstrip("/")

    @property
    def oauth(self) -> OAuth | None:
        """Return the OAuth endpoints; None if the vendor has none."""
        return None

    @property
    def offers_oauth(self) -> bool:
        """Return whether the operator has registered an OAuth client at the vendor."""
        return bool(self.oauth and self.access.client_id and self.access.client_secret)

    def check(self, send: Send) -> None:
        """Make a cheap request that fails unless people can be read."""
        raise NotImplementedError

    def find(self, send: Send, properties: Sequence[str], *, email: str) -> CrmRecord | None:
        """Return the person with this address, or None."""
        raise NotImplementedError

    def get(self, send: Send, properties: Sequence[str], *, record_id: str) -> CrmRecord | None:
        """Return the person with this id, or None if it was deleted."""
        raise NotImplementedError

    def create(self, send: Send, values: Mapping[str, str]) -> CrmRecord:
        """Create the person; return the record with the values as the CRM stored them, where it says so.

        Raises:
            Duplicate: the person exists.

        """
        raise NotImplementedError

    def update(self, send: Send, record_id: str, values: Mapping[str, str]) -> CrmRecord:
        """Write these properties and no others; return them as the CRM stored them, where it says so."""
        raise NotImplementedError

    def find_company(self, send: Send, employer: Employer) -> str | None:  # noqa: ARG002 -- for subclasses
        """Return the id of the company's record, or None."""
        return None

    def create_company(self, send: Send, employer: Employer) -> str:
        """Create the company's record and return its id."""
        raise NotImplementedError

    def raise_for_status(self, response: Response) -> Response:
        """Return the response if it is a success, else raise the error that its status stands for.

        Raises:
            AccessRefused: the status is 401 or 403.
            Throttled: it is 429.
            Unreachable: it is 408 or 5xx, or a success without JSON.
            Rejected: it is another one.

        """
        if response.status in OK:
            if response.status != NO_CONTENT and response.body is None:
                raise Unreachable("unexpected_response")  # not JSON: a page, or another server
            return response
        if response.status == UNAUTHORIZED:
            raise AccessRefused("unauthorized")
        if response.status == FORBIDDEN:
            raise AccessRefused("forbidden")
        if response.status == TOO_MANY:
            raise Throttled(response.retry_after)
        if response.status >= SERVER_ERROR or response.status == REQUEST_TIMEOUT:
            raise Unreachable(f"http_{response.status}")
        raise Rejected(f"http_{response.status}")


def text(value: object) -> str:
    """Return a value of the CRM as text; empty for null."""
    return "" if value is None else str(value)


def filled(values: Mapping[str, object]) -> dict[str, str]:
    """Return the values that are not empty, as texts."""
    return {name: text(value) for name, value in values.items() if text(value).strip()}
