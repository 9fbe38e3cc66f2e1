"""The commands ``bup dashboard`` and ``bup class``."""

import os
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from bup.errors import BupError
from bup.io.extras import needs
from dashboard.network import interfaces

_port = click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=interfaces.PORT,
    show_default=True,
    help="The port of the app; 0 for any free one.",
)
_folders = click.option(
    "--folder",
    "folders",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A graph of yours to offer, as 'bup graphs' describes; may be repeated.",
)
_count = click.option(
    "--processes",
    "count",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Server processes, one per core at most; a visitor stays with one of them.",
)
_prepare = click.option(
    "--prepare/--no-prepare",
    default=True,
    show_default=True,
    help="First get the graphs that are not here yet, and train what the first page shows.",
)


@click.command()
@_port
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
@_folders
@click.option(
    "--shared",
    is_flag=True,
    help="For the public: others reach the app, and stricter limits hold.",
)
@_count
@_prepare
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
    _serve(port, host, names, folders, count, prepare, lambda url, _: interfaces.announce(url))


@click.command("class")
@_port
@_folders
@_count
@_prepare
def lead_class(port: int, folders: tuple[Path, ...], count: int, prepare: bool) -> None:
    """Serve the app to a class: start one, show students the way in, open the lecturer's page.

    Students need to be in the same network as this machine. It is 'bup dashboard --shared' with a
    class that has begun.
    """
    os.environ["BUP_SHARED"] = "1"

    def announce(url: str, opens: bool) -> str:
        with needs("app", "a class"):
            from dashboard.classroom import invitation

        return invitation.announce(url, opens)

    _serve(port, "0.0.0.0", (), folders, count, prepare, announce)


def _serve(
    port: int,
    host: str,
    names: tuple[str, ...],
    folders: tuple[Path, ...],
    count: int,
    prepare: bool,
    announce: Callable[[str, bool], str],
) -> None:
    """Serve until interrupted.

    ``announce`` is given the address, and whether a browser opens the page that it returns.
    """
    _add("BUP_FOLDERS", os.pathsep, [str(folder.resolve()) for folder in folders])
    _add("BUP_HOSTS", ",", [*names, host])
    with _listen(host, port) as listening:
        with needs("app", "the app"):
            from dashboard.server import balancer

        if balancer.PROCESS_NUMBER not in os.environ:  # else the balancer has recorded it
            interfaces.record_listener(listening)
        here = "localhost" if interfaces.is_every_interface(host) else host
        url = f"http://{interfaces.format_address(here, listening.getsockname()[1])}"
        if count > 1:
            balancer.serve(listening, count, prepare, lambda: announce(url, False))
            return
        with needs("app", "the app"):
            from dashboard.server import serving

        balancer.exit_with_parent()
        app = serving.application(prepare=prepare, announce=partial(announce, url))
        serving.serve(app, listening)


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
