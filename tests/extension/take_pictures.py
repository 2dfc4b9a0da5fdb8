"""Takes the screenshots of the documentation in a real popup; pytest does not collect this file.

python3 dev.py test -p no:randomly tests/extension/take_pictures.py
"""

from __future__ import annotations

import base64
import csv
import struct
import subprocess
import sys
import threading
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from address_book_support import a_book
from chromium_support import BrowserUser, launch_browser
from crm_index_support import a_crm, in_crm
from e2e_stack import ROOT, Stack
from fake_crms import FakeTwenty
from people_page_support import (
    SEARCH_PAGE,
    FindsEverybody,
    Somebody,
    connect_twenty,
    hunter_finds_people,
    on_page,
    own,
    reveal,
    somebodies,
    without_reader,
)
from playwright.sync_api import Page, Playwright, ViewportSize, expect
from proxy_support import RecordingProxy
from pytest_httpserver import HTTPServer
from vendors_support import FakeVendors, prospeo_finds
from werkzeug import Request

from app.engine.accounts.workspaces import Workspace

PICTURES = ROOT / "docs" / "pictures"
SCALE = 2  # for high-density screens
MAX_BYTES = 60_000
COLOURS = 256
RESIZING_MS = 1000  # a popup that Chromium is resizing is painted twice
TRIES = 6  # until two pictures are the same; a spinner never is
ALL_VIEWS = ("sign-in", "company", "masked", "own", "asking", "revealed", "saved")
SCREENSHOTS = {"light": ALL_VIEWS, "dark": ("company", "own", "revealed")}
OWN = "Ethan Rivera"
HEAD = {"title": "Head of Optical Design", "company_name": "Meridian Lenses"}
HIDDEN = {"full_name": "Nora K.", "title": "Lens Technician", "company_name": "Meridian Lenses"}
SIDE_PANEL: ViewportSize = {"width": 460, "height": 680}
IN_BOOK: dict[str, Any] = {
    "name": OWN,
    "company": "Northlight Optics",
    "profiles": ["https://www.linkedin.com/in/ethan-rivera-demo003"],
    "phones": ["+12065550103"],
}
IN_CRM = IN_BOOK | {"phones": [], "emails": ["ethan.rivera@northlight-optics.example"], "owner": "Kim Lee"}
PEOPLE_WITHOUT_ADDRESS = {"light": "Logan Rivera", "dark": "Marcus Kim"}  # in demo/people.csv


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pictures(  # noqa: PLR0917 -- fixtures
    playwright: Playwright,
    proxy: RecordingProxy,
    stack: Stack,
    vendors: FakeVendors,
    tmp_path: Path,
    theme: str,
) -> None:
    _import(stack)
    may_reply = threading.Event()
    name = PEOPLE_WITHOUT_ADDRESS[theme]
    find = prospeo_finds(f"{name.replace(' ', '.').lower()}@northlight-optics.example")

    def reply(request: Request) -> tuple[int, Any]:
        may_reply.wait(60)
        status, body = find(request)
        body["person"]["full_name"] = name
        body["company"] = {"name": "Northlight Optics", "domain": "northlight-optics.example"}
        return status, body

    vendors.responders["prospeo"] = reply
    workspace, token = _create_workspace(stack)
    with launch_browser(playwright, tmp_path, proxy, dark=theme == "dark") as started:
        user = BrowserUser(started, proxy, stack, workspace, token)
        popup = user.open_popup_on("http://www.northlight-optics.example/")
        popup.get_by_label("Server").fill("https://contacts.acme.example")
        popup.get_by_label("E-mail").fill("you@acme.example")
        popup.get_by_label("Password").fill("correct horse")
        popup.get_by_text("Server", exact=True).evaluate("label => label.scrollIntoView()")
        _screenshot(popup, "sign-in", theme)
        popup.close()

        user.sign_in()
        popup = user.open_popup_on("http://www.northlight-optics.example/")
        expect(popup.get_by_role("button", name="Daniel Chen")).to_be_visible()
        _screenshot(popup, "company", theme)
        popup.get_by_role("button", name="Daniel Chen").click()
        expect(popup.get_by_role("button", name="Reveal phone")).to_be_visible()
        _screenshot(popup, "masked", theme)
        popup.get_by_role("button", name="Back").click()
        _show_own_records(popup, theme)
        popup.get_by_role("button", name=name).click()
        popup.get_by_role("button", name="Find e-mail").click()
        expect(popup.get_by_text("Searched Hunter. Searching Prospeo")).to_be_visible()
        _screenshot(popup, "asking", theme)
        may_reply.set()
        expect(popup.get_by_role("link", name="northlight-optics.example")).to_be_visible()
        popup.get_by_text("Receipt").click()
        _screenshot(popup, "revealed", theme)
        popup.get_by_text("Save this profile").click()
        popup.get_by_label("List").fill("Autumn conference")
        popup.get_by_label("Tags").fill("optics, speaker")
        popup.get_by_label("Note").fill("Met at the stand; interested in the next release.")
        popup.get_by_role("button", name="Save", exact=True).click()
        saved = popup.get_by_text("Saved in Autumn conference")
        expect(saved).to_be_visible()
        saved.evaluate("line => line.scrollIntoView({ block: 'center' })")
        _screenshot(popup, "saved", theme)
    _shrink(*(f"{name}-{theme}" for name in SCREENSHOTS[theme]))  # last: it takes longer than a provider may


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pictures_of_the_people_on_a_page(  # noqa: PLR0917 -- fixtures
    playwright: Playwright,
    proxy: RecordingProxy,
    stack: Stack,
    vendors: FakeVendors,
    tmp_path: Path,
    theme: str,
) -> None:
    _import(stack)
    ethan, daniel, maya, *others = _demo_people()
    (stranger,) = somebodies(1)
    FindsEverybody(vendors).know([maya, stranger, *others])
    workspace, token = _create_workspace(stack)
    without_reader(tmp_path)
    with launch_browser(playwright, tmp_path, proxy, dark=theme == "dark") as started:
        user = BrowserUser(started, proxy, stack, workspace, token)
        user.sign_in(lists=["Lens designers", "Autumn conference"])
        reveal(user, [daniel])
        shown = [_shown(one) for one in (maya, ethan, daniel, *others)]
        on_page(user, *shown[:2], _shown(stranger) | HEAD, HIDDEN, *shown[2:])
        popup = user.open_popup_on(SEARCH_PAGE)
        for one in (ethan, maya, stranger, daniel, *others[:2]):
            popup.get_by_role("checkbox", name=one.name).check()
        expect(popup.get_by_text("6 people picked")).to_be_visible()
        popup.evaluate("scrollTo(0, 0)")
        _screenshot(popup, "people", theme)
        popup.get_by_role("button", name="Find contacts").click()
        expect(popup.get_by_role("button", name="Find 4 people")).to_be_enabled()
        _screenshot(popup, "people-price", theme)
        popup.get_by_role("button", name="Find 4 people").click()
        expect(popup.get_by_text("Charged:").first).to_be_visible()
        popup.close()
        panel = user.open_panel()
        panel.set_viewport_size(SIDE_PANEL)
        expect(panel.get_by_text("Charged:").first).to_be_visible()
        _screenshot(panel, "people-side", theme)
    _shrink(*(f"{name}-{theme}" for name in ("people", "people-price", "people-side")))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pictures_of_a_push(
    playwright: Playwright, proxy: RecordingProxy, stack: Stack, tmp_path: Path, theme: str
) -> None:
    people = somebodies(6)
    workspace, token = stack.create_workspace(grant=250)
    with stack.database.transaction() as session:
        session.get_one(Workspace, workspace).name = "Acme Sales"
    without_reader(tmp_path)
    with (
        HTTPServer(host="127.0.0.1", threaded=True) as server,
        launch_browser(playwright, tmp_path, proxy, dark=theme == "dark") as started,
    ):
        crm = FakeTwenty(server)
        user = BrowserUser(started, proxy, stack, workspace, token)
        user.sign_in()
        connect_twenty(user, crm)
        own(user, people[:4])
        by_hand = {
            "name": {"firstName": "By", "lastName": "Hand"},
            "emails": {"primaryEmail": people[1].email},
        }
        crm.people["00000000-0000-4000-8000-000000000001"] = by_hand
        on_page(user, *map(_shown, people))
        popup = user.open_popup_on(SEARCH_PAGE)
        for one in people[:5]:
            popup.get_by_role("checkbox", name=one.name).check()
        popup.get_by_role("button", name="Push to CRM").click()
        expect(popup.get_by_role("button", name="Push 4 people to Twenty")).to_be_enabled()
        popup.evaluate("scrollTo(0, 0)")
        _screenshot(popup, "people-push", theme)
        popup.get_by_role("button", name="Push 4 people to Twenty").click()
        expect(popup.locator(".success")).to_be_visible(timeout=60_000)
        popup.evaluate("scrollTo(0, 0)")
        _screenshot(popup, "people-pushed", theme)
    _shrink(*(f"{name}-{theme}" for name in ("people-push", "people-pushed")))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pictures_of_a_search_for_people(  # noqa: PLR0917 -- fixtures
    playwright: Playwright,
    proxy: RecordingProxy,
    stack: Stack,
    vendors: FakeVendors,
    tmp_path: Path,
    theme: str,
) -> None:
    _import(stack)
    names = {"light": ("Dora Engel", "Emil Fabre"), "dark": ("Fay Greco", "Gus Horvat")}[theme]
    vendors.responders["hunter"] = lambda request: hunter_finds_people(
        request.args["domain"], "optics", names
    )
    workspace, token = stack.create_workspace(grant=250)
    with stack.database.transaction() as session:
        session.get_one(Workspace, workspace).name = "Acme Sales"
    with launch_browser(playwright, tmp_path, proxy, dark=theme == "dark") as started:
        user = BrowserUser(started, proxy, stack, workspace, token)
        user.sign_in()
        popup = user.open_popup_on("http://www.northlight-optics.example/")
        popup.get_by_text("Find more people", exact=True).click()
        popup.get_by_label("Job titles").fill("lens designer, head of optics")
        popup.get_by_label("Credits, at most").fill("10")
        button = popup.get_by_role("button", name="at most 10 credits")
        button.evaluate("button => button.scrollIntoView({ block: 'end' })")
        popup.evaluate("scrollTo(0, document.body.scrollHeight)")
        _screenshot(popup, "search", theme)
        popup.get_by_label("Job titles").fill("")
        button.click()
        expect(popup.get_by_text("Charged:").first).to_be_visible()
        popup.evaluate("scrollTo(0, 0)")
        _screenshot(popup, "searched", theme)
    _shrink(*(f"{name}-{theme}" for name in ("search", "searched")))


