"""Takes the README's pictures of the extension, in a real popup; not collected with the tests.

python3 dev.py test -p no:randomly tests/extension/take_pictures.py
"""

from __future__ import annotations

import base64
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
from chromium_support import Person, browser
from e2e_stack import ROOT, Stack
from playwright.sync_api import Page, Playwright, expect
from proxy_support import Network
from vendors_support import Vendors, prospeo_knows
from werkzeug import Request

from app.core.accounts.workspaces import Workspace

PICTURES = ROOT / "docs" / "pictures"
SCALE = 2  # for screens with many pixels
MOST_BYTES = 60_000
COLOURS = 256
EVERY = ("sign-in", "company", "masked", "asking", "revealed", "saved")
TAKEN = {"light": EVERY, "dark": ("company", "revealed")}
WITHOUT_ADDRESS = {"light": "Logan Rivera", "dark": "Marcus Kim"}  # in demo/people.csv


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pictures(  # noqa: PLR0917 -- fixtures
    playwright: Playwright, net: Network, stack: Stack, vendors: Vendors, tmp_path: Path, theme: str
) -> None:
    _import(stack)
    may_answer = threading.Event()
    somebody = WITHOUT_ADDRESS[theme]
    knows = prospeo_knows(f"{somebody.replace(' ', '.').lower()}@northlight-optics.example")

    def say(request: Request) -> tuple[int, Any]:
        may_answer.wait(60)
        status, answer = knows(request)
        answer["person"]["full_name"] = somebody
        answer["company"] = {"name": "Northlight Optics", "domain": "northlight-optics.example"}
        return status, answer

    vendors.says["prospeo"] = say
    workspace, token = stack.workspace(grant=250)
    with stack.database.transaction() as session:
        session.get_one(Workspace, workspace).name = "Acme Sales"
    with browser(playwright, tmp_path, net, dark=theme == "dark") as started:
        person = Person(started, net, stack, workspace, token)
        popup = person.look_at("http://www.northlight-optics.example/")
        popup.get_by_label("Server").fill("https://contacts.acme.example")
        popup.get_by_label("E-mail").fill("you@acme.example")
        popup.get_by_label("Password").fill("correct horse")
        popup.evaluate("scrollTo(0, document.body.scrollHeight)")
        _take(popup, "sign-in", theme)
        popup.close()

        person.sign_in()
        popup = person.look_at("http://www.northlight-optics.example/")
        expect(popup.get_by_role("button", name="Daniel Chen")).to_be_visible()
        _take(popup, "company", theme)
        popup.get_by_role("button", name="Daniel Chen").click()
        expect(popup.get_by_role("button", name="Reveal phone")).to_be_visible()
        _take(popup, "masked", theme)
        popup.get_by_role("button", name="Back").click()
        popup.get_by_role("button", name=somebody).click()
        popup.get_by_role("button", name="Find e-mail").click()
        expect(popup.get_by_text("Asked Hunter. Asking Prospeo")).to_be_visible()
        _take(popup, "asking", theme)
        may_answer.set()
        expect(popup.get_by_role("link", name="northlight-optics.example")).to_be_visible()
        popup.get_by_text("Receipt").click()
        _take(popup, "revealed", theme)
        popup.get_by_text("Save this profile").click()
        popup.get_by_label("List").fill("Autumn conference")
        popup.get_by_label("Tags").fill("optics, speaker")
        popup.get_by_label("Note").fill("Met at the stand; wants to hear of the next release.")
        popup.get_by_role("button", name="Save", exact=True).click()
        saved = popup.get_by_text("Saved in Autumn conference")
        expect(saved).to_be_visible()
        saved.evaluate("line => line.scrollIntoView({ block: 'center' })")
        _take(popup, "saved", theme)
    for picture in PICTURES.glob(f"extension-*-{theme}.png"):  # only now: it takes longer than a provider may
        picture.write_bytes(_with_a_palette(picture.read_bytes()))
        assert picture.stat().st_size < MOST_BYTES


def _import(stack: Stack) -> None:
    for noun in ("contacts", "companies"):
        file = str(ROOT / "demo" / ("people.csv" if noun == "contacts" else "companies.csv"))
        command = [sys.executable, "-m", "flask", "--app", "cli.application:create_app", noun, "import", file]
        subprocess.run(command, cwd=ROOT, env=stack.environment, check=True, capture_output=True)


def _take(popup: Page, name: str, theme: str) -> None:
    """Write what the popup shows, without the caret and what the pointer is over."""
    if name not in TAKEN[theme]:
        return
    popup.mouse.move(0, 0)
    popup.evaluate("document.activeElement.blur()")
    cdp = popup.context.new_cdp_session(popup)
    clip = popup.evaluate("({ x: 0, y: scrollY, width: document.body.clientWidth, height: innerHeight })")
    clip["scale"] = SCALE
    taken = base64.b64decode(cdp.send("Page.captureScreenshot", {"format": "png", "clip": clip})["data"])
    PICTURES.mkdir(exist_ok=True)
    (PICTURES / f"extension-{name}-{theme}.png").write_bytes(taken)


def _with_a_palette(png: bytes) -> bytes:
    """Write a PNG of 8-bit RGB anew with its 256 commonest colours: a third of its size."""
    width, height = struct.unpack(">II", png[16:24])
    rows = _rows(
        zlib.decompress(b"".join(data for kind, data in _chunks(png) if kind == b"IDAT")), width, height
    )
    pixels = [[row[at : at + 3] for at in range(0, len(row), 3)] for row in rows]
    counted = Counter(pixel for row in pixels for pixel in row)
    palette = [colour for colour, _count in counted.most_common(COLOURS)]
    nearest = {
        colour: min(range(len(palette)), key=lambda at: _distance(palette[at], colour)) for colour in counted
    }
    packed = zlib.compress(b"".join(b"\0" + bytes(map(nearest.__getitem__, row)) for row in pixels), 9)
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    chunks = [(b"IHDR", head), (b"PLTE", b"".join(palette)), (b"IDAT", packed), (b"IEND", b"")]
    return png[:8] + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


def _distance(one: bytes, other: bytes) -> int:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 8
    while at < len(png):
        size = int.from_bytes(png[at : at + 4])
        yield png[at + 4 : at + 8], png[at + 8 : at + 8 + size]
        at += size + 12


def _rows(data: bytes, width: int, height: int) -> Iterator[bytes]:
    """Undo the filters of PNG (RFC 2083, section 6)."""
    before, size = bytearray(width * 3), width * 3
    for number in range(height):
        kind, *row = data[number * (size + 1) : (number + 1) * (size + 1)]
        for at in range(size):
            left, up, corner = (row[at - 3], before[at], before[at - 3]) if at > 2 else (0, before[at], 0)
            guess = (0, left, up, (left + up) // 2, _paeth(left, up, corner))[kind]
            row[at] = (row[at] + guess) & 255
        before = bytearray(row)
        yield bytes(row)


def _paeth(left: int, up: int, corner: int) -> int:
    straight = left + up - corner
    return min((left, up, corner), key=lambda one: abs(straight - one))
