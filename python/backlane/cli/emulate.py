"""`backlane emulate`: a scenario on the wall clock, between real programs."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from backlane.cli import output
from backlane.cli.app import Verb, json_option, python_option, set_option
from backlane.emulate import namespaces
from backlane.errors import EXIT_OK, EXIT_PROBLEM
from backlane.text import rate, seconds, slug

if TYPE_CHECKING:
    from backlane.emulate.session import Session
    from backlane.results import Results

STDERR = 2
"""The descriptor for what a command prints beside a JSON object."""
EXEC = "exec"
"""In place of FILE: executes a command as a program of a host."""
_SPAN = re.compile(r"\d+(?:\.\d+)?\s*(?:ms|s|min|h)")


def _span(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None and not _SPAN.fullmatch(value):
        raise click.BadParameter(f'"{value}" is no time, such as 60s')
    return value


@click.command(
    cls=Verb,
    example=(
        "backlane emulate cell.toml\n"
        "backlane emulate exec ue1 -- iperf3 -c server    # in another terminal\n"
        "backlane emulate cell.toml --for 60s -- ./experiment.sh\n"
        "backlane emulate --clean"
    ),
    help="Carry out a scenario on the wall clock, where real programs use the hosts of its flows "
    'with stack = "external". Each host is a network namespace with one interface. `exec` in place '
    "of FILE executes COMMAND as a program of HOST. With FILE, COMMAND is executed on this machine "
    "while the emulation goes on, which ends with it; otherwise it ends with the scenario's "
    "duration, or by Ctrl-C.",
)
@click.argument(
    "words", nargs=-1, metavar="{FILE [-- COMMAND...] | exec HOST -- COMMAND...}",
    type=click.UNPROCESSED,
)  # fmt: skip
@click.option(
    "--for",
    "duration",
    callback=_span,
    metavar="TIME",
    help="In place of the duration in the file.",
)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    help="Results folder; default results/<name>-<run>.",
)
@set_option
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="In place of the seed in the file.")
@click.option(
    "--realtime",
    is_flag=True,
    help="Give the simulation priority over all ordinary programs of this machine.",
)
@click.option("--run", "run", metavar="RUN", help="With exec: which emulation, if several go on.")
@click.option("--clean", is_flag=True, help="Remove what killed emulations have left, and end.")
@python_option
@json_option
def command(
    words: tuple[str, ...],
    duration: str | None,
    out: Path | None,
    settings: tuple[str, ...],
    seed: int | None,
    realtime: bool,
    run: str | None,
    clean: bool,
    allow_python: bool,
    as_json: bool,
) -> int:
    """Emulate, execute or clean."""
    if clean:
        if words:
            raise click.UsageError("--clean takes no FILE")
        return _clean(as_json)
    if not words:
        raise click.UsageError("Missing argument 'FILE'.")
    first, *rest = words
    if first == EXEC:
        if len(rest) < 2:
            raise click.UsageError("exec takes a HOST and, after --, a COMMAND")
        return _execute(rest[0], rest[1:], run)
    return _emulate(
        Path(first), rest, duration, out, settings, seed, realtime, allow_python, as_json
    )  # fmt: skip


def _clean(as_json: bool) -> int:
    from backlane.emulate import rights, state

    if state.found():
        rights.require()
    gone, kept = state.clean()
    for sentence in kept:
        output.error(f"warning: {sentence}")
    if as_json:
        output.emit({"ok": not kept, "removed": [one.run for one in gone], "kept": kept})
    else:
        for one in gone:
            output.tell(f"removed what {one.name} ({one.run}) had left: {len(one.hosts)} hosts")
        if not gone and not kept:
            output.tell("nothing to remove")
    return EXIT_PROBLEM if kept else EXIT_OK


def _execute(host: str, words: list[str], run: str | None) -> int:
    """Become the command."""
    from backlane.emulate import rights, state

    found = state.host(host, run or os.environ.get("BACKLANE_RUN"))
    rights.require()
    line = namespaces.inside(found, words)
    os.execvp(line[0], line)


def _emulate(
    file: Path,
    words: list[str],
    duration: str | None,
    out: Path | None,
    settings: tuple[str, ...],
    seed: int | None,
    realtime: bool,
    allow_python: bool,
    as_json: bool,
) -> int:
    from backlane import classes, single
    from backlane.campaign.plan import make_plan, parse_overrides
    from backlane.cli.emulate_view import View
    from backlane.emulate import rights, state
    from backlane.emulate.session import Session

    rights.require()
    overrides = parse_overrides(settings)
    if duration is not None:
        overrides = [*overrides, ("duration", f'"{duration}"')]
    plan = make_plan(file, overrides, seed)
    work = single.only_run(plan, file)
    classes.authorize(plan.classes(), file, allow_python, output.error)
    for remark in single.remarks(work, file):
        output.error(remark["rendered"])
    gone, kept = state.clean()
    for one in gone:
        output.say(f"removed what {one.name} ({one.run}) had left")
    for sentence in kept:
        output.error(f"warning: {sentence}")
    with Session(work, realtime) as session:
        folder = out or Path("results") / f"{slug(plan.name)}-{session.run}"
        _introduce(session)
        with View(session) as view:
            results, code = session.carry_out(
                folder, overrides, words, view.show, STDERR if as_json else None
            )
        for host, pid, name in session.left_over():
            output.error(
                f"warning: {name} (process {pid}) still runs as a program of {host.name}, "
                "without a network"
            )
    return _finish(results, folder, words, code, as_json)


def _introduce(session: Session) -> None:
    """What the hosts are, and how they are used."""
    first, *_, last = session.hosts
    output.say(f"emulation {session.run}: {len(session.hosts)} hosts, each a network namespace")
    for host in session.hosts:
        output.say(f"  {host.name}  {host.address}  ip netns exec {host.namespace} COMMAND")
    output.say(f"for instance: backlane emulate exec {first.name} -- ping {last.name}")
    overlap = namespaces.overlapping_routes()
    if overlap:
        output.say(
            f"note: this machine has routes into {namespaces.NETWORK} ({', '.join(overlap)}); they "
            "are neither used nor changed, and hosts of the emulation do not reach what is there"
        )


def _finish(
    results: Results, folder: Path, words: list[str], code: int | None, as_json: bool
) -> int:
    """Print what the emulation was, and give the exit code."""
    emulation: dict[str, Any] = results.manifest["emulation"]
    lateness: dict[str, Any] = emulation["lateness"]
    row = results.runs.row(0, named=True)
    failed = code not in (None, 0)
    if as_json:
        summary = {key: value for key, value in row.items() if key != "dropped_by_cause"}
        output.emit(
            {"ok": not failed, "folder": str(folder), "name": results.name, **summary,
             "command_exit_code": code, "emulation": emulation}
        )  # fmt: skip
    else:
        flows = results.flows.filter(results.flows["packets_sent"] > 0)
        output.print_table(
            f"{results.name}, {seconds(row['traffic_s'])} on the wall clock",
            ["flow", "from", "to", "delivered", "goodput", "RTT", "retransmitted"],
            [
                [
                    flow["flow"], flow["source"], flow["destination"],
                    f"{(flow['delivered_bytes'] or 0) / 1e6:.1f} MB", rate(flow["goodput_bps"]),
                    seconds(flow["rtt_mean_s"]), str(flow["retransmits"]),
                ]
                for flow in flows.iter_rows(named=True)
            ],
        )  # fmt: skip
        output.say(
            f"{emulation['delivered_pkts']} packets delivered to hosts; lateness "
            f"{seconds(lateness['p50_s'])} median, {seconds(lateness['p99_s'])} p99, "
            f"{seconds(lateness['worst_s'])} at worst"
        )
    if lateness["behind_periods"]:
        output.error(
            f"warning: the model did not keep up with the wall clock for "
            f"{seconds(lateness['behind_s'])}: what was measured then is not of this network"
        )
    if emulation["dropped_before_pkts"]:
        output.error(
            f"warning: {emulation['dropped_before_pkts']} packets were dropped by the interfaces "
            "of their hosts, before the simulation could read them"
        )
    if emulation["rejected_pkts"]:
        output.say(
            f"{emulation['rejected_pkts']} packets led to no host of an external flow, or were not "
            "of IPv4"
        )
    if failed:
        output.error(f"warning: the command {words[0]} ended with {code}")
    if not as_json:
        output.tell(str(folder))
    return EXIT_PROBLEM if failed else EXIT_OK
