"""What axe-core has to say of a page."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

GRAVE = {"serious", "critical"}


def barriers(page: Page) -> list[str]:
    """What would keep somebody out, one line each; nothing where all is well."""
    return [
        f"{found['id']} ({found['impact']}): {node['html'][:160]}"
        for found in Axe().run(page).response["violations"]
        if found["impact"] in GRAVE
        for node in found["nodes"]
    ]
