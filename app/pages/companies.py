"""/companies/<id or website>: a company, how its addresses are written, and the people whom we know there."""

from __future__ import annotations

from flask import Response, request

from app.domain.email_patterns.patterns import LearnedPattern
from app.domain.errors import NotFound
from app.domain.ids import is_id
from app.domain.messages import Message
from app.engine.lookups import company_pages
from app.web.languages.texts import gettext, translate
from app.web.pages.access import signed_in
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.paging import ROWS
from app.web.pages.rendering import page
from app.web.rate_limits import Policy, limited
from app.web.services import services
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("companies_page", __name__)

_PARTS = {
    "{first}": (Message("first name"), "jane"),
    "{last}": (Message("last name"), "doe"),
    "{f}": (Message("first letter of the first name"), "j"),
    "{l}": (Message("first letter of the last name"), "d"),
}
_BETWEEN = {"}.{": Message("a dot"), "}-{": Message("a hyphen"), "}_{": Message("an underscore")}


@blueprint.get("/companies/<key>")
@signed_in
@limited(Policy.LOOKUP)
def one(key: str) -> Response:
    """Show a company and a page of its people; of one that is not stored, how its people are found."""
    app, workspace_id = services(), caller().workspace_id
    after = request.args.get("after", "")
    try:
        with app.bulkhead.db_slot(workspace_id), app.database.reading() as session:
            found = company_pages.read(
                session,
                workspace_id,
                key.replace("\0", ""),  # which PostgreSQL does not take in a text
                after=after if is_id(after, "con") else None,
                limit=ROWS,
                prices=app.settings.prices,
            )
    except NotFound:
        return page("company_unknown.html", 404, name="" if is_id(key, "com") else key)
    people = app.lookups.with_parts_of_people(workspace_id, found.people)
    return page(
        "company.html",
        found=found,
        company=found.company,
        people=people,
        pattern=found.pattern and in_words(found.pattern),
        example=found.pattern and example(found.pattern, found.company.domain or ""),
        most=company_pages.MOST_COUNTED,
    )


def in_words(learned: LearnedPattern) -> str:
    """Return the form of the addresses as people would say it, such as "first name, a dot, last name"."""
    parts = [translate(words) for token, (words, _) in _in_order(learned.pattern)]
    signs = (translate(words) for sign, words in _BETWEEN.items() if sign in learned.pattern)
    if sign := next(signs, None):
        return f", {sign}, ".join(parts)
    first, *rest = parts
    return gettext("{one} and {other}", one=first, other=", ".join(rest)) if rest else first


def example(learned: LearnedPattern, domain: str) -> str:
    """Return the address that Jane Doe would have."""
    text = learned.pattern
    for token, (_, letters) in _PARTS.items():
        text = text.replace(token, letters)
    return f"{text}@{domain}"


def _in_order(pattern: str) -> list[tuple[str, tuple[str, str]]]:
    used = [(token, part) for token, part in _PARTS.items() if token in pattern]
    return sorted(used, key=lambda each: pattern.index(each[0]))
