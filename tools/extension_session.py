"""A copy of the extension that signs in to a running service by itself, for `dev.py extension`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

MANIFEST, WORKER, SIGN_IN = "manifest.json", "service_worker.js", "dev_sign_in.js"
ORIGINS = ["http://127.0.0.1/*", "http://localhost/*"]
SCRIPT = """// Signs in with the account of `dev.py`, once for each profile of the browser.

import { Client } from "./client/api.js";
import { loadSession, loadSettings, startSession, updateSettings } from "./storage.js";

const ACCESS = %s;

async function signIn() {
  if ((await loadSettings()).server !== "" || (await loadSession()) !== null) return;
  const { base_url: origin, email, password } = ACCESS;
  const { access_token: token, ...session } = await new Client(origin).login({ email, password });
  await updateSettings({ server: origin, email });
  await startSession(session, origin, token);
}

signIn();
"""


def signed_in_copy(source: Path, folder: Path, access: Mapping[str, str]) -> Path:
    """Copy the extension into the folder with permission for the local service, and with its login.

    The service worker signs in when the browser starts. Only the user may read the folder, for the login.
    """
    copy = folder / "extension"
    shutil.copytree(source, copy)
    manifest = json.loads((copy / MANIFEST).read_text(encoding="utf-8"))
    manifest["host_permissions"] = ORIGINS
    (copy / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    login = json.dumps({name: access[name] for name in ("base_url", "email", "password")})
    (copy / SIGN_IN).write_text(SCRIPT % login, encoding="utf-8")
    worker = copy / WORKER
    code = worker.read_text(encoding="utf-8")
    worker.write_text(f'{code}\nimport "./{SIGN_IN}";\n', encoding="utf-8")
    return copy
