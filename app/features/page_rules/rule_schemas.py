"""The schema of a file of page rules; docs/page-lists.md explains its fields."""

from __future__ import annotations

from typing import Any

from marshmallow import fields, validate

from app.web.schemas.fields import StrictSchema

MAX_VERSION = 2**53 - 1
"""The largest whole number that JavaScript reads exactly."""
READERS = ("items", "json-ld", "contact-links", "profile-links", "team", "addresses")
"""The ways to read a page; `items` reads the elements of the selectors, the others need none."""
NAME = r"[a-z][a-z0-9-]{0,39}\Z"
HOST = r"(?:\*|(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*(?:\.\*)?|[a-z0-9-]*\*[a-z0-9-]*(?:\.[a-z0-9-]+)+)\Z"
PATH = r"/[^\s?#]{0,200}\Z"
SELECTOR = r"[^\x00-\x1f{}]{1,300}\Z"


def texts(pattern: str, most: int, **options: Any) -> fields.List[Any]:
    """Return a list of at most so many texts that match the pattern."""
    matching = fields.String(validate=validate.Regexp(pattern))
    return fields.List(matching, validate=validate.Length(max=most), **options)


def words() -> fields.List[Any]:
    """Return a list of words that the reader compares texts of the page with."""
    return texts(r"[^\x00-\x1f]{1,80}\Z", 1000, required=True)


class FieldsSchema(StrictSchema):
    """The selectors of the fields of a person, in the element of the person; the first that matches counts.

    `.` is the element itself; `selector @attribute` reads an attribute instead of the visible text.
    """

    full_name = texts(SELECTOR, 20)
    title = texts(SELECTOR, 20)
    company_name = texts(SELECTOR, 20)
    location = texts(SELECTOR, 20)
    email = texts(SELECTOR, 20)
    phone = texts(SELECTOR, 20)
    link = texts(SELECTOR, 20)
    other_link = texts(SELECTOR, 20)


class RuleSchema(StrictSchema):
    """How people are read: `item` has the selectors of their elements, `except` of what is none.

    `within` limits the search to the last visible element of the first selector that has one. `own` is where
    the page shows the address of its user, who is left out. `lines` says what the lines after the name are.
    """

    name = fields.String(required=True, validate=validate.Regexp(NAME))
    kind = fields.String(validate=validate.OneOf(["list", "person"]))
    read = fields.String(validate=validate.OneOf(READERS))
    within = texts(SELECTOR, 20)
    item = texts(SELECTOR, 20)
    excepted = texts(SELECTOR, 20, data_key="except")
    own = texts(SELECTOR, 20)
    fields_ = fields.Nested(FieldsSchema, data_key="fields")
    lines = fields.List(
        fields.String(validate=validate.OneOf(["title", "company_name", "location"])),
        validate=validate.Length(max=3),
    )


class SiteSchema(RuleSchema):
    """The rule of a site: for pages whose host and path match a pattern, in which `*` is any text."""

    hosts = texts(HOST, 100, required=True)
    paths = texts(PATH, 100)


class WordsSchema(StrictSchema):
    """Words and phrases in several languages, by which names and titles are recognized and cleaned."""

    view_profile = words()
    members = words()
    badges = words()
    pronouns = words()
    titles = words()
    not_names = words()
    particles = words()
    roles = words()


class RulesSchema(StrictSchema):
    """A file of page rules. `off` has names of rules and patterns of hosts of which nothing is read.

    `apps` has the hosts of applications, which are no company's website: generic rules are not used there.
    """

    version = fields.Integer(required=True, strict=True, validate=validate.Range(min=1, max=MAX_VERSION))
    off = texts(rf"(?:{NAME}|{HOST})", 1000, required=True)
    apps = texts(HOST, 1000, required=True)
    sites = fields.List(fields.Nested(SiteSchema), required=True, validate=validate.Length(max=500))
    generic = fields.List(fields.Nested(RuleSchema), required=True, validate=validate.Length(max=50))
    words = fields.Nested(WordsSchema, required=True)
