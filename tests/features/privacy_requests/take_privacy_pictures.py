"""Takes the screenshots of /privacy for the documentation; pytest does not collect this file.

python3 dev.py test -p no:randomly tests/features/privacy_requests/take_privacy_pictures.py
"""

from __future__ import annotations

from jobs_support import a_workspace
from salesperson_support import import_demo
from sqlalchemy import select
from stored_support import own
from take_page_pictures import PICTURES
from test_privacy_in_chromium import Walk, walk  # noqa: F401 -- a fixture

from app.engine.accounts.workspaces import Workspace
from app.engine.contacts.contacts import Contact

ADDRESS = "daniel.chen@northlight-optics.example"
SIZE = {"width": 900, "height": 860}


def test_pictures(walk: Walk) -> None:  # noqa: F811 -- a fixture
    stack = walk.browser.stack
    import_demo(stack)
    with stack.database.transaction() as session:
        daniel = session.scalars(select(Contact).where(Contact.full_name == "Daniel Chen")).one()
        workspace = a_workspace(session)
        session.get_one(Workspace, workspace).name = "Acme Sales"
        own(session, workspace, daniel, "email")

    for theme in ("light", "dark"):
        with walk.browser.visit(**SIZE, color_scheme=theme) as page:
            walk.prove(page, ADDRESS)
            page.evaluate("document.activeElement.blur()")
            page.screenshot(path=PICTURES / f"page-privacy{'-dark' * (theme == 'dark')}.png")
