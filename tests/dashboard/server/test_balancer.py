import asyncio
import contextlib
import socket
import threading
from types import SimpleNamespace

import pytest

from bup import BupError
from dashboard.network import clients
from dashboard.server import balancer
from dashboard.server.balancer import ServerProcess, _forward_connections, choose_process

HERE = "127.0.0.1"


def process(number: int, port: int = 0, alive: bool = True) -> ServerProcess:
    popen = SimpleNamespace(poll=lambda: None if alive else 1, returncode=-9)
    return ServerProcess(number, port, popen)


async def answered(request: bytes, *servers: ServerProcess) -> bytes:
    """What the one at the front answers until it closes the connection."""
    with socket.create_server(("localhost", 0)) as door:
        sharing = asyncio.create_task(_forward_connections(door, servers))
        reader, writer = await asyncio.open_connection(*door.getsockname())
        writer.write(request)
        answer = await reader.read()
        writer.close()
        sharing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await sharing
    return answer


def head(cookie: str = "") -> bytes:
    return f"GET / HTTP/1.1\r\nHost: localhost\r\n{cookie and f'Cookie: {cookie}'}\r\n\r\n".encode()


@pytest.mark.parametrize(
    "cookie", ["bup_process=1", "a=b; bup_process=1; c=d", "bup_process=1;x=2"]
)
def test_a_visitor_stays_with_the_process_that_knows_them(cookie):
    assert choose_process(head(cookie), [process(0), process(1), process(2)]).number == 1


@pytest.mark.parametrize(
    "cookie", ["", "bup_process=7", "bup_process=x", "other=1", "bup_process=" + "1" * 5000]
)
def test_others_go_where_the_fewest_are(cookie):
    busy, idle = process(0), process(1)
    busy.connections = 3
    assert choose_process(head(cookie), [busy, idle]) is idle


def test_newcomers_take_turns_where_nobody_stays_connected():
    idle = [process(0), process(1)]
    assert [choose_process(head(), idle).number for _ in range(4)] == [0, 1, 0, 1]


def test_those_of_a_process_that_has_ended_go_to_another():
    living = process(0)
    assert choose_process(head("bup_process=1"), [living, process(1, alive=False)]) is living
    assert choose_process(head(), [process(0, alive=False)]) is None


def test_none_goes_to_a_process_that_does_not_answer_yet():
    starting = process(1)
    starting.ready = False
    old = process(0)
    assert choose_process(head("bup_process=1"), [old, starting]) is old


def test_a_process_that_has_ended_is_replaced_by_one_of_its_number(monkeypatch):
    living, dead, ended = process(0), process(1, alive=False), threading.Event()
    shared = [living, dead]

    def wait(other: ServerProcess) -> None:
        other.ready = True
        ended.set()

    monkeypatch.setattr(balancer, "RESTART_CHECK", 0.01)
    monkeypatch.setattr(balancer, "_spawn", lambda number, _: process(number, 99))
    monkeypatch.setattr(balancer, "_wait_until_ready", wait)
    balancer.restart_ended(shared, ended)
    assert shared[0] is living and shared[1] is not dead
    assert (shared[1].number, shared[1].port, len(shared)) == (1, 99, 2)


def test_one_that_does_not_even_start_is_not_started_again_at_once(monkeypatch):
    started, rests = [], []

    def fail(other: ServerProcess) -> None:
        raise BupError("no")

    def rest(seconds: float) -> bool:
        rests.append(seconds)
        return len(rests) > 2

    def start(number: int, _: object) -> ServerProcess:
        started.append(number)
        other = process(number)
        other.popen = SimpleNamespace(poll=lambda: 1, returncode=1, kill=lambda: None)
        return other

    monkeypatch.setattr(balancer, "_spawn", start)
    monkeypatch.setattr(balancer, "_wait_until_ready", fail)
    balancer.restart_ended([process(0, alive=False)], SimpleNamespace(wait=rest))
    assert started == [0, 0] and rests[0] == balancer.RESTART_CHECK
    assert rests[1:] == [balancer.RESTART_DELAY] * 2


@pytest.mark.parametrize("ended", [True, False])
def test_without_a_process_that_answers_a_sentence_says_so(ended):
    """Also where one has ended without anybody having noticed."""
    with socket.create_server(("localhost", 0)) as free:
        nobody = process(0, free.getsockname()[1], alive=not ended)

    answer = asyncio.run(answered(head(), nobody))
    assert answer.startswith(b"HTTP/1.1 503 ") and answer.endswith(balancer.UNAVAILABLE.encode())


def test_half_a_request_is_not_waited_for_long(monkeypatch):
    monkeypatch.setattr(balancer, "HEAD_TIMEOUT", 0.05)
    assert asyncio.run(answered(b"GET / HTTP/1.1\r\nHost: ", process(0))) == b""


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
            sharing = asyncio.create_task(_forward_connections(door, shared))
            heard = []
            for number in (1, 0):
                reader, writer = await asyncio.open_connection(*door.getsockname())
                first, later = head(f"bup_process={number}"), b"\x00\xff later"
                signed = clients.add_address_header(first, HERE)
                for words, passed in ((first, signed), (later, later)):
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


def test_a_process_that_ends_before_it_answers_is_said_to_have_ended():
    async def gone() -> bytes:
        async def end(reader, writer):
            await reader.readuntil(b"\r\n\r\n")
            writer.close()

        server = await asyncio.start_server(end, "localhost", 0)
        async with server:
            return await answered(head(), process(0, server.sockets[0].getsockname()[1]))

    assert asyncio.run(gone()).startswith(b"HTTP/1.1 503")
