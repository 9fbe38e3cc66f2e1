"""Addresses under which other machines reach the app: a phone cannot open a laptop's localhost."""

import ipaddress
import os
import socket
import sys

LISTENER = "BUP_LISTENS"
"""The environment variable that holds the address and port of the server."""
PORT = 8501  # by default
DOCUMENTATION_ADDRESS = "198.51.100.1"  # RFC 5737: no machine has it


def record_listener(listening: socket.socket) -> None:
    address, port, *_ = listening.getsockname()
    os.environ[LISTENER] = f"{address} {port}"


def listening_address() -> tuple[str, int] | None:
    """The address and port of the server; None if ``bup dashboard`` did not start it."""
    address, _, port = os.environ.get(LISTENER, "").partition(" ")
    return (address, int(port)) if port else None


def network_addresses() -> list[str]:
    """Addresses with ports under which other machines reach the app, the likeliest first.

    Never cached, because a laptop moves from network to network.
    """
    address, port = listening_address() or ("localhost", 0)
    if is_every_interface(address):
        found = _machine_addresses(socket.AF_INET6 if ":" in address else socket.AF_INET)
    else:
        found = [] if is_local_only(address) else [address]
    return [format_address(each, port) for each in found]


def format_address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def announce(url: str) -> str:
    """Print the address of the app, which is returned, and those for other machines."""
    print(f"BUP Explorer: {url}  (Ctrl+C ends it)", flush=True)
    address, port = listening_address() or ("localhost", 0)
    if others := " or ".join(f"http://{each}" for each in network_addresses()):
        print(
            f"Phones and other machines open {others}, if they are in the same network and the "
            f"firewall of this machine lets port {port} in{firewall_hint(port)}. "
            "All who reach the app may use it.",
            flush=True,
        )
    elif is_every_interface(address):
        print("This machine is in no network now: no other machine reaches the app.", flush=True)
    return url


def firewall_hint(port: int) -> str:
    """How the firewall of this system lets others in, in brackets."""
    if sys.platform == "win32":
        return " (when Windows asks, allow access on private networks)"
    if sys.platform == "darwin":
        return " (when macOS asks, allow incoming connections)"
    return f" (sudo ufw allow {port}/tcp, or sudo firewall-cmd --add-port={port}/tcp)"


def is_local_only(host: str) -> bool:
    """Whether a name or an address leads only this machine to this machine."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_unspecified


def is_every_interface(host: str) -> bool:
    """Whether a server at this address listens to every network of the machine."""
    return host in ("0.0.0.0", "::")


def _machine_addresses(family: socket.AddressFamily) -> list[str]:
    import psutil  # takes a moment, and only a class needs it

    states = psutil.net_if_stats()
    found = []
    for name, addresses in psutil.net_if_addrs().items():
        for each in addresses if name in states and states[name].isup else []:
            if each.family == family:
                address = ipaddress.ip_address(each.address.partition("%")[0])
                if not (address.is_loopback or address.is_link_local):
                    found.append(str(address))
    first = _default_route_address()
    return sorted(found, key=lambda address: address != first)


def _default_route_address() -> str:
    """The address that this machine sends from; "" without a network. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        try:
            udp.connect((DOCUMENTATION_ADDRESS, 9))
        except OSError:
            return ""
        return udp.getsockname()[0]
