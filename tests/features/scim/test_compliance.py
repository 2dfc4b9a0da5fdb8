"""The compliance suite scim2-tester, with its client, against the application."""

from __future__ import annotations

import pytest
from apiflask import APIFlask
from scim2_client.engines.wsgi import WSGISCIMClient
from scim2_tester import Status, check_server
from scim_support import IdentityProvider


@pytest.mark.filterwarnings("default")
def test_the_service_passes_the_compliance_suite(app: APIFlask) -> None:
    provider = IdentityProvider.of(app)
    client = WSGISCIMClient(
        app,
        base_url="http://localhost/scim/v2",
        headers={"Authorization": f"Bearer {provider.token}"},
    )

    results = check_server(client)

    counts = {status.name: sum(result.status is status for result in results) for status in Status}
    print(counts)  # noqa: T201 -- the figure of the documentation
    assert [
        f"{result.title}: {result.reason}"
        for result in results
        if result.status not in {Status.SUCCESS, Status.SKIPPED, Status.ACCEPTABLE}
    ] == []
