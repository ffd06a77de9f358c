"""The command `backlane` and the format of its verbs."""

from __future__ import annotations

from importlib import import_module
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, TypeVar

import click

from backlane import __version__
from backlane.cli import output
from backlane.errors import EXIT_USAGE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from backlane.campaign.plan import Plan, Run

Function = TypeVar("Function", bound="Callable[..., Any]")

VERBS = {
    "init": "Write a commented scenario file to begin with.",
    "import": "Make a scenario of a network that other programs describe.",
    "budget": "Compute the link budgets of a table of radio links.",
    "check": "Check a scenario file without running it.",
    "bound": "Compute what no routing could beat, without a packet.",
    "optimum": "Write a scenario whose routers follow the paths of the bound's optimum.",
    "weights": "Look for costs of links with which OSPF divides traffic well.",
    "plan": "Say what the runs of a scenario cost, before running them.",
    "run": "Run one scenario and write its results folder.",
    "emulate": "Carry out a scenario on the wall clock, between real programs.",
    "campaign": "Run a sweep over parameters and seeds.",
    "recommend": "Add seeds to a sweep until the best contender is settled.",
    "reproduce": "Reproduce a published study: run, draw, judge its claims.",
    "export": "Write a scenario as a program for ns-3.",
    "validate": "Compare the models with Linux, ns-3 and other programs.",
    "linux": 'Build Linux kernels for flows with stack = "linux".',
    "report": "Draw and judge results: a table and a report.html.",
    "schema": "Print the JSON Schema of the scenario file.",
    "explain": "Explain an error code.",
    "doctor": "Check this installation.",
    "completions": "Print a script that teaches a shell to complete verbs and options.",
    "help": "Show the help of a verb.",
}
"""Every verb with its line of help; the module of a verb is imported when it is used."""


def _set_color(_context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        output.state.color = value


def _set_debug(_context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    output.state.debug = output.state.debug or value


def _set_quiet(_context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    output.state.quiet = output.state.quiet or value


def _set_verbose(_context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    output.state.verbose = output.state.verbose or value


def common_options() -> list[click.Parameter]:
    """Options that every verb takes."""
    return [
        click.Option(
            ["--color"],
            type=click.Choice(["auto", "always", "never"]),
            expose_value=False,
            callback=_set_color,
            help="When to colour; auto: on a terminal; NO_COLOR, FORCE_COLOR, CLICOLOR and "
            "CLICOLOR_FORCE are respected.",
        ),
        click.Option(
            ["-q", "--quiet"],
            is_flag=True,
            expose_value=False,
            callback=_set_quiet,
            help="Show errors and warnings, but no progress and no notes.",
        ),
        click.Option(
            ["-v", "--verbose"],
            is_flag=True,
            expose_value=False,
            callback=_set_verbose,
            help="Show progress from the start, and every second where there is no terminal.",
        ),
        click.Option(
            ["--debug"],
            is_flag=True,
            expose_value=False,
            callback=_set_debug,
            help="Show the traceback of an internal error.",
        ),
    ]


class _ExampleFirst:
    """Begin the help with an example."""

    example: str

    def write_example(self, formatter: click.HelpFormatter) -> None:
        formatter.write_text("Example:")
        formatter.indent()
        for line in self.example.splitlines():
            formatter.write(f"{' ' * formatter.current_indent}{line}\n")
        formatter.dedent()
        formatter.write_paragraph()


class Verb(click.Command, _ExampleFirst):
    """A verb whose help begins with `example`."""

    def __init__(self, *args: Any, example: str, **more: Any) -> None:
        super().__init__(*args, **more)
        self.example = example
        self.params.extend(common_options())

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the example, then what click writes."""
        self.write_example(formatter)
        super().format_help(ctx, formatter)


class Verbs(click.Group, _ExampleFirst):
    """A verb with verbs of its own."""

    def __init__(self, *args: Any, example: str, **more: Any) -> None:
        super().__init__(*args, **more)
        self.example = example
        self.params.extend(common_options())

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Show the help on stderr, as a wrong use, if there is nothing to parse."""
        if not args and not ctx.resilient_parsing:
            click.echo(self.get_help(ctx), err=True)
            ctx.exit(EXIT_USAGE)
        return super().parse_args(ctx, args)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the example, then what click writes."""
        self.write_example(formatter)
        super().format_help(ctx, formatter)


class _Backlane(Verbs):
    """The program; loads a verb when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        # `import` is a keyword, so that its module ends in an underscore.
        module = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name
        command = import_module(f"backlane.cli.{module}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from difflib import get_close_matches

        if args and args[0] not in VERBS and not args[0].startswith("-"):
            near = get_close_matches(args[0], VERBS, 1, 0.5)
            hint = f', did you mean "{near[0]}"?' if near else ""
            raise click.UsageError(f'there is no verb "{args[0]}"{hint}', ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


app = _Backlane(
    "backlane",
    example="backlane init chain chain.toml\nbacklane run chain.toml",
    help="Which backhaul routing, with which TCP congestion control, serves this network best?",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=False,
    invoke_without_command=False,
    params=[
        click.Option(
            ["-V", "--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=lambda ctx, _param, value: _version(ctx) if value else None,
            help="Print the version.",
        )
    ],
)


def _version(context: click.Context) -> None:
    click.echo(f"backlane {__version__}")
    context.exit()


def json_option(function: Function) -> Function:
    """Add the option ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")(function)


def python_option(function: Function) -> Function:
    """Add the option ``--allow-python``."""
    return click.option(
        "--allow-python",
        is_flag=True,
        help="Execute Python that stands in FILE itself or outside of its folder.",
    )(function)


def memory_option(function: Function) -> Function:
    """Add the option ``--ignore-memory``."""
    return click.option(
        "--ignore-memory",
        is_flag=True,
        help="Run what by the estimate takes more memory or disk than there is.",
    )(function)


def afford(
    plan: Plan,
    file: Path,
    folder: Path,
    ignore: bool,
    workers: int = 1,
    runs: Sequence[Run] | None = None,
) -> None:
    """Print what the work will cost, unless that is little.

    Raises:
        BacklaneError: R026 when the memory does not suffice.
    """
    from backlane import cost

    if not ignore:
        cost.refuse(plan, workers, runs, folder, file)
    for line in cost.remark(plan, workers, runs, folder):
        output.say(line)


def set_option(function: Function) -> Function:
    """Add the option ``--set``."""
    return click.option(
        "-s",
        "--set",
        "settings",
        multiple=True,
        metavar="KEY=VALUE",
        help="Put a value in place of the one in the file; may be repeated.",
    )(function)
