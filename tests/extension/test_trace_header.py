from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest

from tools.state import ROOT

SCRIPT = """
const { Client } = await import(process.argv[1]);
const sent = [];
globalThis.fetch = async (url, options) => {
  sent.push(options.headers.traceparent);
  return new Response(JSON.stringify({ outcome: "none" }));
};
const client = new Client("https://contacts.example.com", "ses_x");
await client.lookup({ subject: { email: "ada@canary.example" } });
await client.lookup({ subject: { email: "ada@canary.example" } });
console.log(JSON.stringify(sent));
"""


def test_each_request_of_the_client_begins_a_random_trace() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")

    ended = subprocess.run(
        [node, "--input-type=module", "-e", SCRIPT, str(ROOT / "extension" / "client" / "api.js")],
        capture_output=True,
        text=True,
        check=True,
    )

    first, second = json.loads(ended.stdout)
    assert re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-01", first)
    assert re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-01", second)
    assert first.split("-")[1] != second.split("-")[1]
