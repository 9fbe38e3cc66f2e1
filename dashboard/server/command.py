"""The command ``bup dashboard``."""

import os
import socket
from pathlib import Path

import click

from bup.errors import BupError
from dashboard.network import interfaces


@click.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=interfaces.PORT,
    show_default=True,
    help="The port of the app; 0 for any free one.",
)
@click.option(
    "--host",
    help="The address to listen on.  [default: localhost, which no other machine reaches; with "
    "--shared 0.0.0.0, which is every network of this machine]",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    help="A name that visitors use for this machine, such as explorer.example.org; may be "
    "repeated. Others are refused.",
)
@click.option(
    "--folder",
    "folders",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A graph of yours to offer, as 'bup graphs' describes; may be repeated.",
)
@click.option(
    "--shared",
    is_flag=True,
    help="For a class or the public: others reach the app, and stricter limits hold.",
)
@click.option(
    "--processes",
    "count",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Server processes, one per core at most; a visitor stays with one of them.",
)
@click.option(
    "--prepare/--no-prepare",
    default=True,
    show_default=True,
    help="First get the graphs that are not here yet, and train what the first page shows.",
)
def dashboard(
    port: int,
    host: str | None,
    names: tuple[str, ...],
    folders: tuple[Path, ...],
    shared: bool,
    count: int,
    prepare: bool,
) -> None:
    """Serve the app, by default to this machine only."""
    host = host or ("0.0.0.0" if shared else "localhost")
    if shared:
        os.environ["BUP_SHARED"] = "1"
    _add("BUP_FOLDERS", os.pathsep, [str(folder.resolve()) for folder in folders])
    _add("BUP_HOSTS", ",", [*names, host])
    with _listen(host, port) as listening:
        from dashboard.server import balancer

        if balancer.PROCESS_NUMBER not in os.environ:  # else the balancer has recorded it
            interfaces.record_listener(listening)
        here = "localhost" if interfaces.is_every_interface(host) else host
        url = f"http://{interfaces.format_address(here, listening.getsockname()[1])}"
        if count > 1:
            balancer.serve(listening, count, prepare, lambda: interfaces.announce(url))
            return
        from dashboard.server import serving

        balancer.exit_with_parent()
        serving.serve(serving.application(prepare=prepare, url=url), listening)


def _add(setting: str, between: str, values: list[str]) -> None:
    """Add to the values that the environment has already."""
    os.environ[setting] = between.join(filter(None, [os.environ.get(setting), *values]))


def _listen(host: str, port: int) -> socket.socket:
    """Called before anything is loaded, so that an early visitor waits instead of failing."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
        raise BupError(
            f"the app cannot listen on {host}:{port} ({reason}): choose another --port or --host"
        ) from error
