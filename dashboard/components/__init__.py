"""Parts of a page that Streamlit does not have."""
