import asyncio
import contextlib
import socket
from types import SimpleNamespace

import pytest

from dashboard import clients
from dashboard.processes import Process, _share, chosen

HERE = "127.0.0.1"


def process(number: int, port: int = 0, alive: bool = True) -> Process:
    popen = SimpleNamespace(poll=lambda: None if alive else 1)
    return Process(number, port, popen)


def head(cookie: str = "") -> bytes:
    return f"GET / HTTP/1.1\r\nHost: localhost\r\n{cookie and f'Cookie: {cookie}'}\r\n\r\n".encode()


@pytest.mark.parametrize(
    "cookie", ["bup_process=1", "a=b; bup_process=1; c=d", "bup_process=1;x=2"]
)
def test_a_visitor_stays_with_the_process_that_knows_them(cookie):
    assert chosen(head(cookie), [process(0), process(1), process(2)]).number == 1


@pytest.mark.parametrize("cookie", ["", "bup_process=7", "bup_process=x", "other=1"])
def test_others_go_where_the_fewest_are(cookie):
    busy, idle = process(0), process(1)
    busy.connections = 3
    assert chosen(head(cookie), [busy, idle]) is idle


def test_newcomers_take_turns_where_nobody_stays_connected():
    idle = [process(0), process(1)]
    assert [chosen(head(), idle).number for _ in range(4)] == [0, 1, 0, 1]


def test_those_of_a_process_that_has_ended_go_to_another():
    living = process(0)
    assert chosen(head("bup_process=1"), [living, process(1, alive=False)]) is living
    assert chosen(head(), [process(0, alive=False)]) is None


def test_bytes_pass_both_ways_and_a_connection_stays_where_it_is():
    """Two servers that say their number before what they were sent, behind one address."""

    async def echo(number: int) -> asyncio.Server:
        async def answer(reader, writer):
            while data := await reader.read(1000):
                writer.write(b"%d:" % number + data)
                await writer.drain()
            writer.close()

        return await asyncio.start_server(answer, "localhost", 0)

    async def play() -> list[bytes]:
        servers = [await echo(number) for number in (0, 1)]
        ports = [server.sockets[0].getsockname()[1] for server in servers]
        with socket.create_server((HERE, 0)) as door:
            shared = [process(number, port) for number, port in enumerate(ports)]
            sharing = asyncio.create_task(_share(door, shared))
            heard = []
            for number in (1, 0):
                reader, writer = await asyncio.open_connection(*door.getsockname())
                first, later = head(f"bup_process={number}"), b"\x00\xff later"
                for words, passed in ((first, clients.addressed(first, HERE)), (later, later)):
                    writer.write(words)
                    heard.append(await reader.readexactly(2 + len(passed)))
                    assert heard[-1] == b"%d:" % number + passed
                assert shared[number].connections == 1
                writer.close()
                await writer.wait_closed()
                while shared[number].connections:
                    await asyncio.sleep(0.01)
            await asyncio.sleep(0.05)  # for the servers to notice
            sharing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await sharing
        for server in servers:
            server.close()
            await server.wait_closed()
        return heard

    assert len(asyncio.run(play())) == 4
