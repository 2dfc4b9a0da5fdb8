"""The interface of a CRM: how a workspace connects it, the requests of a push, and those that read people.

A vendor builds requests and reads responses. The function that sends them is passed in, so that this package
can be imported by the API, which never calls a vendor, and by the workers, which do. `mapping` is always the
workspace's: the property of each field.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Self, TypeVar
from urllib.parse import quote

from app.domain.messages import Message
from app.features.crm.index.crm_people import RecordKind
from app.features.crm.settings import CrmAccess
from app.features.crm.vendors.errors import NOT_ACCEPTED, AccessRefused, Rejected, Throttled, Unreachable
from app.features.crm.vendors.exchange import (
    FORBIDDEN,
    NO_CONTENT,
    OK,
    REQUEST_TIMEOUT,
    SERVER_ERROR,
    TOO_MANY,
    UNAUTHORIZED,
    Response,
    Send,
)
from app.features.crm.vendors.members import MemberLists
from app.features.crm.vendors.person import CompanyRecord, CrmField, CrmRecord, Employer, Person, Wanted
from app.features.crm.vendors.properties import Property
from app.features.crm.vendors.reading import Page

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class OAuth:
    """The OAuth 2.0 endpoints of a vendor: a URL for the browser, and the path of the token endpoint.

    `server` is the address of the token endpoint if it is not the API's. Without `scopes`, those of the
    client apply. `parameters` are further ones of the URL.
    """

    authorize_url: str
    token_path: str
    scopes: tuple[str, ...]
    server: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)


class Crm:
    """Base class of the vendors.

    `creates_leads` states whether new people may be leads. `mapping` is the default property of each field.
    `company_property` is the property that holds the id of the company's record, for CRMs where the company
    is not a text. `needs_url` states whether each workspace has an address of its own, as with self-hosted
    CRMs. `calls_per_minute` is the rate at which it is called. `key_help` says where a token is found,
    `key_name` is what the CRM calls it in a sentence. `property_name` is the regular expression of the names
    of properties.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    api_url: ClassVar[str] = ""
    needs_url: ClassVar[bool] = False
    takes_token: ClassVar[bool] = True
    key_help: ClassVar[str] = ""
    key_name: ClassVar[str] = Message("the token")
    calls_per_minute: ClassVar[int]
    member_lists: ClassVar[MemberLists]
    lead_prefix: ClassVar[str | None] = None
    creates_leads: ClassVar[bool] = False
    mapping: ClassVar[Mapping[CrmField, str]]
    company_property: ClassVar[str | None] = None
    property_name: ClassVar[str] = r"[A-Za-z][A-Za-z0-9_]{0,99}(\.[A-Za-z][A-Za-z0-9_]{0,99})?"

    @classmethod
    def record_id(cls, kind: RecordKind, crm_id: str) -> str:
        """Return the id by which `get` and `update` know a record that was read."""
        return f"{cls.lead_prefix or ''}{crm_id}" if kind is RecordKind.LEAD else crm_id

    def __init__(self, access: CrmAccess) -> None:
        self.access = access
        self.new_people = RecordKind.CONTACT
        self.base_url = (access.base_url or self.api_url).rstrip("/")

    @property
    def oauth(self) -> OAuth | None:
        """Return the OAuth endpoints; None if the vendor has none."""
        return None

    @property
    def offers_oauth(self) -> bool:
        """Return whether the operator has registered an OAuth client at the vendor."""
        return bool(self.oauth and self.access.client_id and self.access.client_secret)

    def authentication(
        self,
        token: str,
        *,
        is_granted: bool,  # noqa: ARG002 -- for subclasses
    ) -> dict[str, str]:
        """Return the header with the token; `is_granted` states whether it was issued by OAuth."""
        return {"Authorization": f"Bearer {token}"}

    def is_token_refused(self, response: Response) -> bool:
        """Return whether a new token may be accepted instead of the one that was sent."""
        return response.status == UNAUTHORIZED

    def for_turn(self, new_people: RecordKind = RecordKind.CONTACT) -> Self:
        """Return the CRM for one turn with one connection, whose properties it may remember.

        `new_people` is what is created of people whom the CRM does not have.
        """
        turn = type(self)(self.access)
        turn.new_people = new_people
        return turn

    def record_url(
        self, base_url: str | None, account: str | None, kind: RecordKind, crm_id: str
    ) -> str | None:
        """Return the https URL of a record's page, for a browser; None if it is not known.

        `base_url` and `account` are those of the connection.
        """
        raise NotImplementedError

    def company_url(
        self,
        base_url: str | None,  # noqa: ARG002 -- for subclasses
        account: str | None,  # noqa: ARG002 -- likewise
        company_id: str,  # noqa: ARG002 -- likewise
    ) -> str | None:
        """Return the https URL of a company's page, as `record_url`; None if it is not known."""
        return None

    def check(self, send: Send) -> None:
        """Make a cheap request that fails unless people can be read."""
        raise NotImplementedError

    def properties(self, send: Send) -> list[Property]:
        """Return the properties of people that can be mapped, or have a constant value.

        Raises:
            CrmError: the CRM did not do what was asked, such as without a permission.

        """
        raise NotImplementedError

    def account(self, send: Send, token: str) -> str | None:
        """Return the id of the account to which the token belongs; None if the CRM does not say it."""
        raise NotImplementedError

    def granted_account(self, grant: Mapping[str, Any]) -> str | None:  # noqa: ARG002 -- for subclasses
        """Return the id of the account that the response of the token endpoint names, or None."""
        return None

    def granted_url(self, grant: Mapping[str, Any]) -> str:  # noqa: ARG002 -- for subclasses
        """Return the address of the API that the response of the token endpoint names, or nothing."""
        return ""

    def changed(
        self, send: Send, mapping: Mapping[str, str], *, since: datetime | None, position: str | None
    ) -> Page:
        """Return a page of the people who were changed since then, by the CRM's clock; of all without a time.

        `position` is the one of the page before. Paging loses nobody who is not changed meanwhile, and those
        who are have a later change.

        Raises:
            CrmError: the CRM did not do what was asked.

        """
        raise NotImplementedError

    def find(self, send: Send, mapping: Mapping[str, str], person: Person) -> CrmRecord | None:
        """Return the record that has an address of the person, or None."""
        raise NotImplementedError

    def get(self, send: Send, mapping: Mapping[str, str], record_id: str) -> CrmRecord | None:
        """Return the person with this id, or None if it was deleted."""
        raise NotImplementedError

    def wanted(
        self,
        send: Send,  # noqa: ARG002 -- for subclasses
        mapping: Mapping[str, str],
        person: Person,
        record: CrmRecord | None,  # noqa: ARG002 -- for subclasses
    ) -> Wanted:
        """Return the values to write to the record, or to a new one; a company is there by its name."""
        return Wanted(
            {
                name: person.values[our_field]
                for our_field, name in mapping.items()
                if our_field in person.values
            }
        )

    def create(self, send: Send, values: Mapping[str, str]) -> CrmRecord:
        """Create the person; return the record with the values as the CRM stored them, where it says so.

        Raises:
            Duplicate: the person exists.

        """
        raise NotImplementedError

    def update(self, send: Send, record_id: str, values: Mapping[str, str]) -> CrmRecord:
        """Write these properties and no others; return them as the CRM stored them, where it says so."""
        raise NotImplementedError

    def is_in_trash(self, send: Send, person: Person) -> bool:  # noqa: ARG002 -- for subclasses
        """Return whether the person was deleted, but not for good."""
        return False

    def find_company(self, send: Send, employer: Employer) -> str | None:  # noqa: ARG002 -- for subclasses
        """Return the id of the company's record, or None."""
        return None

    def find_companies(self, send: Send, employer: Employer) -> list[CompanyRecord]:
        """Return the records that may be the company's, the most likely one first."""
        found = self.find_company(send, employer)
        return [] if found is None else [CompanyRecord(found, "")]

    def create_company(self, send: Send, employer: Employer) -> str:
        """Create the company's record and return its id.

        Raises:
            Duplicate: the company exists.

        """
        raise NotImplementedError

    def is_company_in_trash(self, send: Send, employer: Employer) -> bool:  # noqa: ARG002 -- for subclasses
        """Return whether the company was deleted, but not for good."""
        return False

    @staticmethod
    def page_url(base_url: str, *path: str) -> str | None:
        """Return the URL of a page of the CRM; None if its address is not https."""
        if not base_url.startswith("https://"):
            return None
        return "/".join([base_url.rstrip("/"), *(quote(part, safe="") for part in path)])

    @staticmethod
    def optional(search: Callable[[], list[T]]) -> list[T]:
        """Return what a search finds; nothing if the CRM does not offer it, so that the push goes on."""
        try:
            return search()
        except Rejected:
            return []

    def is_named(self, name: str, complaint: str) -> bool:
        """Return whether the CRM means this property by the name in its complaint."""
        return name == complaint

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
            raise AccessRefused(NOT_ACCEPTED)
        if response.status == FORBIDDEN:
            raise AccessRefused("forbidden")
        if response.status == TOO_MANY:
            raise Throttled(response.retry_after)
        if response.status >= SERVER_ERROR or response.status == REQUEST_TIMEOUT:
            raise Unreachable(f"http_{response.status}")
        raise Rejected(f"http_{response.status}")
