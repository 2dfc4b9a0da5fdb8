"""Measure what a list costs of which the CRM has a part: `python -m benchmarks.crm_list`.

A HubSpot on this machine has 40 % of the people of a list, one in twenty of them without an address. The list
is uploaded to the product, as `dev.py up` starts it on a throw-away PostgreSQL server, until its price is
shown. It is enriched with only what the CRM lacks, and a part of the people is pushed to the CRM, first those
whom it has. The exit code is 1 if a credit was spent on a value that the CRM had, or if the CRM has a person
twice.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import shutil
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks._json_server import serving
from benchmarks.comparison import servers
from benchmarks.comparison.people import person
from benchmarks.comparison.report import table
from benchmarks.comparison.servers import Servers
from benchmarks.comparison.systems.product import Product
from benchmarks.comparison.systems.system import Scale, started
from benchmarks.crm_list.portal import Portal
from benchmarks.crm_reading import seed
from benchmarks.many_at_once.enrichment import call
from tools.console import echo
from tools.services import processes
from tools.services.processes import ServiceError

SHARE_IN_CRM = 0.4
WITHOUT_ADDRESS = 20
"""Of so many people in the CRM, one has no address there."""
PUSHED_AT_ONCE = 500
POLL_SECONDS = 0.5
MAX_SECONDS = 1800.0
DATABASE = "product"


def main(argv: list[str]) -> int:
    """Measure and report; return 1 if something was wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crm_list", description=__doc__)
    parser.add_argument("--people", type=int, default=10_000, help="people of the list")
    parser.add_argument("--pushed", type=int, default=500, help="of whom so many are pushed")
    options = parser.parse_args(argv)
    folder = Path(tempfile.mkdtemp(prefix="crm-list-"))
    with processes.interruptible(), ExitStack() as stack:
        try:
            shared = stack.enter_context(servers.running(folder))
            portal = stack.enter_context(serving(Portal(_contacts(options.people))))
            rows, wrong = _measure(shared, portal, options.people, options.pushed)
        except (ServiceError, KeyboardInterrupt) as error:
            echo(str(error) or "Interrupted.")
            echo(f"Logs: {folder}")
            return 1
    text = "\n\n".join([table(["a list of people", ""], rows), *(f"wrong: {one}" for one in wrong)])
    Console(soft_wrap=True, highlight=False, markup=False).print(text)
    shutil.rmtree(folder, ignore_errors=True)
    return int(bool(wrong))


def _contacts(people: int) -> list[dict[str, str]]:
    """Return the contacts of the CRM: the first people of the list."""
    return [_contact(number) for number in range(int(people * SHARE_IN_CRM))]


def _contact(number: int) -> dict[str, str]:
    one = person(number)
    first, last = one.name.split()
    return {
        "firstname": first,
        "lastname": last,
        "email": one.address if number % WITHOUT_ADDRESS else "",
        "company": one.company,
        "website": one.domain,
        "hs_linkedin_url": one.profile,
    }


def _measure(shared: Servers, portal: Portal, people: int, pushed: int) -> tuple[list[list[str]], list[str]]:
    """Return the rows of the report, and what was wrong."""
    product = Product()
    (token,) = product.prepare(shared, Scale(1, people))
    product.env |= {"CRM_HUBSPOT_BASE_URL": portal.url, "WEBHOOK_NETWORKS": "127.0.0.1/32"}
    with started(product, shared) as running:
        caller = Caller(running.port, token)
        workspace_id = caller.ask("GET", "/api/ext/session")["workspace"]["id"]
        seed.connect(
            shared, product, [{"workspace_id": workspace_id, "vendor": "hubspot", "url": portal.url}]
        )
        connection, _seconds = caller.until("/api/crm/connections", _is_read)
        shared.collect_statistics(DATABASE)
        upload, priced = caller.upload(people)
        chosen = next(one for one in upload["estimate"]["choices"] if one["name"] == "fill")
        finished, enriched = caller.enrich(upload["id"], chosen)
        to_push = [person(number).profile for number in _order(people, pushed)]
        outcomes, pushing = caller.push(connection["connections"][0]["id"], _ids(shared, to_push))
    lacking = int(people * SHARE_IN_CRM) // WITHOUT_ADDRESS
    expected = people - int(people * SHARE_IN_CRM) + lacking
    charged, doubled = finished["credits"]["charged"], portal.duplicates()
    wrong = [] if charged == expected else [f"{charged} credits were spent instead of {expected}"]
    wrong += [f"the CRM has a person twice: {profile}" for profile in doubled]
    return [
        ["people", f"{people:,}"],
        ["seconds until the price is shown", f"{priced:.1f}"],
        ["the price", chosen["summary"]],
        ["seconds of the enrichment", f"{enriched:.0f}"],
        ["credits spent; on what the CRM had", f"{charged:,}; {charged - expected:,}"],
        ["outcomes", _counts(finished["outcomes"])],
        ["pushed", f"{_counts(outcomes)} in {pushing:.0f} s"],
        ["people twice in the CRM", str(len(doubled))],
    ], wrong


