"""The app for any ASGI server: ``uvicorn dashboard.asgi:app``."""

from __future__ import annotations

from dashboard.serving import application

app = application()
