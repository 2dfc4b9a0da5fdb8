"""`dev.py extension`: open a browser with the extension, a running service and websites to try it on.

`--zip FILE` writes the package for the Chrome Web Store instead.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tools import extension_session
from tools.console import echo
from tools.demo import websites
from tools.services import ports, processes, stack
from tools.services.processes import ServiceError
from tools.state import ROOT, State

SOURCE = ROOT / "extension"
UNSHIPPED = {"README.md", "store"}
BROWSERS = (
    *("chromium", "chromium-browser", "google-chrome-for-testing"),
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
STOP_SECONDS = 5.0
ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest zip timestamp, so that the package is reproducible


def main(argv: list[str]) -> int:
    """Return 0 after Ctrl-C or once the package is written, 1 if something could not start."""
    parser = argparse.ArgumentParser(prog="dev.py extension", description=__doc__)
    parser.add_argument("--zip", type=Path, metavar="FILE", help="write the package for the store and stop")
    options = parser.parse_args(argv)
    if options.zip:
        return _write_package(options.zip.resolve())
    with processes.interruptible():
        try:
            return _run()
        except ServiceError as error:
            echo(str(error))
            return 1
        except KeyboardInterrupt:
            echo("Stopped.")
            return 0


def _write_package(target: Path) -> int:
    try:
        pack(target)
    except OSError as error:
        echo(f"{target} cannot be written: {error.strerror}.")
        return 1
    echo(f"{target}: {target.stat().st_size:,} bytes. The texts for the store's form are in extension/store.")
    return 0


def pack(target: Path) -> None:
    """Write the extension as a zip; the same files always give the same bytes."""
    files = [path for path in sorted(SOURCE.rglob("*")) if path.is_file() and _is_shipped(path)]
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files:
            entry = zipfile.ZipInfo(path.relative_to(SOURCE).as_posix(), ZIP_EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, path.read_bytes(), compresslevel=9)


def _is_shipped(path: Path) -> bool:
    parts = path.relative_to(SOURCE).parts
    return parts[0] not in UNSHIPPED and not any(part.startswith(".") for part in parts)


def _run() -> int:
    """Run the service, the websites and the browser until the browser is closed or Ctrl-C is pressed."""
    state = State.open()
    program = _find_browser()
    with ExitStack() as stop:
        own_stack = None
        access = stack.find_running(state)
        if access is None:
            own_stack = stop.enter_context(stack.LocalStack(state))
            access = {**(own_stack.access or {})}
        port = stop.enter_context(websites.serve())
        echo(_instructions(access, port, has_browser=program is not None))
        log = state.logs / "chromium.log"
        browser = None if program is None else stop.enter_context(_launched(program, port, log, access))
        while browser is None or browser.poll() is None:
            if own_stack:
                own_stack.tick()
            else:
                threading.Event().wait(stack.POLL_SECONDS)
        if browser.returncode:
            raise ServiceError(f"{program} exited with code {browser.returncode}:\n{processes.tail(log)}")
        echo("The browser was closed.")
    return 0


def _instructions(access: dict[str, str], port: int, *, has_browser: bool) -> str:
    site, people = next(iter(websites.people_by_website().items()))
    page = f"http://{site}/" if has_browser else f"http://{site}:{port}/"
    load = (
        "Chromium is open with the extension, signed in. Click its icon (in the puzzle-piece menu)."
        if has_browser
        else f"""There is no screen, or no Chromium that can load an extension. In your Chrome:
  1  open chrome://extensions and turn on Developer mode
  2  Load unpacked: {SOURCE}
  3  for the sample website, add to /etc/hosts:  127.0.0.1 {site}"""
    )
    return f"""
{load}
  Server    {access["base_url"]}
  Sign in   {access["email"]}   password: {access["password"]}
  Website   {page}   (click the icon on it)
  Person    {people[0]["linkedin_url"]}   (paste it into the search)
Press Ctrl-C to stop.
"""


def _find_browser() -> str | None:
    """Return a Chromium if there is a screen; Google's own Chrome does not load an extension from a flag."""
    configured = os.environ.get("CHROMIUM")
    if configured and not shutil.which(configured):
        raise ServiceError(f"CHROMIUM is {configured}, which is not a program.")
    has_screen = sys.platform == "darwin" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
    found = filter(None, map(shutil.which, [configured] if configured else BROWSERS))
    return next(found, None) if has_screen else None


@contextmanager
def _launched(
    program: str, port: int, log: Path, access: dict[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """Open the browser with a temporary profile on a sample website, and the extension signed in.

    Only this browser resolves the name of the website.
    """
    sites = websites.people_by_website()
    rules = ", ".join(f"MAP {site} {ports.LOOPBACK}:{port}" for site in sites)
    with TemporaryDirectory(prefix="contact-lookup-", ignore_cleanup_errors=True) as folder:
        loaded = extension_session.signed_in_copy(SOURCE, Path(folder), access)
        command = [
            *(program, f"--user-data-dir={folder}/profile", "--no-first-run", "--no-default-browser-check"),
            *(f"--disable-extensions-except={loaded}", f"--load-extension={loaded}"),
            *(f"--host-resolver-rules={rules}", *(["--no-sandbox"] if os.geteuid() == 0 else [])),
            f"http://{next(iter(sites))}/",
        ]
        log.unlink(missing_ok=True)
        browser = processes.spawn(command, log)
        try:
            yield browser
        finally:
            processes.stop([browser], STOP_SECONDS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
