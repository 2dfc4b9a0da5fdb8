"""`dev.py extension`: the extension in a browser, over the running service, with websites to try it on.

`--zip FILE` writes what the Chrome Web Store takes instead.
"""

from __future__ import annotations

import argparse
import csv
import html
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

from tools.console import echo
from tools.services import ports, processes, stack
from tools.services.processes import ServiceError
from tools.state import ROOT, State

SOURCE = ROOT / "extension"
NOT_FOR_THE_STORE = {"README.md", "store"}
BROWSERS = (
    *("chromium", "chromium-browser", "google-chrome-for-testing"),
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
CLOSING_SECONDS = 5.0
FIRST_PORT = 8080
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # zip's first day: the same files make the same zip


def main(argv: list[str]) -> int:
    """Return 0 after Ctrl-C or once the zip is written, 1 if something could not start."""
    parser = argparse.ArgumentParser(prog="dev.py extension", description=__doc__)
    parser.add_argument("--zip", type=Path, metavar="FILE", help="write the zip for the store and stop")
    chosen = parser.parse_args(argv)
    if chosen.zip:
        return _zip(chosen.zip.resolve())
    with processes.interruptible():
        try:
            return _show()
        except ServiceError as problem:
            echo(str(problem))
            return 1
        except KeyboardInterrupt:
            echo("Stopped.")
            return 0


def _zip(target: Path) -> int:
    try:
        pack(target)
    except OSError as problem:
        echo(f"{target} cannot be written: {problem.strerror}.")
        return 1
    echo(f"{target}: {target.stat().st_size:,} bytes. What the store asks is in extension/store.")
    return 0


def pack(target: Path) -> None:
    """Write the extension as one zip, file by file in the order of their names."""
    files = [path for path in sorted(SOURCE.rglob("*")) if path.is_file() and _is_shipped(path)]
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files:
            entry = zipfile.ZipInfo(path.relative_to(SOURCE).as_posix(), LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, path.read_bytes())


def _is_shipped(path: Path) -> bool:
    parts = path.relative_to(SOURCE).parts
    return parts[0] not in NOT_FOR_THE_STORE and not any(part.startswith(".") for part in parts)


def _show() -> int:
    state = State.open()
    browser = _browser()
    with ExitStack() as stop:
        running = None
        known = stack.find_running(state)
        if known is None:
            running = stop.enter_context(stack.LocalStack(state))
            known = {**(running.access or {})}
        port = stop.enter_context(_websites())
        echo(_told(known, port, opened=browser is not None))
        log = state.logs / "chromium.log"
        opened = None if browser is None else stop.enter_context(_opened(browser, port, log))
        while opened is None or opened.poll() is None:
            if running:
                running.tick()
            else:
                threading.Event().wait(stack.POLL_SECONDS)
        if opened.returncode:
            raise ServiceError(f"{browser} ended with code {opened.returncode}:\n{processes.tail(log)}")
        echo("The browser was closed.")
    return 0


def _told(known: dict[str, str], port: int, *, opened: bool) -> str:
    site = next(iter(_people()))
    person = _people()[site][0]
    page = f"http://{site}/" if opened else f"http://{site}:{port}/"
    load = (
        "Chromium is open with the extension in it; click its icon (behind the puzzle piece)."
        if opened
        else f"""No Chromium that takes an extension was found, or no screen. In your Chrome:
  1  open chrome://extensions and switch on Developer mode
  2  Load unpacked: {SOURCE}
  3  for the page to try it on, add to /etc/hosts:  127.0.0.1 {site}"""
    )
    return f"""
{load}
  Server    {known["base_url"]}
  Sign in   {known["email"]}   password: {known["password"]}
  Website   {page}   (click the icon on it)
  Person    {person["linkedin_url"]}   (put it into the search)
Ctrl-C stops it.
"""


def _browser() -> str | None:
    """Find a Chromium that can be shown; Google's own Chrome refuses to load an extension by a flag."""
    named = os.environ.get("CHROMIUM")
    if named and not shutil.which(named):
        raise ServiceError(f"CHROMIUM is {named}, and no such program can be started.")
    has_screen = sys.platform == "darwin" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
    found = filter(None, map(shutil.which, [named] if named else BROWSERS))
    return next(found, None) if has_screen else None


@contextmanager
def _opened(browser: str, port: int, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Open the browser, with a profile of its own, at a website that only it finds."""
    sites = ", ".join(f"MAP {site} {ports.LOOPBACK}:{port}" for site in _people())
    with TemporaryDirectory(prefix="contact-lookup-", ignore_cleanup_errors=True) as profile:
        command = [
            *(browser, f"--user-data-dir={profile}", "--no-first-run", "--no-default-browser-check"),
            *(f"--disable-extensions-except={SOURCE}", f"--load-extension={SOURCE}"),
            *(f"--host-resolver-rules={sites}", *(["--no-sandbox"] if os.geteuid() == 0 else [])),
            f"http://{next(iter(_people()))}/",
        ]
        log.unlink(missing_ok=True)
        opened = processes.spawn(command, log)
        try:
            yield opened
        finally:
            processes.stop([opened], CLOSING_SECONDS)


def _people() -> dict[str, list[dict[str, str]]]:
    """Give the sample people by the website of their company."""
    people: dict[str, list[dict[str, str]]] = defaultdict(list)
    with (ROOT / "demo" / "people.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            people[row["company_domain"]].append(row)
    return people


PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{name}</title>
<style>body {{ font: 17px/1.6 system-ui; margin: 10vh auto; max-width: 40em; padding: 0 1em }}
code {{ overflow-wrap: anywhere }}</style>
<h1>{name}</h1><p>A made-up company, to try the extension on: click its icon in the toolbar.</p>
<h2>Some of its people</h2><p>Their profiles do not exist; put an address into the extension's search.</p>
<ul>{people}</ul><h2>Other websites</h2><ul>{sites}</ul></html>"""


@dataclass(frozen=True, slots=True)
class _Site:
    """One website of the sample companies."""

    port: int
    people: list[dict[str, str]] = field(default_factory=list)

    def page(self) -> bytes:
        """Write its only page."""
        people = "".join(
            f"<li>{html.escape(row['full_name'])}, {html.escape(row['title'])}<br>"
            f"<code>{html.escape(row['linkedin_url'])}</code>"
            for row in self.people[:5]
        )
        sites = "".join(f'<li><a href="http://{site}/">{site}</a>' for site in _people())
        name = html.escape(self.people[0]["company_name"] if self.people else "Nobody")
        return PAGE.format(name=name, people=people, sites=sites).encode()


class _Handler(BaseHTTPRequestHandler):
    """Plays each sample company's website, by the name it was asked under."""

    sites: ClassVar[dict[str, _Site]] = {}

    def do_GET(self) -> None:
        """Answer with the page of the host."""
        host = (self.headers.get("Host") or "").partition(":")[0]
        page = self.sites.get(host, _Site(0)).page()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_words: object) -> None:
        """Say nothing: who visits which website is nobody's business."""


class _Server(ThreadingHTTPServer):
    """Serves each connection in a thread of its own."""

    daemon_threads = True

    def handle_error(self, *_about: object) -> None:
        """Say nothing: a browser hangs up when it likes."""


@contextmanager
def _websites() -> Iterator[int]:
    """Serve the sample companies' websites on loopback; give the port."""
    port = ports.next_free(FIRST_PORT)
    _Handler.sites = {site: _Site(port, people) for site, people in _people().items()}
    server = _Server((ports.LOOPBACK, port), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield port
    finally:
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
