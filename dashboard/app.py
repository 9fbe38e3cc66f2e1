"""The app as Streamlit's own command finds it, and the script that each of its sessions runs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import streamlit as st

HERE = str(Path(__file__).parent)
if HERE in sys.path:
    # ``streamlit run`` looks for modules beside the script; some here have the names of others.
    ROOT = str(Path(HERE).parent)
    sys.path[sys.path.index(HERE)] = ROOT
    # Training processes look there too: hosts of Streamlit apps install the requirements only.
    given = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([ROOT, given] if given else [ROOT])

from dashboard.ui import streamlit_internals  # noqa: E402

if streamlit_internals.is_script_run():
    from dashboard import router

    router.draw()
else:
    from dashboard.server import serving

    # Streamlit's command reads this line: only so does it serve what surrounds the pages.
    app = st.App(__file__, **serving.app_options())