def _shown(one: Somebody) -> dict[str, str]:
    return {"full_name": one.name, "linkedin_url": one.profile}


def _demo_people() -> list[Somebody]:
    """Return people of the demo: first the one in the CRM."""
    with (ROOT / "demo" / "people.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["company_domain"] == "northlight-optics.example"]
    people = [
        Somebody(
            row["full_name"],
            row["linkedin_url"],
            row["email"] or f"{row['full_name'].replace(' ', '.').lower()}@northlight-optics.example",
        )
        for row in rows[:10]
    ]
    return sorted(people, key=lambda one: one.name != OWN)


def _shrink(*names: str) -> None:
    for name in names:
        picture = PICTURES / f"extension-{name}.png"
        picture.write_bytes(_reduce_colors(picture.read_bytes()))
        assert picture.stat().st_size < MAX_BYTES


def _create_workspace(stack: Stack) -> tuple[str, str]:
    """Create a workspace with a person in its CRM and in its address book; return its id and a token."""
    workspace, token = stack.create_workspace(grant=250)
    with stack.database.transaction() as session:
        session.get_one(Workspace, workspace).name = "Acme Sales"
        in_crm(session, a_crm(session, workspace), IN_CRM)
        a_book(session, workspace, IN_BOOK, title="Photonics fair")
    return workspace, token


def _import(stack: Stack) -> None:
    for noun in ("contacts", "companies"):
        file = str(ROOT / "demo" / ("people.csv" if noun == "contacts" else "companies.csv"))
        command = [sys.executable, "-m", "flask", "--app", "cli.application:create_app", noun, "import", file]
        subprocess.run(command, cwd=ROOT, env=stack.environment, check=True, capture_output=True)


def _show_own_records(popup: Page, theme: str) -> None:
    """Show the person whom the workspace's CRM and address book have, and go back."""
    popup.get_by_role("button", name=OWN).click()
    expect(popup.get_by_text("Photonics fair")).to_be_visible()
    _screenshot(popup, "own", theme)
    popup.get_by_role("button", name="Back").click()


def _screenshot(popup: Page, name: str, theme: str) -> None:
    """Write a screenshot of the popup, without the caret and without a hovered element."""
    if name in ALL_VIEWS and name not in SCREENSHOTS[theme]:
        return
    popup.mouse.move(0, 0)
    popup.evaluate("document.activeElement.blur()")
    before, screenshot = b"", b"-"
    for _ in range(TRIES):
        if before == screenshot:
            break
        popup.wait_for_timeout(RESIZING_MS)
        before, screenshot = screenshot, _capture(popup)
    PICTURES.mkdir(exist_ok=True)
    (PICTURES / f"extension-{name}-{theme}.png").write_bytes(screenshot)


def _capture(popup: Page) -> bytes:
    cdp = popup.context.new_cdp_session(popup)
    clip = popup.evaluate("({ x: 0, y: scrollY, width: document.body.clientWidth, height: innerHeight })")
    clip["scale"] = SCALE
    return base64.b64decode(cdp.send("Page.captureScreenshot", {"format": "png", "clip": clip})["data"])


def _reduce_colors(png: bytes) -> bytes:
    """Convert a PNG of 8-bit RGB to its 256 most common colours: a third of the size."""
    width, height = struct.unpack(">II", png[16:24])
    rows = _rows(
        zlib.decompress(b"".join(data for kind, data in _chunks(png) if kind == b"IDAT")), width, height
    )
    pixels = [[row[start : start + 3] for start in range(0, len(row), 3)] for row in rows]
    counted = Counter(pixel for row in pixels for pixel in row)
    palette = [colour for colour, _count in counted.most_common(COLOURS)]
    nearest = {
        colour: min(range(len(palette)), key=lambda index: _distance(palette[index], colour))
        for colour in counted
    }
    packed = zlib.compress(b"".join(b"\0" + bytes(map(nearest.__getitem__, row)) for row in pixels), 9)
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    chunks = [(b"IHDR", head), (b"PLTE", b"".join(palette)), (b"IDAT", packed), (b"IEND", b"")]
    return png[:8] + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


def _distance(color: bytes, other: bytes) -> int:
    return sum((a - b) ** 2 for a, b in zip(color, other, strict=True))


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    offset = 8
    while offset < len(png):
        size = int.from_bytes(png[offset : offset + 4])
        yield png[offset + 4 : offset + 8], png[offset + 8 : offset + 8 + size]
        offset += size + 12


def _rows(data: bytes, width: int, height: int) -> Iterator[bytes]:
    """Yield the rows without PNG's filters (RFC 2083, section 6)."""
    before, size = bytearray(width * 3), width * 3
    for number in range(height):
        kind, *row = data[number * (size + 1) : (number + 1) * (size + 1)]
        for index in range(size):
            left, up, corner = (
                (row[index - 3], before[index], before[index - 3]) if index > 2 else (0, before[index], 0)
            )
            guess = (0, left, up, (left + up) // 2, _paeth(left, up, corner))[kind]
            row[index] = (row[index] + guess) & 255
        before = bytearray(row)
        yield bytes(row)


def _paeth(left: int, up: int, corner: int) -> int:
    straight = left + up - corner
    return min((left, up, corner), key=lambda value: abs(straight - value))
