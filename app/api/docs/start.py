"""/: what this is, and where to go on."""

from __future__ import annotations

from apiflask import APIBlueprint, Schema
from apiflask.fields import String
from flask import Response

from app.api.http import html_pages
from app.api.http.responses import json_response

blueprint = APIBlueprint("start", __name__, tag="Operations")

PLACES = {"docs": "/docs", "openapi": "/openapi.json", "problems": "/problems", "ready": "/readyz"}


class StartOut(Schema):
    """Where to go on, as paths."""

    docs = String(required=True, metadata={"description": "The documentation, for people."})
    openapi = String(required=True, metadata={"description": "The OpenAPI document."})
    problems = String(required=True, metadata={"description": "Every error code, with what to do."})
    ready = String(required=True, metadata={"description": "Whether everything runs that is needed."})


@blueprint.get("/")
@blueprint.output(StartOut, description="Where to go on; a page, for a browser.")
def start() -> Response:
    """Say where to go on."""
    if html_pages.prefers_html():
        return html_pages.page("Contact lookup", _PAGE)
    return html_pages.vary(json_response(PLACES))


_PAGE = """
<p>This is the server of a contact-lookup browser extension. It is running, and speaks JSON under
<code>/api</code>.</p>
<ul>
<li><a href="/docs">Documentation</a> of every endpoint, to try in this browser</li>
<li><a href="/problems">Problems</a>: every error code, and what to do about it</li>
<li><a href="/readyz">Readiness</a>: whether database, queue and workers answer</li>
<li><a href="/openapi.json">OpenAPI document</a>, for generating clients</li>
</ul>
<h2>Next</h2>
<p><strong>To use it</strong>, install the extension and type the address of this page into it as the server;
whoever runs the server gives you an account.</p>
<p><strong>To run it</strong>, make an account with <code>flask accounts create</code>, and check the
installation with <code>flask doctor</code>. README.md goes on with a walk through the API with curl.</p>
"""
