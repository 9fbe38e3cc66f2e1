"""Where a phone finds the app that a laptop serves."""

import re
import socket
from types import SimpleNamespace

import psutil
import pytest

from dashboard.classroom.register import LecturerKey, Register
from dashboard.network import interfaces
from dashboard.server import command, serving
from dashboard.server.host_guard import is_accepted_host

CARDS = {
    "lo": [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")],
    "docker0": [(socket.AF_INET, "172.17.0.1")],
    "wlan0": [
        (socket.AF_INET, "192.168.1.7"),
        (socket.AF_INET6, "fd00::7"),
        (socket.AF_INET6, "fe80::7%wlan0"),
    ],
    "unplugged": [(socket.AF_INET, "10.9.9.9")],
    "alone": [(socket.AF_INET, "169.254.3.4")],
}


@pytest.fixture
def cards(monkeypatch):
    """A laptop in two networks, whose way to others goes by the second."""
    known = {
        name: [SimpleNamespace(family=family, address=address) for family, address in addresses]
        for name, addresses in CARDS.items()
    }
    states = {name: SimpleNamespace(isup=name != "unplugged") for name in CARDS}
    monkeypatch.setattr(psutil, "net_if_addrs", lambda: known)
    monkeypatch.setattr(psutil, "net_if_stats", lambda: states)
    monkeypatch.setattr(interfaces, "_default_route_address", lambda: "192.168.1.7")


@pytest.mark.parametrize(
    ("listens", "outside"),
    [
        ("0.0.0.0 8501", ["192.168.1.7:8501", "172.17.0.1:8501"]),
        (":: 8501", ["[fd00::7]:8501"]),
        ("172.17.0.1 9000", ["172.17.0.1:9000"]),
        ("127.0.0.1 8501", []),
        ("::1 8501", []),
        ("", []),
    ],
)
def test_others_get_the_addresses_that_lead_here(cards, monkeypatch, listens, outside):
    monkeypatch.setenv(interfaces.LISTENER, listens)
    assert interfaces.network_addresses() == outside
    assert all(is_accepted_host(host, {"localhost"}) for host in outside)


def test_a_machine_without_a_network_reaches_nobody(cards, monkeypatch, capsys):
    monkeypatch.setattr(psutil, "net_if_addrs", dict)
    monkeypatch.setenv(interfaces.LISTENER, "0.0.0.0 8501")
    interfaces.announce("http://localhost:8501")
    assert interfaces.network_addresses() == [] and "in no network" in capsys.readouterr().out


@pytest.mark.parametrize("host", ["localhost", "a.localhost", "127.0.1.1", "::1", "0.0.0.0"])
def test_some_addresses_are_another_machine_for_everybody(host):
    assert interfaces.is_local_only(host)


@pytest.mark.parametrize("host", ["192.168.1.7", "fd00::7", "laptop", "explorer.example.org"])
def test_others_are_the_same_for_everybody(host):
    assert not interfaces.is_local_only(host)


@pytest.fixture
def started(cards, monkeypatch):
    """Runs a command until the app would serve; the result is where it listens."""

    def start(run, arguments, screen=False, pages=None):
        asked, pages = [], [] if pages is None else pages

        class Door:
            def __enter__(self):
                return self

            def __exit__(self, *_):
                pass

            def getsockname(self):
                address = "127.0.0.1" if asked == ["localhost"] else asked[0]
                return address, 7

        def listening(host, port):
            asked.append(host)
            return Door()

        for name in ("BUP_SHARED", "BUP_HOSTS", "BUP_FOLDERS", interfaces.LISTENER):
            monkeypatch.setenv(name, "")
        monkeypatch.setattr(command, "_listen", listening)
        monkeypatch.setattr(
            serving, "application", lambda prepare, announce: pages.append(announce(screen))
        )
        monkeypatch.setattr(serving, "serve", lambda app, door: None)
        run.main([*arguments, "--port", "7"], standalone_mode=False)
        return asked

    return start


@pytest.mark.parametrize(
    ("arguments", "host", "said"),
    [
        ([], "localhost", ["http://localhost:7"]),
        (["--shared"], "0.0.0.0", ["http://localhost:7", "http://192.168.1.7:7", "port 7"]),
        (["--shared", "--host", "localhost"], "localhost", ["http://localhost:7"]),
        (["--host", "::1"], "::1", ["http://[::1]:7"]),
    ],
)
def test_shared_is_for_others(started, capsys, arguments, host, said):
    asked = started(command.dashboard, arguments)
    out = capsys.readouterr().out
    assert asked == [host] and all(each in out for each in said)
    assert ("Phones" in out) == (host == "0.0.0.0")


@pytest.mark.parametrize("screen", [True, False])
def test_a_class_begins_with_its_way_in_and_a_key_out_of_sight(
    started, capsys, tmp_path, monkeypatch, screen
):
    monkeypatch.setenv("BUP_CACHE", str(tmp_path))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    pages = []
    assert started(command.lead_class, [], screen, pages) == ["0.0.0.0"]
    out = capsys.readouterr().out
    (code,) = re.findall(r"Class (\w{5}): students scan this, or open http://192.168.1.7:7/", out)
    assert Register().find(code) and "firewall" in out and "\u2580" in out
    (key,) = re.findall(rf"^http://localhost:7/class\?lead={code}.([\w-]+)$", *pages)
    assert Register().leads(LecturerKey(code, key)) and (key in out) == (not screen)


@pytest.mark.parametrize(
    ("platform", "words"),
    [("linux", "ufw allow 7/tcp"), ("win32", "private networks"), ("darwin", "macOS asks")],
)
def test_each_system_has_its_firewall(monkeypatch, platform, words):
    monkeypatch.setattr("sys.platform", platform)
    assert words in interfaces.firewall_hint(7)
