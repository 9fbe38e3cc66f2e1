"""The table of pages, in the order of the menu."""

from collections.abc import Callable
from dataclasses import dataclass

from dashboard.classroom import page as classroom
from dashboard.learn import (
    calibration,
    confident,
    coverage,
    follow,
    glossary_page,
    kinds,
    lecturers,
    loss,
    message,
    overview,
    people,
    sees,
    tour,
    travel,
    truth,
    unseen,
)
from dashboard.learn.lesson import LESSONS
from dashboard.views import compare, graph, reliability, structure
from dashboard.views.explore import page as explore
from dashboard.views.ood import page as ood
from dashboard.views.reproduce import page as reproduce
from dashboard.views.upload import page as upload


@dataclass(frozen=True)
class Page:
    """An entry of the menu; the first page of the table is also at "/"."""

    address: str  # the last part of its URL
    draw: Callable[..., None]  # takes the view if the page needs a run, else nothing
    title: str
    icon: str
    needs_run: bool = True
    section: str = ""  # of the menu, for pages beyond the first five


LEARN = "Learn"
MORE = "More"


def _learn(address: str, draw: Callable[[], None], title: str, icon: str) -> Page:
    return Page(address, draw, title, icon, needs_run=False, section=LEARN)


def _lesson(number: int, draw: Callable[[], None]) -> Page:
    lesson = LESSONS[number - 1]
    return _learn(lesson.address, draw, f"{number}. {lesson.title}", lesson.icon)


PAGES = (
    Page("explore", explore.page, "Explore", ":material/hub:"),
    Page("reliability", reliability.page, "Reliability", ":material/verified:"),
    Page("ood", ood.page, "Unseen classes", ":material/help_center:"),
    Page("structure", structure.page, "Structure", ":material/account_tree:"),
    Page("compare", compare.page, "Compare", ":material/compare:"),
    Page("graph", graph.page, "The graph", ":material/dataset:", section=MORE),
    Page("own", upload.page, "Your own", ":material/upload_file:", False, MORE),
    Page("reproduce", reproduce.page, "Reproduce", ":material/fact_check:", False, MORE),
    _learn("learn", overview.page, "Start here", ":material/school:"),
    _lesson(1, confident.page),
    _lesson(2, message.page),
    _lesson(3, travel.page),
    _lesson(4, loss.page),
    _lesson(5, calibration.page),
    _lesson(6, unseen.page),
    _lesson(7, truth.page),
    _lesson(8, follow.page),
    _lesson(9, kinds.page),
    _lesson(10, sees.page),
    _lesson(11, coverage.page),
    _lesson(12, people.page),
    _learn("learn-tour", tour.page, "A tour of the dashboard", ":material/route:"),
    _learn("learn-glossary", glossary_page.page, "Glossary", ":material/dictionary:"),
    _learn("class", classroom.page, "A class", ":material/groups:"),
    _learn("learn-lecturers", lecturers.page, "For lecturers", ":material/cast_for_education:"),
)
