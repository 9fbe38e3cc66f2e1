"""The ``bup`` command: what needs torch is imported where it is used, so that the rest is quick."""

from __future__ import annotations

import sys

import click

import bup
from bup.cli import fitting, graphs, methods, reproduction


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.version_option(bup.__version__, message="%(version)s")
@click.pass_context
def app(context: click.Context) -> None:
    """See, question and understand the uncertainty of a graph neural network."""
    if context.invoked_subcommand is None:
        print(context.get_help())


for command in (
    graphs.graphs,
    graphs.graph,
    methods.methods,
    fitting.fit,
    reproduction.reproduce,
):
    app.add_command(command)


def main() -> None:
    """Run the command; what a person can act on is one line on stderr and exit code 2."""
    try:
        code = app(prog_name="bup", standalone_mode=False)
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
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str) -> None:
    print("bup: " + " ".join(message.split()), file=sys.stderr)
    sys.exit(2)
