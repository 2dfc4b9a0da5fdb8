"""/problems: the list of error codes, and the page behind each problem's `type`."""

from __future__ import annotations

from html import escape

from apiflask import APIBlueprint
from flask import Response

from app.domain.errors import NotFound, Problem, all_problems
from app.web import html_pages
from app.web.bodies.body import json_response
from app.web.operations import Operation

blueprint = APIBlueprint("problems", __name__, tag="Problems")


@blueprint.get("/problems/<code>")
@Operation(
    errors=(NotFound,),
    path_parameters={"code": {"schema": {"enum": [*all_problems()]}, "example": NotFound.code}},
)
@blueprint.doc(responses={200: "The meaning of the code and its remedy."})
def problem(code: str) -> Response:
    """Explain an error code, as JSON or, for a browser, as a page."""
    kind = all_problems().get(code)
    if kind is None:
        raise NotFound("There is no problem with this code. GET /problems lists all codes.")
    meaning = " ".join((kind.__doc__ or "").split())
    if html_pages.prefers_html():
        return html_pages.page(kind.title, _explanation(kind, meaning))
    body = {
        "code": code,
        "title": kind.title,
        "status": kind.status,
        "meaning": meaning,
        "what_to_do": kind.help,
        "retryable": kind.retryable,
    }
    return html_pages.vary(json_response(body))


@blueprint.get("/problems")
@blueprint.doc(responses={200: "All codes with their status and title."})
def problems() -> Response:
    """List the error codes, as JSON or, for a browser, as a page."""
    if html_pages.prefers_html():
        rows = "".join(_row(kind) for kind in all_problems().values())
        return html_pages.page("Problems", _LIST.format(rows=rows))
    body = {
        "problems": [
            {"code": code, "status": kind.status, "title": kind.title, "type": f"/problems/{code}"}
            for code, kind in all_problems().items()
        ]
    }
    return html_pages.vary(json_response(body))


def _explanation(kind: type[Problem], meaning: str) -> str:
    return (
        f"<p><code>{kind.code}</code>, status {kind.status}</p>\n<p>{escape(meaning.replace('`', ''))}</p>\n"
        f"<h2>What to do</h2>\n<p>{escape(kind.help)}</p>"
    )


def _row(kind: type[Problem]) -> str:
    return (
        f'<tr><td>{kind.status}</td><td><a href="/problems/{kind.code}"><code>{kind.code}</code></a></td>'
        f"<td>{escape(kind.title)}</td></tr>\n"
    )


_LIST = """
<p>Every error response is <code>application/problem+json</code> with one of these codes.</p>
<table>
<thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Title</th></tr></thead>
<tbody>
{rows}</tbody>
</table>
"""
