"""Where a class is started, joined and led."""

import time
from functools import partial
from urllib.parse import urlsplit, urlunsplit

import streamlit as st

from dashboard.classroom import guessing, membership
from dashboard.classroom.destination import Destination
from dashboard.classroom.links import PAGE, join_link, lead_link
from dashboard.classroom.qr import qr_picture
from dashboard.classroom.question import as_csv
from dashboard.classroom.register import HOURS, Classroom, LecturerKey, Register
from dashboard.network import interfaces
from dashboard.session.navigation import addresses, page_link, title
from dashboard.ui.errors import show_errors


def page() -> None:
    here = membership.current()
    if here is None:
        _join_or_start()
    elif here.lecturer is None:
        _student_page(here.code)
    else:
        room = Register().find(here.code)
        if room is not None:
            _lecturer_page(here.lecturer, room)


def _join_or_start() -> None:
    st.title("Teach with guesses, together")
    left, right = st.columns(2, gap="large")
    with left, st.container(border=True, height="stretch"):
        st.subheader("You are a student")
        with st.form("class_join", border=False):
            code = st.text_input("Code of the class", max_chars=12, placeholder="K7QF2")
            joining = st.form_submit_button("Join", icon=":material/login:")
        if joining:
            with show_errors():
                membership.join_class(code)
                st.rerun()
        st.caption(
            "Your guesses are counted without a name; your phone remembers a random number until "
            "the class is over."
        )
    with right, st.container(border=True, height="stretch"):
        st.subheader("You teach")
        st.markdown(
            "Students join with their phones: a short code, no account, no name. You see what the "
            "room guesses *before* you show the answer, and you can bring everybody to the lesson "
            "or the very view that you are looking at."
        )
        st.button(
            "Start a class", icon=":material/cast_for_education:", type="primary",
            on_click=show_errors()(membership.start_class), key="class_start",
        )  # fmt: skip
        st.caption(f"It ends by itself after {HOURS} hours, and every guess is deleted with it.")


def _student_page(code: str) -> None:
    st.title(f"You are in class {code}")
    st.markdown(
        "Keep this page open. When your lecturer moves on, you come along by yourself; when a "
        "question is asked, choose what you expect; the answer shows when your lecturer reveals "
        "it. The bar above lets you look around on your own, or leave."
    )
    page_link("learn", "Look at the lessons meanwhile", ":material/school:")


def _lecturer_page(lead: LecturerKey, room: Classroom) -> None:
    left, right = st.columns([2, 5], gap="large")
    with left, st.container(key="class_way_in"):
        _access(lead, room)
    with right:
        _guesses(lead)


def _root() -> str:
    """The address of the app as this browser reaches it."""
    return (st.context.url or "").rstrip("/").removesuffix(f"/{PAGE}")


def _roots() -> list[str]:
    """Addresses of the app that a phone may reach, the likeliest first."""
    root = _root()
    parts = urlsplit(root)
    others = [urlunsplit(parts._replace(netloc=each)) for each in interfaces.network_addresses()]
    host = parts.hostname or ""
    if interfaces.is_local_only(host):
        return others
    # A phone seldom knows the bare name of a machine.
    return [root] if "." in host or ":" in host else [*others, root]


def _students_root(roots: list[str]) -> str:
    """Where students open the app; a lecturer whose machine is in several networks says which."""
    if len(roots) == 1:
        return roots[0]
    return st.selectbox(
        "Address for the phones",
        roots,
        key="class_address",
        filter_mode=None,
        help="This machine has several. Choose the one of the network that the phones are in.",
    )


def _explain_unreachable() -> None:
    """Say why no phone can reach this app, and what to do."""
    listens = interfaces.listening_address()
    if listens is None:
        why = (
            "This page was opened on the server itself, by an address that phones cannot reach: "
            "open it by one that they can. This command starts the app and shows one:"
        )
    elif interfaces.is_every_interface(listens[0]):
        why = "This machine is in no network now, so no phone gets here: connect it, then reload."
    else:
        why = (
            "The app answers this machine only, so no phone gets here. End it (Ctrl+C), start it "
            "as below, then reload this page: the class goes on."
        )
    st.error(why, icon=":material/wifi_off:")
    address, port = listens or ("localhost", interfaces.PORT)
    if not interfaces.is_every_interface(address):
        again = "--shared" if port == interfaces.PORT else f"--shared --port {port}"
        lines = f'bup dashboard {again}\n# or\nmake dashboard ARGS="{again}"'
        st.code(lines, "sh", wrap_lines=True)


