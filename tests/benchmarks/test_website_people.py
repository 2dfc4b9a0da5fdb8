from __future__ import annotations

from http.client import HTTPConnection
from pathlib import Path

import pytest

from benchmarks.website_people import floor, guesses
from benchmarks.website_people.labels import (
    Labels,
    Pair,
    Score,
    address_digest,
    pair_digest,
    read_labels,
    score,
)
from benchmarks.website_people.loopback import SiteServer, serving
from benchmarks.website_people.site_files import read_sites

ADA = Pair("acme.example", "Ada Lovelace", "ada.lovelace@acme.example")
BOB = Pair("acme.example", "Bob Byron", "bob.byron@acme.example")


def test_pairs_are_compared_with_the_labels_by_digests() -> None:
    bob_as_ada = Pair("acme.example", "Bob Byron", ADA.email)
    right = {pair_digest(ADA): True, pair_digest(bob_as_ada): False}
    labels = Labels(
        right, {"acme.example": frozenset(address_digest("acme.example", one.email) for one in (ADA, BOB))}
    )

    titled = Pair(ADA.domain, "Dr. Ada Lovelace", ADA.email)

    assert score([titled, bob_as_ada, BOB], labels) == Score(
        right=1, wrong=1, unlabelled=1, found=1, findable=2
    )
    assert score([titled, BOB], labels, unlabelled=False).precision == 0.5
    assert score([titled], labels).recall == 0.5


def test_the_labels_are_digests_and_the_labelled_sites_are_in_the_list() -> None:
    labels = read_labels()

    assert all(len(digest) == 64 for digest in labels.pairs)
    assert set(labels.people) <= {site.domain for site in read_sites()}
    assert len(read_sites()) >= 200


def test_the_others_of_a_site_teach_the_form_of_the_one_held_back() -> None:
    initials = [
        Pair("acme.example", f"{name} Berg", f"{name[0].lower()}berg@acme.example")
        for name in ("Eva", "Kim", "Olaf")
    ]

    alone = guesses.measure(initials[:1])
    together = guesses.measure(initials, least=2)

    per_site = guesses.measure(initials, is_each_site_one=True)

    assert per_site.people == pytest.approx(1)
    assert (alone.people, alone.taught) == (1, alone.untaught)
    assert (together.people, together.untaught, together.taught) == (3, 0, 3)


def test_the_floor_takes_the_nearest_heading_as_the_name() -> None:
    page = b"<h1>Team</h1><h3>Ada <i>Lovelace</i></h3><p>CTO<p>ada.lovelace@acme.example, x@else.example"

    assert floor.pairs(page, "acme.example") == {ADA}


def test_sites_are_served_by_the_name_of_the_host_and_not_beyond_their_folder(tmp_path: Path) -> None:
    (tmp_path / "acme.example" / "team").mkdir(parents=True)
    (tmp_path / "acme.example" / "team" / "index.html").write_text("the team")
    (tmp_path / "secret.html").write_text("secret")

    with serving(tmp_path) as server:
        answers = [
            _get(server, "www.acme.example", path) for path in ("/team/", "/team", "/../secret", "/none")
        ]
        other = _get(server, "else.example", "/team/")

    assert answers == [(200, b"the team"), (200, b"the team"), (404, b"Not found"), (404, b"Not found")]
    assert other == (404, b"Not found")
    assert server.requests == {"acme.example": 4, "else.example": 1}


def _get(server: SiteServer, host: str, path: str) -> tuple[int, bytes]:
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=5)
    connection.request("GET", path, headers={"Host": host})
    response = connection.getresponse()
    try:
        return response.status, response.read()
    finally:
        connection.close()
