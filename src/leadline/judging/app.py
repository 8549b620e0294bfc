"""The judging page as a web application: a few routes, JSON requests and responses, no external resources.

The page of progress shows that of the judges, their agreement, and the cost of each form of presentation.
"""

from __future__ import annotations

import asyncio
import json
import re
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import combinations
from threading import Lock
from typing import Any
from urllib.parse import parse_qs

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from leadline.data.table import plain
from leadline.errors import InputError, LeadlineError, UsageError
from leadline.judging.documents import Cards
from leadline.judging.events import RELOAD, ConflictError, Event, parse_event, written
from leadline.judging.half_widths import Precision
from leadline.judging.queue import Queues
from leadline.judging.serving import LARGEST, AccessControl, TooManyError
from leadline.judging.store import Act
from leadline.stats.agreement_coefficients import (
    COEFFICIENTS,
    FEWEST_PAIRS,
    PairwiseAgreement,
    UnitGroups,
    acceptable,
)
from leadline.version import VERSION

AHEAD = 40  # cards that a page may ask for at a time
BACK = 8  # acts that a page can take back at once after it was opened again
MOST_EVENTS = 200


def make_app(
    queues: Queues,
    cards: Cards,
    precision: Precision | None = None,
    *,
    token: str | None = None,
    local: bool = True,
) -> AccessControl:
    """Return the web application."""
    pages = Pages(queues, cards, precision)
    _templates().get_template("judge.html")  # the first judge need not wait for it
    routes = [
        Route("/", pages.welcome),
        Route("/judge", pages.judge),
        Route("/progress", pages.progress),
        Route("/api/cards", pages.cards_of, methods=["POST"]),
        Route("/api/events", pages.events, methods=["POST"]),
        Route("/api/text", pages.text),
        Route("/api/progress", pages.numbers),
        Route("/enter", pages.enter, methods=["GET", "POST"]),
        Mount("/static", StaticFiles(packages=[("leadline.judging", "static")])),
    ]
    app = Starlette(
        routes=routes,
        exception_handlers={
            UsageError: pages.saying(400),
            InputError: pages.saying(503),  # the store cannot be written; the page retries
            TooManyError: pages.later,
            ConflictError: pages.saying(409),  # never to be saved; the page drops it and says so
            ClientDisconnect: lambda _request, _error: Response(status_code=400),
            404: pages.nowhere,
        },
    )
    store = queues.store
    pages.guard = AccessControl(app, token=token, local=local, secret=store.secret, store=store.id)
    return pages.guard


