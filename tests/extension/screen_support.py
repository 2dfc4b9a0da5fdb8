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
SECONDS_BETWEEN_KEYS = 1.0  # Chrome ignores a key within half a second of another


@dataclass(frozen=True, slots=True)
class Screen:
    """A running X server: its display, and the file with its screen contents (XWD format)."""

    display: str
    picture: Path

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {"DISPLAY": self.display}

    def press(self, key: str) -> None:
        command = ["xdotool", "key", key]
        subprocess.run(command, env=self.environment, check=True)

    def pixels(self) -> bytes:
        return self.picture.read_bytes()

    def shows_dialog(self) -> bool:
        """Return whether the page is dimmed, as it is behind a modal dialog."""
        data = self.pixels()
        header = struct.unpack(">25I", data[:100])
        size, row_bytes, colours = header[0], header[12], header[19]
        offset = size + 12 * colours + PROBED_PIXEL[1] * row_bytes + 4 * PROBED_PIXEL[0]
        return max(data[offset : offset + 3]) < WHITE

    def allow(self) -> None:
        """Press Allow, the button after the focused one."""
        wait_until(self.shows_dialog, SECONDS)
        self._wait_until_stable()
        before = self.pixels()
        self._press_until("Tab", lambda: self.pixels() != before)
        self._close_dialog()

    def deny(self) -> None:
        """Press Deny, which is focused when the dialog opens."""
        wait_until(self.shows_dialog, SECONDS)
        self._close_dialog()

    def _close_dialog(self) -> None:
        """Press Return until the dialog closes: a dialog that has just opened ignores keys."""
        self._press_until("Return", lambda: not self.shows_dialog())
        self._wait_until_stable()

    def _wait_until_stable(self) -> None:
        """Wait until the screen no longer changes: dialogs have faded in or out, and the focus is set."""
        frames: deque[bytes] = deque(maxlen=STABLE_FRAMES)

        def is_stable() -> bool:
            frames.append(self.pixels())
            return len(frames) == STABLE_FRAMES and len(set(frames)) == 1

        wait_until(is_stable, SECONDS)

    def _press_until(self, key: str, condition: Callable[[], bool]) -> None:
        """Press the key until the condition is met, as slowly as Chrome requires for a permission dialog."""
        pressed_at = 0.0

        def press_or_wait() -> bool:
            nonlocal pressed_at
            if condition():
                return True
            if time.monotonic() - pressed_at > SECONDS_BETWEEN_KEYS:
                self.press(key)
                pressed_at = time.monotonic()
            return False

        wait_until(press_or_wait, SECONDS)


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
