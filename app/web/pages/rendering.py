"""Rendering of pages: their layout, formats of dates and figures, and headers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from flask import Flask, Response, render_template, url_for
from jinja2 import StrictUndefined

from app.domain.errors import PermissionDenied
from app.domain.ids import is_id
from app.domain.kinds import KINDS
from app.domain.messages import Message
from app.domain.permissions import Permission
from app.infra.languages.catalogues import NAMES, catalogue
from app.web import costs
from app.web.languages import formats, negotiation, texts
from app.web.languages.template_texts import TemplateTexts
from app.web.pages import avatars, phone_texts, table_cells, value_words
from app.web.pages.access import is_signed_in, viewer
from app.web.pages.blueprint import protect
from app.web.pages.navigation import groups_for

STATIC = Path(__file__).parents[2] / "pages" / "static"
STYLESHEETS = (
    "tokens.css",
    "parts.css",
    "base.css",
    "layout.css",
    "forms.css",
    "content.css",
    "tables.css",
    "start.css",
    "sign_in.css",
)
"""The style sheets of every page, in order; one that only some pages need is linked in their block `head`."""
NONE = "\N{EN DASH}"
"""What a page shows for a value that is absent."""


def register(app: Flask) -> None:
    """Set up the templates: an undefined variable is an error, and filters format times and numbers."""
    app.jinja_env.undefined = StrictUndefined
    app.jinja_env.trim_blocks = True
    app.jinja_env.lstrip_blocks = True
    app.jinja_env.add_extension("jinja2.ext.i18n")
    app.jinja_env.add_extension(TemplateTexts)
    app.jinja_env.install_gettext_callables(  # type: ignore[attr-defined]
        _gettext, _ngettext, newstyle=True, pgettext=_pgettext
    )
    app.jinja_env.finalize = shown
    app.jinja_env.filters |= {
        "moment": moment,
        "minute": minute,
        "day": day,
        "figure": figure,
        "country": formats.country,
        "place": place,
        "headcount": headcount,
        "cost": cost,
        "signed": signed,
        "words": words,
        "kind": kind,
        "sentence": sentence,
        "source_name": source_name,
        "translated": texts.translate,  # what is no literal; `_()` would not escape it
        "stored": texts.translate_stored,  # sentences from the database
        "initials": avatars.initials,
        "avatar_color": avatars.color,
        "label_cells": table_cells.label,
        "email_status": value_words.email_status,
        "ranked": value_words.ranked,
        "verdict_words": value_words.verdict,
        "result_words": value_words.result,
        "provider_words": value_words.provider_result,
        "value_type": value_words.value_type,
        "line_type": line_type,
        "client_words": value_words.client,
        "role": value_words.role_words,
        "phone": phone_texts.readable,
    }
    app.jinja_env.globals["stylesheets"] = STYLESHEETS
    app.jinja_env.globals["static_url"] = static_url
    app.jinja_env.globals["may"] = may
    app.jinja_env.globals["refusal"] = refusal
    app.jinja_env.globals["language"] = negotiation.language
    app.jinja_env.globals["languages"] = NAMES
    app.jinja_env.globals["has_page"] = app.view_functions.__contains__


def page(template: str, status: int = 200, *, with_viewer: bool = True, **context: Any) -> Response:
    """Return a page in the layout; its header shows the viewer and the navigation, if signed in."""
    known = viewer() if with_viewer and is_signed_in() else None
    navigation = [] if known is None else groups_for(known)
    html = render_template(template, viewer=known, navigation=navigation, **context)
    return protect(negotiation.depends_on_language(Response(html, status=status, mimetype="text/html")))


def shown(value: object) -> object:
    """Return what an expression of a template shows: a message in the language of the request."""
    return texts.translate(value) if isinstance(value, Message) else value


def _gettext(text: str) -> str:
    return catalogue(negotiation.language()).gettext(text) if text else text


def _pgettext(context: str, text: str) -> str:
    return catalogue(negotiation.language()).pgettext(context, text)


def _ngettext(one: str, other: str, count: int) -> str:
    return catalogue(negotiation.language()).ngettext(one, other, count)


def go_to(endpoint: str, **values: Any) -> Response:
    """Return the redirect to a page after a form was processed, so that a reload does not send it again."""
    return go_to_path(url_for(endpoint, **values))


def go_to_path(path: str) -> Response:
    """Return the redirect to a path of this server."""
    return protect(Response(status=303, headers={"Location": path}))


def may(permission: str) -> bool:
    """Return whether the viewer has the permission of this name."""
    return is_signed_in() and viewer().may(permission)


def refusal(permission: str) -> str:
    """Return why an action is not offered, and who can change that."""
    return PermissionDenied.of(Permission(permission), of_key=False).detail


def moment(value: datetime | str | None) -> str:
    """Return a time to the minute in UTC, or a dash."""
    return NONE if value is None else formats.moment(_time(value))


def minute(value: datetime | str | None) -> str:
    """Return a time to the minute for a column that says it is in UTC, or a dash."""
    return NONE if value is None else formats.minute(_time(value))


def day(value: datetime | str | None) -> str:
    """Return the day of a time in UTC, or a dash."""
    return NONE if value is None else formats.day(_time(value))


def _time(value: datetime | str) -> datetime:
    return datetime.fromisoformat(value) if isinstance(value, str) else value


def figure(value: float | None) -> str:
    """Return a number with its thousands apart and without a fraction of 0, or a dash."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return NONE if value is None else formats.number(value)


def cost(value: float | None) -> str:
    """Return what something cost, in credits, or a dash for whoever may not see costs."""
    return NONE if costs.are_hidden() else figure(value)


def signed(value: int) -> str:
    """Return a change with its sign; no change is empty."""
    return f"{'+' if value > 0 else ''}{figure(value)}" if value else ""


def kind(value: str) -> str:
    """Return a kind of job as a person would name it; one that has no name here, as words."""
    return _gettext(KINDS[value].label) if value in KINDS else words(value)


def line_type(name: str | None) -> str:
    """Return what line a number has, or nothing if that is not known."""
    return texts.translate(value_words.LINE_TYPES.get(name or "", ""))


def place(location: Mapping[str, Any]) -> str:
    """Return the city and the country that are known, or a dash."""
    code = location.get("country")
    return ", ".join(filter(None, (location.get("city"), code and formats.country(code)))) or NONE


def headcount(size: str) -> str:
    """Return how many employees a company has as people read it, with a dash and thousands apart."""
    return re.sub(r"\d+", lambda found: figure(int(found[0])), size).replace("-", "\N{EN DASH}")


def sentence(text: str) -> str:
    """Return a text that begins with a capital letter."""
    return text[:1].upper() + text[1:]


def source_name(provider: str) -> str:
    """Return the name of a source in a receipt, instead of the id of an address book."""
    return _gettext("address book") if is_id(provider, "adb") else provider


def words(value: str | None) -> str:
    """Return a value of an enumeration as words, or a dash."""
    return NONE if value is None else _gettext(value.replace("_", " ").replace(".", " "))


@cache
def static_url(name: str) -> str:
    """Return the URL of a static file; it changes with the content, so that browsers may keep the file."""
    version = sha256((STATIC / name).read_bytes()).hexdigest()[:12]
    return f"/static/{name}?v={version}"
