"""Compares the output of a command with the output that a page prints; `…` stands for omitted text."""

from __future__ import annotations

import json
import re
from typing import Any

OMITTED = "…"
UNFINISHED = {"queued", "running"}  # a worker may claim the job before the response describes it


def mismatches(language: str, printed: str, output: str) -> list[str]:
    """Return the differences between a printed block, of type json, http or text, and the real output."""
    match language:
        case "json":
            return differences(_parse(printed), json.loads(output))
        case "http":
            return _http_mismatches(printed, output)
        case _:
            return [] if _text_pattern(printed).fullmatch(_trimmed(output)) else [f"found:\n{output}"]


def differences(printed: Any, found: Any, pointer: str = "") -> list[str]:
    """Return the differences between two JSON values; `…` matches any value and any further members."""
    if printed == OMITTED:
        return []
    if isinstance(printed, dict) and isinstance(found, dict):
        names = printed.keys() - {OMITTED}
        unexpected = set() if OMITTED in printed else found.keys() - names
        only_in_one = [
            f"{pointer}/{name} is {'printed' if name in names else 'not printed'} only"
            for name in sorted(names - found.keys() | unexpected)
        ]
        return only_in_one + [
            difference
            for name in sorted(names & found.keys())
            for difference in differences(printed[name], found[name], f"{pointer}/{name}")
        ]
    if isinstance(printed, list) and isinstance(found, list) and len(printed) == len(found):
        pairs = enumerate(zip(printed, found, strict=True))
        return [item for index, (a, b) in pairs for item in differences(a, b, f"{pointer}/{index}")]
    if isinstance(printed, str) and isinstance(found, str):
        is_equal = {printed, found} <= UNFINISHED or _pattern(printed).fullmatch(found) is not None
    else:
        is_equal = printed == found
    return [] if is_equal else [f"{pointer} is {found!r}, and {printed!r} is printed"]


def without_history(language: str, printed: str) -> str:
    """Return the printed block without the values that depend on earlier requests: balances and traces."""
    text = re.sub(r'("balance": )\d+', rf"\1{OMITTED}", printed)
    text = re.sub(r"(X-Credits-Balance: )\d+", rf"\1{OMITTED}", text)
    if language == "text":
        return text
    head, separator, body = text.rpartition("\n\n")
    content = _parse(body)
    if "trace" in content:
        content["trace"] = OMITTED
    return head + separator + json.dumps(content, ensure_ascii=False)


def _http_mismatches(printed: str, output: str) -> list[str]:
    """Compare what `curl -i` prints; headers that the page leaves out are ignored."""
    (status, headers, body), (status_found, headers_found, body_found) = _split(printed), _split(output)
    return [
        *differences(status, status_found, "status"),
        *differences(headers | {OMITTED: OMITTED}, headers_found, "headers"),
        *differences(_parse(body), json.loads(body_found)),
    ]


def _split(message: str) -> tuple[str, dict[str, str], str]:
    head, _, body = message.replace("\r\n", "\n").partition("\n\n")
    status, *lines = head.splitlines()
    return status, dict(line.split(": ", 1) for line in lines), body


def _parse(printed: str) -> Any:
    """Parse printed JSON; an ellipsis becomes a string, or a member of the object that it stands in."""
    text = re.sub(r"(?<=: )…(?=[,}])", f'"{OMITTED}"', printed)
    return json.loads(re.sub(r"(?<=[{\s])…(?=})", f'"{OMITTED}": "{OMITTED}"', text))


def _trimmed(text: str) -> str:
    """Return the text with the columns of its tables two spaces apart: their widths depend on the values."""
    return "\n".join(re.sub(r" {2,}", "  ", line.rstrip()) for line in text.strip("\n").splitlines())


def _pattern(printed: str) -> re.Pattern[str]:
    return re.compile('[^"\\s]+'.join(map(re.escape, printed.split(OMITTED))))


def _text_pattern(printed: str) -> re.Pattern[str]:
    """Return a pattern in which a line `…` matches any lines, and `…` within a line any characters."""
    lines = (
        "(?s:.*)" if line == OMITTED else "[^\n]*".join(map(re.escape, line.split(OMITTED)))
        for line in _trimmed(printed).splitlines()
    )
    return re.compile("\n".join(lines))
