"""The ``bup`` command: what needs torch is imported where it is used, so that the rest is quick."""

import os
import sys
from importlib import import_module
from io import TextIOWrapper

import click

import bup
from bup.io import plugins

COMMANDS = {
    "graphs": "bup.cli.graphs",
    "graph": "bup.cli.graphs",
    "methods": "bup.cli.methods",
    "fit": "bup.cli.fitting",
    "explain": "bup.cli.explain",
    "import": "bup.cli.importing:import_predictions",
    "reproduce": "bup.cli.reproduction",
    "exercises": "bup.cli.exercises",
}
"""The module of each command, imported when the command is used. The dashboard adds its own by
entry points."""


class Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS, *plugins.names(plugins.COMMANDS)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        home = COMMANDS.get(cmd_name)
        if home is None:
            added = cmd_name in plugins.names(plugins.COMMANDS)
            return plugins.load(plugins.COMMANDS, cmd_name) if added else None
        module, _, function = home.partition(":")
        return getattr(import_module(module), function or cmd_name)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
)
@click.version_option(bup.__version__, message="%(version)s")
@click.pass_context
def app(context: click.Context) -> None:
    """See, question and understand the uncertainty of a graph neural network."""
    if context.invoked_subcommand is None:
        print(context.get_help())


def main() -> None:
    """Run the command; what a person can act on is one line on stderr and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # Windows writes into files what lacks our signs
            stream.reconfigure(encoding="utf-8", errors=stream.errors)
    try:
        code = app(prog_name="bup", standalone_mode=False)
        sys.stdout.flush()
    except bup.BupError as error:
        _fail(str(error))
    except click.ClickException as error:
        _fail(error.format_message())
    except (click.Abort, KeyboardInterrupt):
        print("bup: stopped", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    except OSError as error:
        # What is left to write would fail again when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        what = repr(error.filename) if error.filename else "the output"
        why = error.strerror or error
        _fail(f"cannot read or write {what} ({why}): check the permissions and the free space")
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str) -> None:
    print("bup: " + " ".join(message.split()), file=sys.stderr)
    sys.exit(2)