class Caller:
    """A member of the workspace."""

    def __init__(self, port: int, token: str) -> None:
        self._port = port
        self._token = token

    def ask(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """Send a request; return the JSON of the answer."""
        return call(self._port, method, path, self._token, body)

    def until(self, path: str, is_over: Callable[[dict[str, Any]], bool]) -> tuple[dict[str, Any], float]:
        """Poll until it is over; return the last answer, and the seconds.

        Raises:
            ServiceError: it is not, within half an hour.

        """
        begun = time.monotonic()
        while time.monotonic() - begun < MAX_SECONDS:
            answer = self.ask("GET", path)
            if is_over(answer):
                return answer, time.monotonic() - begun
            time.sleep(POLL_SECONDS)
        raise ServiceError(f"GET {path} still says: {json.dumps(answer)[:1000]}")

    def upload(self, people: int) -> tuple[dict[str, Any], float]:
        """Upload the list; return it with its price, and the seconds until that is shown."""
        file = io.StringIO()
        rows = csv.writer(file)
        rows.writerow(["Name", "Company", "LinkedIn"])
        rows.writerows([one.name, one.company, one.profile] for one in map(person, range(people)))
        request = urllib.request.Request(
            f"http://127.0.0.1:{self._port}/api/uploads?name=list.csv",
            file.getvalue().encode(),
            {"Authorization": f"Bearer {self._token}", "Content-Type": "text/csv"},
        )
        begun = time.monotonic()
        with urllib.request.urlopen(request) as response:  # noqa: S310 -- our own address
            created = json.load(response)
        ready, _seconds = self.until(f"/api/uploads/{created['id']}", lambda one: one["status"] == "ready")
        return ready, time.monotonic() - begun

    def enrich(self, upload_id: str, chosen: dict[str, Any]) -> tuple[dict[str, Any], float]:
        """Start the upload with this choice; return it when it is finished, and the seconds."""
        skips = {name: chosen[name] for name in ("skip", "skip_when")}
        body = {"max_credits": chosen["credits_max"], "purpose": None} | skips
        self.ask("POST", f"/api/uploads/{upload_id}/start", body)
        return self.until(f"/api/uploads/{upload_id}", lambda one: one["status"] in {"finished", "paused"})

    def push(self, connection_id: str, contact_ids: Sequence[str]) -> tuple[Counter[str], float]:
        """Push contacts; return how many have which outcome, and the seconds."""
        outcomes: Counter[str] = Counter()
        begun = time.monotonic()
        for first in range(0, len(contact_ids), PUSHED_AT_ONCE):
            part = list(contact_ids[first : first + PUSHED_AT_ONCE])
            body = {"connection_id": connection_id, "contact_ids": part}
            push = self.ask("POST", "/api/crm/pushes", body)["push"]
            path = f"/api/crm/pushes/{push['id']}"
            answer, _seconds = self.until(path, lambda one: one["push"]["status"] == "finished")
            outcomes.update(answer["push"]["outcomes"])
        return outcomes, time.monotonic() - begun


def _is_read(answer: dict[str, Any]) -> bool:
    reading = answer["connections"][0]["reading"]
    return reading is not None and reading["read_at"] is not None


def _order(people: int, pushed: int) -> list[int]:
    """Return who is pushed: first those whom the CRM has without an address, then those whom it has not."""
    in_crm = int(people * SHARE_IN_CRM)
    return [*range(0, in_crm, WITHOUT_ADDRESS), *range(in_crm, people)][:pushed]


def _ids(shared: Servers, profiles: Sequence[str]) -> list[str]:
    """Return the ids of the contacts with these profiles."""
    query = "SELECT id FROM contacts WHERE linkedin_url = ANY(%s)"
    with shared.connect(DATABASE) as connection:
        return [str(row[0]) for row in connection.execute(query, [list(profiles)]).fetchall()]


def _counts(found: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in found.items())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
