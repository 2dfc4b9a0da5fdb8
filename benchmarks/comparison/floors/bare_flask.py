"""A Flask route that answers what a lookup answers, without a database: the floor of the web framework."""

from __future__ import annotations

from flask import Flask, Response, jsonify, request

from benchmarks.comparison.people import person
from benchmarks.comparison.systems import sql

app = Flask(__name__)


@app.post("/api/ext/lookup")
def lookup() -> Response:
    """Compute the person from the number at the end of the profile."""
    one = person(int(request.get_json()["subject"]["linkedin_url"].rpartition("-")[2]))
    row = {
        "id": one.number,
        "full_name": one.name,
        "title": one.title,
        "name": one.company,
        "domain": one.domain,
        "addresses": [one.address],
    }
    return jsonify(sql.lookup_body(row))
