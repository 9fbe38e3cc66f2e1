"""A visitor without a browser: speaks to the app as Streamlit's page does, and draws nothing."""

from __future__ import annotations

import asyncio
import json
import random
import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

PATIENCE = 120
"""Seconds after which an answer counts as an error."""
_FILE = re.compile(r"bup-files/\w+\.\w+")


class Failed(Exception):
    """What a visitor would call an error."""


@dataclass
class Visitor:
    """One tab of one browser, which keeps what it has fetched."""

    url: str
    said: int = 0  # bytes of messages from the server
    sent: int = 0  # bytes of the same over the wire, where they are compressed
    fetched: int = 0  # bytes by other requests
    _cookie: str = ""
    _elements: dict[tuple[int, ...], Element] = field(default_factory=dict)
    _fragments: dict[str, str] = field(default_factory=dict)  # widget -> what it runs again
    _pages: dict[str, str] = field(default_factory=dict)  # address -> name of its script
    _page: str = ""
    _query: str = ""
    _heard: str = ""
    _values: dict[str, WidgetState] = field(default_factory=dict)
    _known: dict[str, ForwardMsg] = field(default_factory=dict)
    _files: set[str] = field(default_factory=set)
    _repeats: dict[str, float] = field(default_factory=dict)  # fragment -> seconds

    async def __aenter__(self) -> Visitor:
        await self._get("/")
        address = self.url.replace("http", "ws", 1) + "/_stcore/stream"
        self._socket = await websockets.connect(
            address,
            subprotocols=["streamlit"],
            additional_headers={"Cookie": self._cookie} if self._cookie else None,
            max_size=None,
            ping_interval=None,
            open_timeout=60,
        )
        receive = self._socket.protocol.receive_data

        def counted(data: bytes) -> None:
            self.sent += len(data)
            receive(data)

        self._socket.protocol.receive_data = counted
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._socket.close()

    async def open(self, page: str = "", query: str = "") -> None:
        """The first page, or what a link names, with what its map fetches."""
        self._query = query
        await self._run(name=page)

    async def pick(self, node: int) -> None:
        """A click on the map."""
        await self._tell("bup_map", "pick", node)

    async def hear(self, code: str, about: str) -> str:
        """Look for news of a class as a lecturer's browser does: what the page says then."""
        news = json.loads(await self._get(f"/class-news/{code}"))[about]
        if news != self._heard:
            self._heard = news
            await self._tell("bup_news", "news", news)
        said = [e.markdown.body for e in self._elements.values() if e.HasField("markdown")]
        return "\n".join(said)

    async def _tell(self, component: str, event: str, value: object) -> None:
        """Something happens in the last of a page's components of this name."""
        found = [
            e.bidi_component.id
            for e in self._elements.values()
            if e.WhichOneof("type") == "bidi_component"
            and e.bidi_component.component_name.endswith(component)
        ]
        if not found:
            raise Failed(f"the page has no {component}")
        events = json.dumps([{"event": event, "value": value}])
        name = f"$$STREAMLIT_INTERNAL_KEY_{found[-1]}__events"
        trigger = WidgetState(id=name, json_trigger_value=events)
        await self._run(trigger, self._fragments[found[-1]])

    async def colour(self, label: str) -> None:
        await self._choose(self._widget("selectbox", "Colour by"), label)

    async def guess(self, chance: random.Random) -> None:
        """Any answer to the question of a lesson."""
        (radio,) = (e.radio for e in self._elements.values() if e.WhichOneof("type") == "radio")
        await self._choose(radio.id, chance.choice(radio.options))

    async def _choose(self, widget: str, label: str) -> None:
        self._values[widget] = WidgetState(id=widget, string_value=label)
        await self._run(fragment=self._fragments[widget])

    async def go(self, address: str) -> None:
        """Another page, from the menu."""
        self._page = self._pages[address]
        self._elements.clear()
        await self._run()

    async def train(self, seed: int) -> None:
        """Another run, from asking for it until its page is there."""
        box = self._widget("number_input", "Random seed", "Seed")
        self._values[box] = WidgetState(id=box, double_value=seed)
        await self._run()
        if (button := self._found("button", "Train")) is not None:  # older pages wait to be asked
            await self._run(WidgetState(id=button, trigger_value=True))
        while self._repeats:
            fragment, pause = next(iter(self._repeats.items()))
            await asyncio.sleep(pause)
            await self._run(fragment=fragment, alone=True)

    def _found(self, kind: str, *labels: str) -> str | None:
        for element in self._elements.values():
            if element.WhichOneof("type") == kind and getattr(element, kind).label in labels:
                return getattr(element, kind).id
        return None

    def _widget(self, kind: str, *labels: str) -> str:
        if (found := self._found(kind, *labels)) is None:
            raise Failed(f"the page has no {kind} {labels[0]!r}")
        return found

    async def _run(
        self,
        trigger: WidgetState | None = None,
        fragment: str = "",
        alone: bool = False,
        name: str = "",
    ) -> None:
        """Until the page, or a ``fragment`` of it, has run again; ``alone``: by the clock."""
        message = BackMsg()
        state = message.rerun_script
        state.page_script_hash = self._page
        state.page_name = name
        state.query_string = self._query
        state.fragment_id = fragment
        state.is_auto_rerun = alone
        state.cached_message_hashes.extend(self._known)
        state.widget_states.widgets.extend(self._values.values())
        if trigger is not None:
            state.widget_states.widgets.append(trigger)
        if not fragment:
            self._repeats.clear()
        await self._socket.send(message.SerializeToString())
        try:
            async with asyncio.timeout(PATIENCE):
                await self._listen()
        except TimeoutError as error:
            raise Failed(f"no answer for {PATIENCE} s") from error
        except websockets.ConnectionClosed as error:
            raise Failed(f"the connection was lost: {error}") from error

    async def _listen(self) -> None:
        """Until the script has finished; what it asked to be fetched is fetched meanwhile."""
        fetching = []
        while True:
            data = await self._socket.recv()
            self.said += len(data)
            message = ForwardMsg.FromString(data)
            if message.WhichOneof("type") == "ref_hash":
                known = self._known[message.ref_hash]
                known.metadata.CopyFrom(message.metadata)
                message = known
            elif message.metadata.cacheable:
                self._known[message.hash] = message
            kind = message.WhichOneof("type")
            if kind == "navigation":
                self._pages = {
                    p.url_pathname: p.page_script_hash for p in message.navigation.app_pages
                }
                self._page = message.navigation.page_script_hash
            elif kind == "auto_rerun":
                self._repeats[message.auto_rerun.fragment_id] = message.auto_rerun.interval
            elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
                element = message.delta.new_element
                if element.WhichOneof("type") == "exception":
                    raise Failed(f"the page shows {element.exception.type}")
                self._elements[tuple(message.metadata.delta_path)] = element
                widget = getattr(getattr(element, str(element.WhichOneof("type"))), "id", "")
                self._fragments[widget] = message.delta.fragment_id
                if element.WhichOneof("type") == "bidi_component":
                    paths = set(_FILE.findall(str(element.bidi_component))) - self._files
                    self._files |= paths
                    fetching += [asyncio.create_task(self._get(f"/{path}")) for path in paths]
            elif kind == "script_finished":
                if message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    self._repeats.clear()
                    continue
                if message.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
                    raise Failed("the script does not compile")
                await asyncio.gather(*fetching)
                return

    async def _get(self, path: str) -> bytes:
        place = urlsplit(self.url)
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        try:
            head = f"GET {path} HTTP/1.1\r\nHost: {place.netloc}\r\nAccept-Encoding: gzip\r\n"
            head += f"Cookie: {self._cookie}\r\n" if self._cookie else ""
            writer.write(f"{head}Connection: close\r\n\r\n".encode())
            answer = await reader.read(-1)
        finally:
            writer.close()
        if b" 200 " not in answer[:20]:
            raise Failed(f"{path}: {answer[:20]!r}")
        self.fetched += len(answer)
        head, _, body = answer.partition(b"\r\n\r\n")
        if given := re.findall(rb"(?i)set-cookie: (bup_[^;\r]+)", head):
            known = dict(
                c.split("=", 1) for c in [*self._cookie.split("; "), *map(bytes.decode, given)] if c
            )
            self._cookie = "; ".join(f"{name}={value}" for name, value in known.items())
        return body
