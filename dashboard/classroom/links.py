"""The links that join a class and lead it."""

from __future__ import annotations

from urllib.parse import urlencode

from dashboard.classroom.register import LecturerKey

PAGE = "class"
"""The address of the page where classes are started, joined and led."""
LEAD_PARAMETER, JOIN_PARAMETER = "lead", "code"


def join_link(root: str, code: str) -> str:
    return f"{root}/{PAGE}?{urlencode({JOIN_PARAMETER: code})}"


def lead_link(root: str, lead: LecturerKey) -> str:
    return f"{root}/{PAGE}?{urlencode({LEAD_PARAMETER: f'{lead.code}.{lead.key}'})}"
