"""A virtual screen with a window manager, for Chrome's own dialogs: a headless browser does not show them."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from polling import wait_until

PROGRAMS = {"Xvfb": "xvfb", "xdotool": "xdotool", "openbox": "openbox"}
SIZE = "1280x900x24"
PROBED_PIXEL = (640, 700)  # in the page, below the dialog
WHITE = 0xFF  # the page when no dialog dims it
STABLE_FRAMES = 10  # equal frames, one every 50 ms
SECONDS = 20
SECONDS_BETWEEN_ACTS = 1.0  # Chrome ignores a key or click within half a second of another
WHITE_RUN = bytes([WHITE]) * 100  # pixels; the pointer is white, too, and narrower
ALLOW_FROM_CORNER = (56, 39)  # pixels from the lower right corner of the dialog to the middle of the button


@dataclass(frozen=True, slots=True)
class Screen:
    """A running X server: its display, and the file with its screen contents (XWD format)."""

    display: str
    picture: Path

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {"DISPLAY": self.display}

    def pixels(self) -> bytes:
        return self.picture.read_bytes()

    def rows(self) -> list[bytes]:
        """Return the brightness of each row's pixels, of their green: one byte a pixel."""
        data = self.pixels()
        header = struct.unpack(">25I", data[:100])
        width, height, row_bytes = header[4], header[5], header[12]
        start = header[0] + 12 * header[19]  # then blue, green, red, unused of each pixel
        rows = (start + row * row_bytes for row in range(height))
        return [data[row + 1 : row + 4 * width : 4] for row in rows]

    def shows_dialog(self) -> bool:
        """Return whether the page is dimmed, as it is behind a modal dialog."""
        x, y = PROBED_PIXEL
        return self.rows()[y][x] < WHITE

    def allow(self) -> None:
        """Click Allow, the button in the right corner of the dialog.

        A key would press the button in focus, and the picture does not tell for certain which one that is.
        """
        self._answer(lambda: [self._click(x, y) for x, y in self._allow_button()])

    def deny(self) -> None:
        """Press Escape, which is Deny whatever is in focus."""
        self._answer(lambda: self._xdotool("key", "Escape"))

    def _click(self, x: int, y: int) -> None:
        self._xdotool("mousemove", str(x), str(y), "click", "1")

    def _xdotool(self, *command: str) -> None:
        line = ["xdotool", *command]
        subprocess.run(line, env=self.environment, check=True)

    def _allow_button(self) -> list[tuple[int, int]]:
        """Return where Allow is, by the lower right corner of the dialog; empty while the dialog fades.

        The dialog is the only white area of a dimmed screen.
        """
        white_rows = [(y, row) for y, row in enumerate(self.rows()) if WHITE_RUN in row]
        right, up = ALLOW_FROM_CORNER
        return [(row.rindex(WHITE_RUN) + len(WHITE_RUN) - right, y - up) for y, row in white_rows[-1:]]

    def _answer(self, act: Callable[[], object]) -> None:
        """Act until the dialog closes: one that has just opened ignores clicks and keys."""
        wait_until(self.shows_dialog, SECONDS)
        self._wait_until_stable()
        acted_at = 0.0

        def act_or_wait() -> bool:
            nonlocal acted_at
            if not self.shows_dialog():
                return True
            if time.monotonic() - acted_at > SECONDS_BETWEEN_ACTS:
                act()
                acted_at = time.monotonic()
            return False

        wait_until(act_or_wait, SECONDS)
        self._wait_until_stable()

    def _wait_until_stable(self) -> None:
        """Wait until the screen no longer changes: dialogs have faded in or out, and the focus is set."""
        frames: deque[bytes] = deque(maxlen=STABLE_FRAMES)

        def is_stable() -> bool:
            frames.append(self.pixels())
            return len(frames) == STABLE_FRAMES and len(set(frames)) == 1

        wait_until(is_stable, SECONDS)


@contextmanager
def virtual_screen(folder: Path) -> Iterator[Screen]:
    """Run an X server and a window manager; skip the test if they are missing, except in CI."""
    missing = [package for program, package in PROGRAMS.items() if not shutil.which(program)]
    if missing:
        message = f"Chrome's permission dialog needs a screen: apt-get install {' '.join(missing)}"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(message)
    folder.mkdir()
    read_end, write_end = os.pipe()
    with ExitStack() as stop:
        server = stop.enter_context(
            _running(
                *("Xvfb", "-displayfd", str(write_end), "-screen", "0", SIZE, "-fbdir", str(folder)),
                keep=write_end,
            )
        )
        os.close(write_end)
        with os.fdopen(read_end) as line:
            display = f":{line.readline().strip()}"
        assert server.poll() is None, "Xvfb did not start"
        screen = Screen(display, folder / "Xvfb_screen0")
        stop.enter_context(_running("openbox", environment=screen.environment))
        yield screen


@contextmanager
def _running(
    *command: str, environment: dict[str, str] | None = None, keep: int | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        command,
        env=environment,
        pass_fds=() if keep is None else (keep,),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(SECONDS)
