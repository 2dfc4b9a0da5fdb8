"""/: the start page, with links to the documentation."""

from __future__ import annotations

from apiflask import APIBlueprint
from apiflask.fields import String
from flask import Response

from app.api.http import html_pages
from app.api.http.body import json_response
from app.api.schemas.fields import ResponseSchema

blueprint = APIBlueprint("start", __name__, tag="Operations")

LINKS = {"docs": "/docs", "openapi": "/openapi.json", "problems": "/problems", "ready": "/readyz"}


class StartResponseSchema(ResponseSchema):
    """Paths of the documentation."""

    docs = String(required=True, metadata={"description": "The interactive documentation."})
    openapi = String(required=True, metadata={"description": "The OpenAPI document."})
    problems = String(required=True, metadata={"description": "All error codes and their remedies."})
    ready = String(required=True, metadata={"description": "The readiness check."})


@blueprint.get("/")
@blueprint.output(StartResponseSchema, description="Paths of the documentation; a page for a browser.")
def start() -> Response:
    """List the paths of the documentation."""
    if html_pages.prefers_html():
        return html_pages.page("Contact lookup", _PAGE)
    return html_pages.vary(json_response(LINKS))


_PAGE = """
<p>This is the server of a contact-lookup browser extension. It is running and serves a JSON API under
<code>/api</code>.</p>
<ul>
<li><a href="/docs">Documentation</a> of every endpoint, with a form to try it</li>
<li><a href="/problems">Problems</a>: every error code and its remedy</li>
<li><a href="/readyz">Readiness</a>: the state of database, queue and workers</li>
<li><a href="/openapi.json">OpenAPI document</a>, for generating clients</li>
</ul>
<h2>Next</h2>
<p><strong>To use it</strong>, install the extension and enter the address of this page as its server. The
administrator of the server creates your account.</p>
<p><strong>To administer it</strong>, create an account with <code>flask accounts create</code> and check the
installation with <code>flask doctor</code>. README.md has a tour of the API with curl.</p>
"""
