"""The walk of a salesperson in a browser: from a list of prospects to people in the CRM."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from e2e_stack import ROOT, Stack
from fake_crms import TOKEN, FakeTwenty
from page_browser_support import sign_in
from playwright.sync_api import Page, expect

LIST = "Photonics fair"
FOUND = ("Daniel Chen", "Ethan Rivera", "Priya Carter", "Sofia O'Donnell")
UNKNOWN = "Logan Rivera"
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


def walk(page: Page, prospects: Path, crm: FakeTwenty) -> Iterator[str]:
    """Sign in, enrich the list, put its people on a list and push them; yield the name of each view."""
    sign_in(page, path="/uploads")
    page.get_by_label("A CSV file or an Excel workbook").set_input_files(prospects)
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_text("ready to start", exact=True)).to_be_visible()
    yield "upload"
    upload = page.url
    page.get_by_role("button", name="Start").click()
    page.goto("about:blank")  # the tab is closed
    page.goto(upload)
    expect(page.get_by_role("link", name="Download the result")).to_be_visible()
    expect(page.locator(".balance")).to_contain_text("96 credits")
    yield "result"
    page.get_by_label("Put the people who were found on the list").fill(LIST)
    page.get_by_role("button", name="Add to the list").click()
    expect(page.get_by_role("heading", name=LIST)).to_be_visible()
    page.get_by_role("link", name="Contacts").click()
    expect(page.get_by_role("row")).to_have_count(len(FOUND) + 1)
    yield "contacts"
    page.get_by_role("link", name="CRM").click()
    twenty = page.locator("section", has=page.get_by_role("heading", name="Twenty"))
    twenty.get_by_label("Address of the server").fill(crm.url)
    twenty.get_by_label("Token").fill(TOKEN)
    twenty.get_by_role("button", name="Connect with a token").click()
    expect(page.get_by_text("connected", exact=True)).to_be_visible()
    page.get_by_role("link", name="Lists").click()
    page.get_by_role("link", name=LIST).click()
    page.get_by_role("link", name="Push to CRM…").click()
    page.get_by_role("button", name="Push", exact=True).click()
    expect(page.get_by_text("created", exact=True)).to_have_count(len(FOUND))
    yield "pushed"
