"""Twenty's GraphQL API over the records of the fake, by a schema, so that queries are validated as there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Any

from graphql import GraphQLError, build_schema, graphql_sync

_RELATIONS = {"companies": "company {", "workspaceMembers": "accountOwner {"}
"""The beginning of the selection of a relation to each kind of records."""
Rows = Mapping[str, Mapping[str, Any]]

_SCHEMA = """
scalar DateTime
scalar RawJSONScalar
scalar UUID
enum OrderByDirection { AscNullsFirst AscNullsLast DescNullsFirst DescNullsLast }
input DateFilter { gt: DateTime gte: DateTime lt: DateTime lte: DateTime }
input PersonFilterInput { updatedAt: DateFilter }
input PersonOrderByInput { id: OrderByDirection updatedAt: OrderByDirection }
type FullName { firstName: String! lastName: String! }
type Emails { primaryEmail: String additionalEmails: RawJSONScalar }
type Phones {
  primaryPhoneNumber: String
  primaryPhoneCountryCode: String
  primaryPhoneCallingCode: String
  additionalPhones: RawJSONScalar
}
type Links { primaryLinkLabel: String primaryLinkUrl: String secondaryLinks: RawJSONScalar }
type WorkspaceMember { id: UUID! name: FullName }
type Company { id: UUID! name: String domainName: Links accountOwner: WorkspaceMember accountOwnerId: UUID }
type Person {
  id: UUID!
  createdAt: DateTime
  updatedAt: DateTime
  deletedAt: DateTime
  name: FullName
  emails: Emails
  phones: Phones
  jobTitle: String
  company: Company
  companyId: UUID
  %s
}
type PersonEdge { node: Person cursor: String! }
type PageInfo { hasNextPage: Boolean! endCursor: String }
type PersonConnection { edges: [PersonEdge!]! pageInfo: PageInfo! totalCount: Int }
type Query {
  people(
    filter: PersonFilterInput
    orderBy: [PersonOrderByInput]
    first: Int
    after: String
  ): PersonConnection!
}
"""


def answered(
    body: Mapping[str, Any],
    people: Rows,
    companies: Rows,
    members: Rows,
    *,
    fields: Mapping[str, str],
    unreadable: AbstractSet[str],
) -> dict[str, Any]:
    """Answer a query of people; `fields` are further ones of people, with their types.

    `unreadable` are the kinds of records and the fields that the key may not read: a query with any of them
    fails as a whole.
    """
    query = body["query"]

    def find(_info: object, **arguments: Any) -> dict[str, Any]:
        asked = {"people"} | {kind for kind, name in _RELATIONS.items() if name in query}
        if asked & unreadable:
            raise _denied("Entity performing the request does not have permission")
        for name in fields:
            if name in unreadable and re.search(rf"\b{name}\b", query):
                raise _denied(f'Permission denied: no permission to read field "{name}" on "person"')
        return _connection(people, companies, members, **arguments)

    own = " ".join(f"{name}: {kind}" for name, kind in fields.items())
    result = graphql_sync(
        build_schema(_SCHEMA % own), query, {"people": find}, variable_values=body["variables"]
    )
    formatted = dict(result.formatted)
    if any(error.path is None for error in result.errors or ()):
        formatted.pop("data")  # it was not executed
    return formatted


def failure(message: str, code: str, **members: Any) -> dict[str, Any]:
    """Return a response with an error; `data` is among the other members if the query was executed."""
    return {"errors": [{"message": message, "extensions": {"code": code}}], **members}


def _denied(message: str) -> GraphQLError:
    return GraphQLError(message, extensions={"code": "FORBIDDEN"})


def _connection(
    people: Rows,
    companies: Rows,
    members: Rows,
    *,
    first: int,
    orderBy: list[dict[str, str]],  # noqa: N803 -- Twenty's name
    filter: dict[str, Any] | None = None,  # noqa: A002 -- likewise
    after: str = "",
) -> dict[str, Any]:
    """List people in the order of one field and the id, after a cursor, which contains both."""
    [[name]] = orderBy
    since = datetime.fromisoformat(filter["updatedAt"]["gte"] if filter else "2000-01-01T00:00Z")
    rows = {
        f"{row[name] if name != 'id' else ''} {id_}": _person(row | {"id": id_}, companies, members)
        for id_, row in people.items()
        if not row.get("deletedAt") and datetime.fromisoformat(row["updatedAt"]) >= since
    }
    keys = sorted(key for key in rows if key > after)
    info = {"hasNextPage": len(keys) > first, "endCursor": keys[:first][-1] if keys else None}
    return {"edges": [{"node": rows[key], "cursor": key} for key in keys[:first]], "pageInfo": info}


def _person(row: Mapping[str, Any], companies: Rows, members: Rows) -> dict[str, Any]:
    """Return the person with the company and its account owner; null if they are in the trash."""
    company = companies.get(row.get("companyId", ""))
    if company is None or company.get("deletedAt"):
        return {**row, "company": None}
    owner = members.get(company.get("accountOwnerId", ""))
    return {**row, "company": {**company, "accountOwner": owner}}
