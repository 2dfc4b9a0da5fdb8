"""Runs the command blocks of pages in a shell, and compares what they print with what the pages print."""

from __future__ import annotations

from typing import Protocol

from pages import Block, command_blocks
from printed_output import mismatches, without_history

ACCEPTED, OK = "HTTP/1.1 202 ", "HTTP/1.1 200 "


class Runner(Protocol):
    """A shell."""

    def run(self, commands: str, /) -> tuple[str, int]:
        """Return what the commands print, and the exit code of the last."""


def faults(shell: Runner, blocks: list[Block], *, is_fresh: bool) -> list[str]:
    """Run every block that can be run; return where it fails, or prints what its page does not print."""
    found = []
    for block in blocks:
        output, code = shell.run(block.commands)
        if code:
            found.append(f"{block.page}:{block.line} exits with {code}:\n{output}")
        elif not is_fresh and block.output.startswith(ACCEPTED) and output.startswith(OK):
            continue  # the address is stored since the first run: the job may finish before the response
        elif block.output:
            printed = block.output if is_fresh else without_history(block.language, block.output)
            wrong = mismatches(block.language, printed, output)
            found += [f"{block.page}:{block.line} {fault}" for fault in wrong]
    return found


def runnable(*names: str) -> list[Block]:
    """Return the blocks of the pages, without those that have a reason not to be run."""
    return [block for name in names for block in command_blocks(name) if block.reason_not_run is None]
