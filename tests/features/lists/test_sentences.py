from __future__ import annotations

from apiflask import APIFlask

from app.features.lists import sentences
from app.features.lists.matching import Round


def test_a_removal_says_who_was_not_on_the_list(app: APIFlask) -> None:
    with app.test_request_context():
        said = sentences.changed(Round(matched=5, changed=3), 5, is_removal=True)

    assert said.endswith("2 were not on it.")
