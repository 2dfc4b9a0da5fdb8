"""A Flask route that answers what a lookup answers, without a database: the floor of the web framework."""

from __future__ import annotations

from flask import Flask, Response, jsonify, request

from benchmarks.comparison.people import person
from benchmarks.comparison.systems import sql

app = Flask(__name__)


@app.post("/api/ext/lookup")
def lookup() -> Response:
    """Compute the person from the number at the end of the profile."""
    contact = person(int(request.get_json()["subject"]["linkedin_url"].rpartition("-")[2]))
    row = {
        "id": contact.number,
        "full_name": contact.name,
        "title": contact.title,
        "name": contact.company,
        "domain": contact.domain,
        "addresses": [contact.address],
    }
    return jsonify(sql.lookup_body(row))
