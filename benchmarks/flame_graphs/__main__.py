"""Draw flame graphs of a web process and a worker under load, and count their samples by part.

    python3 dev.py run python -m benchmarks.flame_graphs
    python3 dev.py run python -m benchmarks.flame_graphs --workload lookup --seconds 5

py-spy samples the stacks of one process of each kind 200 times a second, first for the graph, then for the
table. A sample counts for the thread that holds the interpreter's lock, so waiting is in neither.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table

from benchmarks.comparison import servers
from benchmarks.comparison.cells import Cell, Session, run_cell
from benchmarks.comparison.progress import Progress
from benchmarks.comparison.servers import Servers
from benchmarks.comparison.systems.product import Product
from benchmarks.comparison.systems.system import Part, Running, Scale, Workload, started
from benchmarks.flame_graphs import parts
from tools.console import echo
from tools.services import processes
from tools.services.processes import ServiceError
from tools.state import ROOT

OUTPUT = ROOT / ".data" / "flame_graphs"
SCALE = Scale(workspaces=20, people=5_000)
SAMPLES_PER_SECOND = 200
LEAD_SECONDS = 2.0
"""How much longer than py-spy the callers run, because it takes a moment to attach."""
_COMMAND = re.compile(r"(id=\"title\"[^>]*>)[^<]*")
"""The title of py-spy's graph, which is its command line."""
PARTS = {Part.WEB: parts.WEB, Part.WORKER: parts.WORKER}


def main() -> int:
    """Return 0 if everything was recorded and answered right, 130 after an interrupt, otherwise 1."""
    options = _parser().parse_args()
    folder = Path(tempfile.mkdtemp(prefix="flame-graphs-"))
    with processes.interruptible():
        try:
            graphs, stacks = _record(folder, options.workload, options.callers, options.seconds)
        except ServiceError as error:
            echo(f"{error}\nLogs: {folder}")
            return 1
        except KeyboardInterrupt:
            return 130
    options.output.mkdir(parents=True, exist_ok=True)
    for part, graph in graphs.items():
        titled = _COMMAND.sub(rf"\g<1>{options.workload}: {part}", graph.read_text())
        (options.output / f"{options.workload}-{part}.svg").write_text(titled)
        _print(options.workload, part, stacks[part].read_text().splitlines())
    shutil.rmtree(folder, ignore_errors=True)
    echo(f"The graphs are in {options.output}.")
    return 0


def _record(
    folder: Path, workload: Workload, callers: int, seconds: int
) -> tuple[dict[Part, Path], dict[Part, Path]]:
    """Run the product under load; return a flame graph and the raw stacks of each process.

    Raises:
        ServiceError: a process does not start, py-spy fails, or an answer is wrong.

    """
    product, cell = Product(), Cell("product", workload, callers)
    with servers.running(folder) as shared, Progress(4) as progress:
        progress.show("create the data")
        session = Session(product, product.prepare(shared, SCALE), SCALE)
        progress.advance("done")
        with started(product, shared) as running:
            progress.show("warm up")
            before = _cpu_seconds(running)
            _send(shared, running, session, cell, seconds)
            shared.collect_statistics(product.name)
            pids = {part: _busiest(running, part, before) for part in PARTS if _takes_part(part, workload)}
            progress.advance(f"{cell.answered} answers")
            recorded = []
            for style in ("flamegraph", "raw"):
                progress.show(f"record as {style}")
                files = {part: folder / f"{part}.{style}" for part in pids}
                with ExitStack() as recordings:
                    for part, file in files.items():
                        recordings.enter_context(_recording(pids[part], file, style, seconds))
                    _send(shared, running, session, cell, seconds + LEAD_SECONDS)
                recorded.append(files)
                progress.advance(f"{cell.answered} answers")
    return recorded[0], recorded[1]


def _takes_part(part: Part, workload: Workload) -> bool:
    """Return whether the process does anything for the request: workers do not see lookups."""
    return part is Part.WEB or workload is Workload.REVEAL


def _send(shared: Servers, running: Running, session: Session, cell: Cell, seconds: float) -> None:
    run_cell(shared, running, session, cell, seconds)
    if cell.wrong or cell.failed or not cell.answered:
        raise ServiceError(f"Wrong answers: {cell.wrong} {cell.examples}, by status: {cell.failed}")


def _busiest(running: Running, part: Part, before: Mapping[int, float]) -> int:
    """Return the process of the part that has used the most processor time since then."""
    used = _cpu_seconds(running, part)
    return max(used, key=lambda pid: used[pid] - before.get(pid, 0.0))


def _cpu_seconds(running: Running, *chosen: Part) -> dict[int, float]:
    """Return the processor time of each process of these parts, or of all parts, by its id."""
    roots = [psutil.Process(pid) for part in chosen or PARTS for pid in running.pids[part]]
    found = [process for root in roots for process in (root, *root.children(recursive=True))]
    return {process.pid: sum(process.cpu_times()[:2]) for process in found}


@contextmanager
def _recording(pid: int, file: Path, style: str, seconds: int) -> Iterator[None]:
    """Record a process with py-spy during the block, and wait for its end."""
    command = [str(Path(sys.executable).parent / "py-spy"), "record", "--gil", "--function"]
    command += ["--pid", str(pid), "--format", style, "--output", str(file)]
    command += ["--rate", str(SAMPLES_PER_SECOND), "--duration", str(seconds)]
    recorder = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)  # noqa: S603 -- a program of the environment
    try:
        yield
        _, errors = recorder.communicate()
    finally:
        recorder.kill()
        recorder.wait()
    if recorder.returncode:
        raise ServiceError(f"py-spy has failed; it may need root, or CAP_SYS_PTRACE:\n{errors}")


def _print(workload: Workload, part: Part, stacks: Sequence[str]) -> None:
    table = Table(f"{workload}: {part}")
    table.add_column("share of the samples", justify="right")
    for name, share in parts.shares(stacks, PARTS[part]).items():
        table.add_row(name, f"{share:.1%}")
    Console(highlight=False).print(table)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.flame_graphs",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    workloads = [Workload.REVEAL, Workload.LOOKUP]
    parser.add_argument("--workload", type=Workload, choices=workloads, default=Workload.REVEAL)
    parser.add_argument("--callers", type=int, default=4)
    parser.add_argument("--seconds", type=int, default=15, help="of each of the two recordings (15)")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="folder (.data/flame_graphs)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
