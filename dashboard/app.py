"""The app for Streamlit's own command, and the script that each of its sessions runs."""

import os
import sys
from pathlib import Path

import streamlit as st

FOLDER = Path(__file__).parent
ROOT = str(FOLDER.parent)
IS_COMMAND = str(FOLDER) in sys.path
if IS_COMMAND:
    # ``streamlit run`` looks for modules beside the script; some here have the names of others.
    sys.path[sys.path.index(str(FOLDER))] = ROOT

from dashboard.ui import streamlit_internals  # noqa: E402

if streamlit_internals.is_script_run():
    from dashboard import router

    router.draw()
else:
    from dashboard.server import serving

    if IS_COMMAND:
        # For training processes: hosts of Streamlit apps install only the requirements.
        folders = [ROOT, *filter(None, [os.environ.get("PYTHONPATH")])]
        os.environ["PYTHONPATH"] = os.pathsep.join(folders)

    # Streamlit's command reads this line: only so does it serve what surrounds the pages.
    app = st.App(__file__, **serving.app_options())