@lru_cache(maxsize=1)
def _templates() -> Environment:
    made = Environment(
        loader=PackageLoader("leadline.judging"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {"strings": strings(), "scripts": ()}
    made.filters["sentence"] = _sentence
    return made


def _sentence(text: str) -> str:
    """Return a message as a sentence; what it begins with stays as it is if it is no word, such as a path."""
    text = re.sub(r"^[a-z]+(?= )", lambda match: match[0].capitalize(), text)
    return text if text.endswith((".", "?", "!")) else f"{text}."


@lru_cache(maxsize=1)
def strings() -> dict[str, Any]:
    """Return the texts of the pages, by name."""
    found: dict[str, Any] = json.loads(
        files("leadline.judging").joinpath("templates/strings.json").read_text(encoding="utf-8")
    )
    return found


class Pages:
    """Request handlers; handlers that block run in worker threads."""

    guard: AccessControl

    def __init__(self, queues: Queues, cards: Cards, precision: Precision | None = None) -> None:
        self.queues = queues
        self.cards = cards
        self.precision = precision
        self.numbers_now = Progress(queues)
        self.arrived: list[tuple[dict[str, Any], asyncio.Future[Response]]] = []  # to be saved next
        self.saving: asyncio.Task[None] | None = None
        self.drawing = asyncio.Semaphore(1)  # summaries take processor time, for which saves should not wait

    def _page(self, name: str, status: int = 200, **data: object) -> HTMLResponse:
        text = _templates().get_template(name).render(version=VERSION, **data)
        return HTMLResponse(text, status)

    def welcome(self, _request: Request) -> Response:
        """Show the form for the judge's name."""
        admitted = self.queues.named or self.queues.judges()
        judges = [(judge, self.queues.count(judge)) for judge in admitted]
        return self._page(
            "welcome.html",
            judges=judges,
            named=bool(self.queues.named),
            grades=self.queues.store.grades,
            pairs=len(self.queues.pairs),
            remaining=self.queues.remaining(),
            stopped=self.queues.stopped,
        )

    def judge(self, request: Request) -> Response:
        """Show the page of one judge."""
        store = self.queues.store
        name = self.queues.check(request.query_params.get("name", ""))
        return self._page(
            "judge.html",
            judge=name,
            grades=store.grades,
            store=store.id,
            secret=store.secret,
            scale=written(store.grades),
            scripts=("outbox.js", "show.js", "judge.js"),
        )

    def progress(self, _request: Request) -> Response:
        """Show the progress of all judges."""
        return self._page("progress.html", path=self.queues.store.path, scripts=("progress.js",))

    def numbers(self, _request: Request) -> Response:
        """Return the progress and agreement of all judges."""
        precision = None if self.precision is None else self.precision.numbers()
        return JSONResponse(self.numbers_now.numbers() | {"precision": precision})

    async def cards_of(self, request: Request) -> Response:
        """Return the next cards of a judge and, on opening the page, the most recent events."""
        body = await _body(request)
        async with self.drawing:
            return await run_in_threadpool(self._cards_of, body)

    def _cards_of(self, body: dict[str, Any]) -> Response:
        judge = self.queues.join(_text(body, "judge"))
        held = body.get("holding", [])
        if not isinstance(held, list):
            raise UsageError(f"'holding' is not a list. {RELOAD}")
        holding = {pair for pair in held if isinstance(pair, int)}
        count = body.get("count", 1)
        limit = max(1, min(count if isinstance(count, int) else 1, AHEAD))
        if self.precision is not None:
            self.precision.advance()
        # One more than requested, to know whether there are more.
        pairs = self.queues.upcoming(judge, limit + 1, holding)
        cards, queries = self.cards.batch(judge, pairs[:limit])
        for card in cards:
            card["skipped"] = self.queues.is_skipped(judge, card["pair"])
        awaited = self.queues.awaited(judge) if len(pairs) <= limit else {}
        answer = {
            "cards": cards,
            "queries": queries,
            "more": bool(awaited) or len(pairs) > len(cards) or self.queues.is_waiting(judge),
            "awaited": awaited,
            "left": {} if pairs else self.queues.left(judge),
        }
        answer |= self._count(judge)
        if body.get("opening") is True:
            answer["acts"] = self._last_acts(judge, queries)
        return JSONResponse(answer)

    def _count(self, judge: str) -> dict[str, Any]:
        version = self.queues.version  # read first: a count is never older than its version
        count = self.queues.count(judge)._asdict() | {"version": version}
        return {"count": count | ({"stopped": self.queues.stopped} if self.queues.stopped else {})}

    def _last_acts(self, judge: str, queries: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the most recent events of a judge, oldest first, with their cards."""
        cards: list[dict[str, Any]] = []
        for act in reversed(self.queues.store.last_acts(judge, BACK)):
            pair = self.queues.pairs.get(act.pair)
            if pair is not None:
                queries[pair.query] = self.cards.query(pair.query)
                shown = {"key": act.key, "kind": act.kind, "grade": act.grade, "note": act.note}
                cards.append(shown | {"card": self.cards.card(judge, pair)})
        return cards

    async def events(self, request: Request) -> Response:
        """Save events of a judge; the response is sent after they are on disk.

        What arrives while a transaction is being written goes into the next one, all of it together.
        """
        body = await _body(request)
        saved: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        self.arrived.append((body, saved))
        if self.saving is None or self.saving.done():
            self.saving = asyncio.create_task(self._save_arrived())
        return await saved

    async def _save_arrived(self) -> None:
        while self.arrived:
            together, self.arrived = self.arrived, []
            try:
                answers = await run_in_threadpool(self._save, [body for body, _ in together])
            except BaseException:
                for _, saved in (*together, *self.arrived):  # none waits for a task that has ended
                    saved.cancel()
                self.arrived = []
                raise
            for (_, saved), answer in zip(together, answers, strict=True):
                if saved.done():  # the server stops
                    continue
                if isinstance(answer, Response):
                    saved.set_result(answer)
                else:
                    saved.set_exception(answer)

    def _save(self, bodies: Sequence[dict[str, Any]]) -> list[Response | LeadlineError]:
        """Save what several requests sent; return their responses, or why they were refused."""
        answers: dict[int, Response | LeadlineError] = {}
        sent: dict[int, tuple[str, list[Event]]] = {}
        for place, body in enumerate(bodies):
            try:
                sent[place] = self._checked(body)
            except LeadlineError as error:
                answers[place] = error
        errors: Sequence[LeadlineError | None]
        try:
            errors = self.queues.append_all(list(sent.values()))
        except InputError as error:
            errors = [error] * len(sent)
        for (place, (judge, events)), refusal in zip(sent.items(), errors, strict=True):
            saved = [event.key for event in events]
            answers[place] = refusal or JSONResponse({"saved": saved} | self._count(judge))
        return [answers[place] for place in range(len(bodies))]

    def _checked(self, body: dict[str, Any]) -> tuple[str, list[Event]]:
        """Return the judge and the events of a request; raise an error for those that cannot be saved."""
        judge = self.queues.join(_text(body, "judge"))
        sent = body.get("events")
        if not isinstance(sent, list) or not 1 <= len(sent) <= MOST_EVENTS:
            raise UsageError(f"'events' must be a list of 1 to {MOST_EVENTS} events. {RELOAD}")
        events = [parse_event(event) for event in sent]
        for event in events:
            self._check_text(event)
        return judge, events

    def _check_text(self, event: Event) -> None:
        """Refuse the judgment of a text that has changed, unless it was saved before."""
        pair = self.queues.pairs.get(event.pair)
        if event.kind == "undo" or pair is None:
            return
        try:
            # The digest cannot be computed where an index was built again.
            if event.digest not in ("", self.cards.texts.digest(pair.document)):
                raise ConflictError(
                    f"the text of document '{pair.document}' has changed since you saw it, so the page will "
                    "show the document again unless you graded it earlier"
                )
        except (ConflictError, InputError):
            if not self.queues.store.has(event.key):
                raise

    def text(self, request: Request) -> Response:
        """Return a part of the full text of a document."""
        try:
            pair = self.queues.pairs[int(request.query_params["pair"])]
            part = int(request.query_params["part"])
        except (KeyError, ValueError):
            raise UsageError(f"the requested part of the document was not found. {RELOAD}") from None
        return JSONResponse({"text": self.cards.part(pair, part)})

    async def enter(self, request: Request) -> Response:
        """Accept the token and set a cookie in its place; without a token, go on to the first page."""
        if self.guard.token is None:
            return Response(status_code=303, headers={"location": "/"})
        token = request.query_params.get("token", "")
        if request.method == "POST":
            form = parse_qs((await _bytes(request)).decode("utf-8", "replace"))
            token = form.get("token", [""])[0]
        address = request.client.host if request.client else ""
        if token.strip() == "":
            return self._page("enter.html", wrong="", done=False)
        try:
            admitted = self.guard.admits(token.strip(), address)
        except TooManyError as error:
            return _later(self._page("enter.html", 429, wrong=str(error), done=False), error)
        if not admitted:
            return self._page("enter.html", 401, wrong=strings()["wrong_token"], done=False)
        # A page in between: a browser that was sent here from elsewhere shows a strict cookie only to
        # what this page leads to.
        answer = self._page("enter.html", wrong="", done=True)
        answer.set_cookie(self.guard.cookie, self.guard.proof(), httponly=True, samesite="strict", path="/")
        return answer

    def saying(self, status: int) -> Callable[[Request, Exception], Response]:
        """Return a function that responds with the words of an error."""
        return lambda request, error: self._said(request, str(error), status)

    def later(self, request: Request, error: Exception) -> Response:
        """Respond that a rate limit was reached, with the time to wait."""
        return _later(self._said(request, str(error), 429), error)

    def nowhere(self, request: Request, _error: Exception) -> Response:
        """Respond to an unknown path."""
        return self._said(request, strings()["no_such_page"], 404)

    def _said(self, request: Request, text: str, status: int) -> Response:
        if request.url.path.startswith("/api/"):
            return PlainTextResponse(text + "\n", status)
        return self._page("said.html", status, text=text)


def _later(answer: Response, error: Exception) -> Response:
    answer.headers["Retry-After"] = str(getattr(error, "wait", 1))
    return answer


async def _bytes(request: Request) -> bytes:
    """Return the request body; raise UsageError if it exceeds the size limit."""
    body = b""
    async for more in request.stream():
        body += more
        if len(body) > LARGEST:
            raise UsageError(f"the request is longer than {LARGEST:,} bytes. {RELOAD}")
    return body


async def _body(request: Request) -> dict[str, Any]:
    sent = await _bytes(request)
    try:
        body = json.loads(sent)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise UsageError(f"the request is not a JSON object. {RELOAD}")
    return body


def _text(body: dict[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str):
        raise UsageError(f"'{name}' is missing or is not text. {RELOAD}")
    return value


Judgments = dict[str, dict[int, Act]]
HASTY = 0.5  # seconds, too short to read a title
KAPPA = "Scott"  # pooled marginals, as in Manning et al. 2008
SHOWN = ("PercentAgreement", KAPPA, "Cohen")


class Progress:
    """Numbers of the progress page, computed again only after a new judgment."""

    def __init__(self, queues: Queues) -> None:
        self.queues = queues
        self._lock = Lock()
        self._made: tuple[tuple[int, int], dict[str, Any]] | None = None

    def numbers(self) -> dict[str, Any]:
        """Return all numbers as plain data; None is undefined."""
        with self._lock:
            version = self.queues.version, len(self.queues.judges())
            if self._made is None or self._made[0] != version:
                self._made = version, self._numbers()
            return self._made[1]

    def _numbers(self) -> dict[str, Any]:
        numbers = {
            judge: {pair: act for pair, act in acts.items() if pair in self.queues.pairs}
            for judge, acts in self.queues.judgments().items()
        }
        judged = {pair for acts in numbers.values() for pair in acts}
        pairs = Counter(pair.query for pair in self.queues.pairs.values())
        done = Counter(self.queues.pairs[pair].query for pair in judged)
        return {
            "pairs": len(self.queues.pairs),
            "judged": len(judged),
            "queries": len(pairs),
            "queries_done": sum(done[query] == size for query, size in pairs.items()),
            "grades": [
                {"grade": grade.value, "name": grade.name, "count": _given(numbers, grade.value)}
                for grade in self.queues.store.grades
            ],
            "judges": [self._judge(judge, acts) for judge, acts in numbers.items()],
            "forms": forms(numbers),
            "agreement": agreement(numbers, [grade.value for grade in self.queues.store.grades]),
        }

    def _judge(self, judge: str, acts: dict[int, Act]) -> dict[str, Any]:
        seconds = [act.seconds for act in acts.values() if act.seconds is not None]
        count = self.queues.count(judge)
        if self.queues.named and judge not in self.queues.named:  # has no queue, but may have judged
            count = count._replace(done=len(acts), total=len(acts))
        return {
            "judge": judge,
            **count._asdict(),
            "awaited": self.queues.awaited(judge),
            "seconds": statistics.median(seconds) if seconds else None,
            "hasty": sum(duration < HASTY for duration in seconds),
            "notes": sum(bool(act.note) for act in acts.values()),
        }


def _given(judgments: Judgments, grade: int) -> int:
    return sum(act.grade == grade for acts in judgments.values() for act in acts.values())


def forms(judgments: Judgments) -> list[dict[str, Any]]:
    """Return, per form of presentation, the judgments, median seconds, and share with the full text opened.

    `shared` counts the pairs that one judge saw in this form and another in any, and `agreement` is the
    proportion of equal grades among them.
    """
    rows = []
    acts = [act for judged in judgments.values() for act in judged.values()]
    given = Counter(act.pair for act in acts)
    alike = Counter((act.pair, act.grade) for act in acts)
    for form in dict.fromkeys(act.shown for act in acts):
        acts_of_form = [act for act in acts if act.shown == form]
        seconds = [act.seconds for act in acts_of_form if act.seconds is not None]
        others = sum(given[act.pair] - 1 for act in acts_of_form)
        equal = sum(alike[act.pair, act.grade] - 1 for act in acts_of_form)
        rows.append(
            {
                "form": form,
                "judgments": len(acts_of_form),
                "seconds": statistics.median(seconds) if seconds else None,
                "opened": sum(act.opened for act in acts_of_form),
                "shared": len({act.pair for act in acts_of_form if given[act.pair] > 1}),
                "agreement": equal / others if others else None,
            }
        )
    return rows


def agreement(judgments: Judgments, grades: Sequence[int]) -> list[dict[str, Any]]:
    """Return the agreement of every two judges on the pairs judged by both, most pairs first.

    `grades` are those of the scale, in increasing order.
    """
    row_of = {pair: row for row, pair in enumerate({pair for acts in judgments.values() for pair in acts})}
    scale = {grade: code for code, grade in enumerate(grades)}
    codes = np.full((len(row_of), len(judgments)), -1, dtype=np.int64)
    for column, acts in enumerate(judgments.values()):
        codes[[row_of[pair] for pair in acts], column] = [scale[act.grade or 0] for act in acts.values()]
    names, pairs = list(judgments), list(combinations(range(len(judgments)), 2))
    one_group = UnitGroups(np.zeros(len(codes), np.int64), 1)
    every = PairwiseAgreement(codes, np.array(grades, dtype=np.float64), pairs, one_group)
    kinds = [COEFFICIENTS.parse(name) for name in SHOWN]
    counts = every.tables(pairs).sum(axis=(1, 2, 3)).astype(int).tolist()
    found = [every.values_of(kind)[:, 0].tolist() for kind in kinds]
    rows = [
        {"a": names[a], "b": names[b], "pairs": count}
        | {kind.key: plain(value) for kind, value in zip(kinds, values, strict=True)}
        | {"acceptable": acceptable(values[SHOWN.index(KAPPA)], count), "few": count < FEWEST_PAIRS}
        for (a, b), count, *values in zip(pairs, counts, *found, strict=True)
        if count
    ]
    return sorted(rows, key=lambda row: -row["pairs"])
