"""The walk of a salesperson in a browser: from a list of prospects, some in the CRM, to people in the CRM."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from e2e_stack import ROOT, Stack
from fake_crms import TOKEN
from page_browser_support import sign_in
from playwright.sync_api import Page, expect
from polling import wait_until

LIST = "Photonics fair"
FOUND = ("Daniel Chen", "Ethan Rivera", "Priya Carter", "Sofia O'Donnell")
UNKNOWN = "Logan Rivera"
IN_CRM = "Ethan Rivera"
COMPANY = "Northlight Optics"


def import_demo(stack: Stack) -> None:
    """Import the demo's people and companies."""
    for noun, name in (("contacts", "people.csv"), ("companies", "companies.csv")):
        command = [sys.executable, "-m", "flask", "--app", "cli.application:create_app", noun, "import"]
        file = str(ROOT / "demo" / name)
        subprocess.run([*command, file], cwd=ROOT, env=stack.environment, check=True, capture_output=True)


def write_prospects(path: Path) -> Path:
    """Write a list of five prospects, one of whom has no stored address; return its path."""
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["Full name", "Company", "Met at"])
        rows.writerows([name, COMPANY, "stand 14"] for name in (*FOUND, UNKNOWN))
    return path


def people_in_hubspot() -> dict[str, dict[str, str]]:
    """Return two of the prospects as a HubSpot has them: one with an address, and one without."""
    owner = {"hubspot_owner_id": "7", "lastmodifieddate": "2026-11-02T08:00:00Z"}
    known = {"firstname": "Ethan", "lastname": "Rivera", "email": "ethan.rivera@northlight-optics.example"}
    lacking = {
        "firstname": "Priya",
        "lastname": "Carter",
        "email": "",
        "hs_linkedin_url": "https://www.linkedin.com/in/priya-carter-demo007",
    }
    return {"1": known | owner, "2": lacking | owner}


def walk(page: Page, prospects: Path, is_read: Callable[[], bool]) -> Iterator[str]:
    """Connect HubSpot, enrich the list but for whom it has, and push; yield the name of each view.

    `is_read` returns whether the people of the CRM were read.
    """
    sign_in(page, path="/crm")
    hubspot = page.locator("section", has=page.get_by_role("heading", name="HubSpot"))
    hubspot.get_by_label("Token").fill(TOKEN)
    hubspot.get_by_role("button", name="Connect with a token").click()
    expect(page.locator(".badge", has_text="Connected")).to_be_visible()
    wait_until(is_read, 60)
    page.reload()
    yield "crm"
    page.get_by_role("link", name="Search", exact=True).click()
    page.get_by_label("Name, company, website").fill(f"{IN_CRM} at {COMPANY}")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_text("Kim Lee")).to_be_visible()
    yield "search"
    page.goto("/uploads")
    page.get_by_label("A CSV file or an Excel workbook").set_input_files(prospects)
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_text("Ready to start", exact=True)).to_be_visible()
    expect(page.get_by_text(f"{len(FOUND) + 1} people: 2 in HubSpot (1 with an address)")).to_be_visible()
    page.get_by_label("Fill only what is missing").check()
    yield "upload"
    upload = page.url
    page.get_by_role("button", name="Start").click()
    page.goto("about:blank")  # the tab is closed
    page.goto(upload)
    expect(page.get_by_role("link", name="Download the result")).to_be_visible()
    expect(page.locator(".balance")).to_contain_text(f"{100 - len(FOUND) + 1} credits")
    yield "result"
    page.get_by_label("Put the people who were found on the list").fill(LIST)
    page.get_by_role("button", name="Add to the list").click()
    expect(page.get_by_role("heading", name=LIST)).to_be_visible()
    page.get_by_role("link", name="Contacts").click()
    expect(page.get_by_role("row")).to_have_count(len(FOUND))
    yield "contacts"
    page.get_by_role("link", name="Lists").click()
    page.get_by_role("link", name=LIST).click()
    page.get_by_role("link", name="Push to CRM…").click()
    page.get_by_role("button", name="Push", exact=True).click()
    expect(page.get_by_text("Created", exact=True)).to_have_count(len(FOUND) - 2)
    expect(page.get_by_text("Updated", exact=True)).to_have_count(1)
    yield "pushed"