def _access(lead: LecturerKey, room: Classroom) -> None:
    st.title(lead.code, anchor=False)
    roots = _roots()
    root = _students_root(roots) if roots else _root()
    join = join_link(root, lead.code)
    if roots:
        st.html(qr_picture(join))
        _, port = interfaces.listening_address() or ("", interfaces.PORT)
        st.markdown(
            f"Scan, or open **{root}/{PAGE}** and type the code.",
            help=None
            if root == _root()
            else "No phone gets through? Phones must be in the network of this machine, whose "
            f"firewall must let them in{interfaces.firewall_hint(port)}. Some guest networks keep "
            "all devices apart.",
        )
    else:
        _explain_unreachable()
    with st.popover("Controls", icon=":material/tune:"):
        _controls(lead, room)
        st.markdown("**Link for students**")
        st.code(join, language=None)
        if st.toggle(
            "Show the link that leads the class",
            key="class_lead_link",
            help="For another device of yours. Turn the projector off before you look: anyone "
            "with this link can lead the class.",
        ):
            st.code(lead_link(root, lead), language=None)
    with st.popover("End class", icon=":material/logout:"):
        st.markdown(
            f"Class {lead.code} ends for everybody, and all its guesses are deleted for good. "
            "Download them before, if you want to keep them."
        )
        st.button(
            "End the class and delete its guesses", icon=":material/delete:", key="class_end",
            on_click=show_errors()(partial(_end, lead)),
        )  # fmt: skip


def _end(lead: LecturerKey) -> None:
    Register().end(lead)
    membership.change(None)


def _controls(lead: LecturerKey, room: Classroom) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        titles = {address: title(address) for address in addresses() if address != PAGE}
        chosen = st.selectbox(
            "Send everybody to",
            list(titles),
            format_func=lambda address: titles.get(address, address),
            accept_new_options=True,
            key="class_place",
            help="A page, or paste any link of the app. On every other page a button above sends "
            "everybody to exactly what you see.",
        )
        if st.button("Send", icon=":material/campaign:", key="class_send"):
            Register().send(lead, str(Destination.read(str(chosen), addresses())))
            st.rerun()
        st.toggle(
            "Answers wait for me",
            room.holds_answers,
            key="class_holds",
            on_change=show_errors()(
                lambda: Register().hold_answers(lead, st.session_state.class_holds)
            ),
            help="Off: each student sees the answer right after the guess, "
            "for a class that works alone.",
        )


@st.fragment
def _guesses(lead: LecturerKey) -> None:
    with show_errors():
        guessing.watch(lead, "watch_guesses")
        every_tally = Register().tallies(lead)
        tallies = [tally for tally in every_tally if tally.guesses or tally.revealed]
        if not tallies:
            st.info(
                "Guesses appear here as they come in. Send everybody to a lesson to begin.",
                icon=":material/how_to_vote:",
            )
        for tally in tallies:
            with st.container(border=True):
                st.markdown(f"**{tally.question.words}**")
                if guessing.show_guesses(lead, tally):
                    st.rerun(scope="fragment")
        room = Register().find(lead.code)
        if tallies and room is not None:
            left = max(0, int(room.ends - time.time())) // 60
            st.download_button(
                "The guesses as CSV",
                partial(_csv, lead),
                f"class-{lead.code}.csv",
                "text/csv",
                icon=":material/download:",
                key="class_csv",
            )
            st.caption(
                f"The class ends by itself in {left // 60} h {left % 60} min, and its guesses are "
                "deleted. Download them before, if you want to keep them."
            )


def _csv(lead: LecturerKey) -> str:
    return as_csv(Register().guesses(lead))
