"""Takes the README's picture of a website with the popup over it; not collected with the tests.

python3 dev.py test -p no:randomly tests/extension/take_window_picture.py (needs imagemagick, too)
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from chromium_support import BrowserUser, launch_browser
from e2e_stack import Stack
from playwright.sync_api import Playwright, expect
from proxy_support import RecordingProxy
from screen_support import virtual_screen
from take_pictures import PICTURES, _import

from app.engine.accounts.workspaces import Workspace

WEBSITE = """
<style>
  body { font-family: Georgia, serif; margin: 0; color: #1d2733; background: #fff }
  header { padding: 26px 48px; display: flex; gap: 32px; border-bottom: 1px solid #e3e8ee }
  header b { font-size: 22px } header span { color: #5b6b7c; line-height: 28px }
  main { padding: 64px 48px; max-width: 600px }
  h1 { font-size: 44px; line-height: 1.15; margin: 0 0 18px }
  p { font-size: 19px; line-height: 1.55; color: #44525f }
</style>
<header><b>Northlight Optics</b><span>Lenses</span><span>Service</span><span>About us</span></header>
<main><h1>Lenses that show what is there.</h1>
<p>We grind and coat optics for microscopes, telescopes and cameras, in Boston, since 1987.</p>
<p>Visit us at the autumn conference, or write to our team.</p></main>
"""
CLOSE_INFOBAR = ("1245", "115")  # Chromium warns of its command line
CROPPED = "1280x700+0+0"


def test_window_picture(playwright: Playwright, proxy: RecordingProxy, stack: Stack, tmp_path: Path) -> None:
    _import(stack)
    workspace, token = stack.create_workspace(grant=250)
    with stack.database.transaction() as session:
        session.get_one(Workspace, workspace).name = "Acme Sales"
    with (
        virtual_screen(tmp_path / "screen") as screen,
        launch_browser(playwright, tmp_path, proxy, on_screen=screen.environment) as started,
    ):
        environment = os.environ | screen.environment
        user = BrowserUser(started, proxy, stack, workspace, token)
        user.sign_in()
        page = user.visit("http://www.northlight-optics.example/")
        page.evaluate(
            "html => { document.body.innerHTML = html; document.title = 'Northlight Optics' }", WEBSITE
        )
        for command in (["mousemove", *CLOSE_INFOBAR], ["click", "1"], ["mousemove", "600", "690"]):
            subprocess.run(["xdotool", *command], env=environment, check=True)  # noqa: S607 - found on the PATH
        page.wait_for_timeout(1000)
        popup = user.click_icon(page)
        expect(popup.get_by_role("button", name="Daniel Chen")).to_be_visible()
        popup.wait_for_timeout(1000)
        picture = PICTURES / "website-with-popup.png"
        command = [
            "import",
            "-window",
            "root",
            "-crop",
            CROPPED,
            "+repage",
            "-colors",
            "128",
            f"PNG8:{picture}",
        ]
        subprocess.run(command, env=environment, check=True)
