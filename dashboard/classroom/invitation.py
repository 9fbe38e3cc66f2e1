"""What ``bup class`` prints: how students join the class that it starts."""

from __future__ import annotations

import sys

import segno

from dashboard.classroom.links import PAGE, join_link, lead_link
from dashboard.classroom.register import Register
from dashboard.network import interfaces


def announce(url: str, opens: bool) -> str:
    """Start a class, print the way in for students, and return the lecturer's page.

    Its link is printed only if no browser ``opens`` it: a projector may show the terminal.
    """
    interfaces.announce(url)
    lead = Register().start()
    roots = [f"http://{address}" for address in interfaces.network_addresses()]
    if roots:
        print(f"\nClass {lead.code}: students scan this, or open {roots[0]}/{PAGE}", flush=True)
        if sys.stdout.isatty():
            segno.make(join_link(roots[0], lead.code), micro=False).terminal(compact=True)
    page = lead_link(url, lead)
    if not opens:
        print(f"Open this page to lead the class; anyone with the link can: {page}", flush=True)
    return page
