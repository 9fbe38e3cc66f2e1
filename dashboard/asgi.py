"""The app for any ASGI server: ``uvicorn dashboard.asgi:app``."""

from dashboard.app import app as app
