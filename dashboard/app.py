"""The app's frame: a router and nothing else."""

import streamlit as st

st.set_page_config(page_title="BUP Explorer", page_icon=":material/hub:", layout="wide")

page = st.navigation([st.Page("views/graph.py", title="The graph", icon=":material/hub:")])
page.run()
