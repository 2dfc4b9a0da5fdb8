"""/problems/<code>: the page behind every problem's `type`."""

from __future__ import annotations

from html import escape

from apiflask import APIBlueprint
from flask import Response, request

from app.api.answer import reply
from app.domain.errors import NotFound, all_problems

blueprint = APIBlueprint("problems", __name__, tag="Problems")


@blueprint.get("/problems/<code>")
@blueprint.doc(responses={200: "What the code means and what to do."})
def problem(code: str) -> Response:
    """Explain a problem's code, as JSON or, to a browser, as a page.

    Raises:
        NotFound: there is no such code.

    """
    kind = all_problems().get(code)
    if kind is None:
        raise NotFound("There is no problem with this code; GET /problems lists them all.")
    meaning = " ".join((kind.__doc__ or "").split())
    if request.accept_mimetypes.best_match(["application/json", "text/html"]) == "text/html":
        texts = {"title": kind.title, "meaning": meaning.replace("`", ""), "help": kind.help}
        page = _PAGE.format(code=code, status=kind.status, **{k: escape(text) for k, text in texts.items()})
        return Response(page, mimetype="text/html")
    return reply(
        {
            "code": code,
            "title": kind.title,
            "status": kind.status,
            "meaning": meaning,
            "what_to_do": kind.help,
            "retryable": kind.retryable,
        }
    )


@blueprint.get("/problems")
@blueprint.doc(responses={200: "Every code, with its status and title."})
def problems() -> Response:
    """List every problem's code."""
    return reply(
        {
            "problems": [
                {"code": code, "status": kind.status, "title": kind.title, "type": f"/problems/{code}"}
                for code, kind in all_problems().items()
            ]
        }
    )


_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body {{ font: 1.1rem/1.6 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem;
       color-scheme: light dark }}
code {{ font-size: .95em }}
</style>
<h1>{title}</h1>
<p><code>{code}</code>, status {status}</p>
<p>{meaning}</p>
<h2>What to do</h2>
<p>{help}</p>
</html>
"""
