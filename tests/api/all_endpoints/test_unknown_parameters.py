from __future__ import annotations

import re

import pytest
from apiflask import APIFlask
from users_support import SignedInUser

ID = "con_06h2du9j5hbibb43jba6dejl"


def queried_operations(app: APIFlask) -> list[tuple[str, str]]:
    """Return the method and path of every operation with parameters, but for those of the extension."""
    return [
        (method.upper(), re.sub(r"\{\w+\}", ID, path))
        for path, operations in app.spec["paths"].items()
        for method, operation in operations.items()
        if not path.startswith("/api/ext/")
        and any(parameter["in"] == "query" for parameter in operation.get("parameters", ()))
    ]


def test_every_operation_refuses_a_parameter_that_it_does_not_have(
    app: APIFlask, user: SignedInUser, subtests: pytest.Subtests
) -> None:
    operations = queried_operations(app)

    assert len(operations) > 15
    for method, path in operations:
        with subtests.test(f"{method} {path}"):
            response = user.client.open(f"{path}?contry=DE", method=method, headers=user.headers)

            assert response.status_code == 422, response.get_data(as_text=True)
            [error] = response.get_json()["errors"]
            assert error["pointer"] == "/contry"
            assert error["detail"].startswith("Unknown parameter. Use one of: ")


def test_an_unknown_parameter_is_explained_in_the_language_of_the_caller(user: SignedInUser) -> None:
    response = user.client.get("/api/people?contry=DE", headers=user.headers | {"Accept-Language": "de"})

    assert response.get_json()["errors"][0]["detail"].startswith("Unbekannter Parameter. ")
