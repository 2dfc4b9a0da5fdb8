"""The README's walk with curl: its blocks, and whether an answer is the one that is printed there."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from tools.state import ROOT

LEFT_OUT = "…"
_BLOCKS = re.compile(r"^```sh\n(.+?)^```\n\n```(json|http)\n(.+?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """Commands to paste, and the answer that is printed under them."""

    commands: str
    status: str
    headers: dict[str, str]
    body: Any


def blocks() -> list[Block]:
    """Read the walk."""
    section = (ROOT / "README.md").read_text().partition("## A walk with curl\n")[2].partition("\n## ")[0]
    found = _BLOCKS.findall(section)
    assert len(found) == section.count("```sh")
    return [_block(commands, answer, has_head=kind == "http") for commands, kind, answer in found]


def without_history(value: Any) -> Any:
    """Replace what depends on earlier requests: balances, and which providers have answered before."""
    if isinstance(value, list):
        return [without_history(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        name: LEFT_OUT if name in {"balance", "trace"} else without_history(one)
        for name, one in value.items()
    }


def split(answer: str) -> tuple[str, dict[str, str], str]:
    """Split what `curl -i` printed into status line, headers and body."""
    head, _, body = answer.replace("\r\n", "\n").partition("\n\n")
    status, *lines = head.splitlines()
    return status, dict(line.split(": ", 1) for line in lines), body


def differences(printed: Any, found: Any, place: str = "") -> list[str]:
    """List where an answer is not what is printed; `…` stands for anything, and for further members."""
    if printed == LEFT_OUT:
        return []
    if isinstance(printed, dict) and isinstance(found, dict):
        names = printed.keys() - {LEFT_OUT}
        more = set() if LEFT_OUT in printed else found.keys() - names
        wrong = [
            f"{place}/{name} is {'printed' if name in names else 'not printed'} only"
            for name in sorted(names - found.keys() | more)
        ]
        return wrong + [
            fault
            for name in sorted(names & found.keys())
            for fault in differences(printed[name], found[name], f"{place}/{name}")
        ]
    if isinstance(printed, list) and isinstance(found, list) and len(printed) == len(found):
        pairs = enumerate(zip(printed, found, strict=True))
        return [fault for at, (one, other) in pairs for fault in differences(one, other, f"{place}/{at}")]
    if isinstance(printed, str) and isinstance(found, str) and _pattern(printed).fullmatch(found):
        return []
    return [] if printed == found else [f"{place} is {found!r}, and {printed!r} is printed"]


def _block(commands: str, answer: str, *, has_head: bool) -> Block:
    status, headers, body = split(answer) if has_head else ("", {}, answer)
    return Block(commands, status, headers, json.loads(_as_json(body)))


def _as_json(text: str) -> str:
    """Make JSON of it: what is left out becomes a member or a value of its own."""
    text = re.sub(r"(?<=[{\s])…(?=})", f'"{LEFT_OUT}": "{LEFT_OUT}"', text)
    return re.sub(r"(?<=: )…(?=[,}])", f'"{LEFT_OUT}"', text)


def _pattern(printed: str) -> re.Pattern[str]:
    return re.compile('[^"\\s]+'.join(map(re.escape, printed.split(LEFT_OUT))))
