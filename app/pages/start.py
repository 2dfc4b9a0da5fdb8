"""/: the start page, for a browser; the paths of the documentation, for a program."""

from __future__ import annotations

from apiflask import APIBlueprint
from apiflask.fields import String
from flask import Response

from app.pages import home
from app.web import html_pages
from app.web.bodies.body import json_response
from app.web.schemas.fields import ResponseSchema

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
        return home.show()
    return html_pages.vary(json_response(LINKS))
