"""The pytest plugin: the fixture `leadline_gate` asserts conditions on runs.

pytest loads this module in every session where the package is installed, so that it imports nothing but
pytest until a test uses the fixture.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from leadline.comparison.baselines import Baseline
    from leadline.comparison.comparison_result import Comparison
    from leadline.comparison.gate import Condition, Gate
    from leadline.comparison.pairing import Rules
    from leadline.data.table import ResultWarning
    from leadline.evaluation.results import Results
    from leadline.io.objects import Qrels

UPDATE, FORCE = "--leadline-update-baselines", "--leadline-force-update"
WRITTEN: pytest.StashKey[list[str]] = pytest.StashKey()
NOTES: pytest.StashKey[list[str]] = pytest.StashKey()
SETTINGS = {
    "leadline_qrels": "path to the judgments for leadline_gate, relative to the pytest configuration file",
    "leadline_pool": "path to the pool that was judged, relative to the pytest configuration file",
    "leadline_machine": "path to LLM labels for the pool, relative to the pytest configuration file",
    "leadline_confidence": "confidence level that leadline_gate uses (default: 0.95)",
    "leadline_test": "significance test that leadline_gate uses (default: T, the paired t-test)",
    "leadline_seed": "random seed that leadline_gate uses (default: 0)",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the command line and of the configuration."""
    group = parser.getgroup("leadline", "leadline: run checks")
    group.addoption(
        UPDATE,
        action="store_true",
        help=(
            "after the tests, write each baseline file named in leadline_gate assertions, if none of its "
            "assertions failed"
        ),
    )
    group.addoption(
        FORCE,
        action="store_true",
        help=(
            f"with {UPDATE}, write the files even if a check fails, a run lacks judged "
            "queries, or the judgments, measures or options have changed"
        ),
    )
    for name, text in SETTINGS.items():
        parser.addini(name, text, default="")


@pytest.fixture(scope="session")
def leadline_gate(request: pytest.FixtureRequest) -> Iterator[LeadlineGate]:
    """Conditions on runs: `assert_not_worse`, `assert_not_significantly_worse` and `assert_at_least`."""
    gate = LeadlineGate(request.config)
    yield gate
    gate.write()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Name the baselines that were written, and print the notes on queries and judgments."""
    for path in config.stash.get(WRITTEN, []):
        terminalreporter.write_line(f"leadline: wrote {path}")
    for note in config.stash.get(NOTES, []):
        terminalreporter.write_line(f"leadline: {note}")


class LeadlineGate:
    """Assertions on runs, with the `SETTINGS` of the configuration."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self._judgments: dict[str, Qrels] = {}
        self._new: dict[str, tuple[Results, list[dict[str, Any]]]] = {}  # values and inputs of files to write
        self._failed: list[str] = []  # baseline files of assertions that have not passed
        self._paths: dict[str, str] = {}  # baseline files as they were given

    def assert_not_worse(
        self, run: Any, baseline: Any, measure: str, *, margin: float, qrels: Any = None, **options: Any
    ) -> None:
        """Fail unless a run is shown not to be worse than a baseline by a margin or more.

        The condition is that of `leadline compare --require-not-worse`: the one-sided lower confidence limit
        of the difference is above -margin. It fails if it cannot be decided, as with fewer than five
        queries.
        """
        __tracebackhide__ = True
        self._against(run, baseline, measure, margin, "require-not-worse", qrels, options)

    def assert_not_significantly_worse(
        self, run: Any, baseline: Any, measure: str, *, margin: float = 0.0, qrels: Any = None, **options: Any
    ) -> None:
        """Fail if a run is significantly worse than a baseline, or worse by more than a margin.

        The condition is that of `leadline compare --fail-if-worse`. That it is met does not show that
        nothing was lost. Parameters are those of `assert_not_worse`.
        """
        __tracebackhide__ = True
        self._against(run, baseline, measure, margin, "fail-if-worse", qrels, options)

    def assert_at_least(
        self, run: Any, measure: str, value: float, *, qrels: Any = None, **options: Any
    ) -> None:
        """Fail if the mean of a run is below a value; above it, for measures where less is better.

        The condition is that of `leadline compare --fail-below`. Parameters are those of `assert_not_worse`;
        `options` are those of `leadline.evaluate`.
        """
        __tracebackhide__ = True
        from leadline.comparison.gate import BELOW, Condition, resolve_conditions, thresholds
        from leadline.data.validation import check_numbers

        check_numbers(value=value)
        condition = Condition(str(measure), float(value), BELOW)
        rules = self._rules(options)
        results = self._values(self._qrels(qrels, options), run, condition.measure, rules, options)
        self._note(results.warnings)
        conditions = resolve_conditions(results, [condition], rel=options.get("rel"))
        _refuse_failed(thresholds(results, conditions), results)

    def _against(
        self,
        run: Any,
        baseline: Any,
        measure: str,
        margin: float,
        kind: str,
        qrels: Any,
        options: dict[str, Any],
    ) -> None:
        __tracebackhide__ = True
        from leadline.comparison.baselines import Baseline, check_target, read_baseline
        from leadline.comparison.gate import Condition
        from leadline.data.validation import check_numbers
        from leadline.errors import UsageError
        from leadline.io.objects import read_run
        from leadline.io.saved_results import is_saved_file

        path = os.fspath(baseline) if isinstance(baseline, (str, os.PathLike)) else ""
        update, place = self._updates(path), os.path.abspath(path)
        saved = bool(path) and (is_saved_file(path) or (update and not os.path.exists(path)))
        if saved:
            if update:
                check_target(path)
            self._paths[place] = path
            self._failed.append(place)  # until it has passed
        check_numbers(margin=margin)
        if margin < 0 or (margin == 0 and kind == "require-not-worse"):
            least = "above 0" if kind == "require-not-worse" else "of at least 0"
            raise UsageError(f"margin must be a number {least}, not {margin:g}")
        condition = Condition(str(measure), float(margin), kind)
        rules = self._rules(options)
        table = self._qrels(qrels, options)
        if path.endswith((".parquet", ".json")) and not (update or os.path.exists(path)):
            raise UsageError(f"{path} does not exist. Create it with `pytest {UPDATE}`.")
        if not saved:
            reading = _chosen(options, "order on_duplicate on_nan columns name_by")
            new, old = (read_run(one, **reading) for one in (run, baseline))
            named = {new.name: new, f"{old.name} (baseline)" if old.name == new.name else old.name: old}
            results = self._values(table, named, condition.measure, rules, options)
            comparison = _compared(results, condition, rules, baseline=results.names[-1:])
            self._check(comparison, condition, options)
            return
        if update and hasattr(self.config, "workerinput"):  # of pytest-xdist
            raise UsageError(
                f"{UPDATE} does not work with pytest-xdist, because each worker would overwrite the measures "
                "that the others saved. Run pytest without -n."
            )
        kept = [read_baseline(path, to_update=update)] if os.path.exists(path) else []
        kept += [Baseline(path, *self._new[place])] if place in self._new else []
        known = [measure for one in kept for measure in one.measures] if update else []
        results = self._values(table, run, [*known, condition.measure], rules, options)
        try:
            compared = self._with_file(results, kept, condition, rules, update=update)
            if compared is not None:  # else there is nothing to compare with
                self._check(compared, condition, options)
        except AssertionError:
            if self.config.getoption(FORCE):
                self._keep_values(results, place)
            raise
        if update:
            self._keep_values(results, place)
        self._failed.remove(place)

    def _check(self, comparison: Comparison, condition: Condition, options: dict[str, Any]) -> None:
        """Raise AssertionError if a condition is not met."""
        __tracebackhide__ = True
        from leadline.comparison.gate import gates_of

        self._note(comparison.warnings)
        _refuse_failed(gates_of(comparison, [condition], rel=options.get("rel")), comparison.results)

    def _with_file(
        self, results: Results, kept: list[Baseline], condition: Condition, rules: Rules, *, update: bool
    ) -> Comparison | None:
        """Compare a run with the first saved values of its measure; None if there are none."""
        __tracebackhide__ = True
        from leadline.comparison.baselines import check_same, with_baseline
        from leadline.errors import UsageError

        rewrite = f"{UPDATE} {FORCE}"
        index = results.measure_index(condition.measure)
        having = [one for one in kept if str(results.measures[index]) in one.measures]
        try:
            if update and not having:
                for one in kept:
                    known = [results.measure_index(measure) for measure in one.measures]
                    check_same(results.select_measures(known), one, rewrite=rewrite)
                return None
            one = (having or kept)[0]
            together, pairing = with_baseline(results.select_measures([index]), one, rewrite=rewrite)
        except UsageError:
            if not self.config.getoption(FORCE):
                raise
            return None
        return _compared(together, condition, rules, pairing=pairing)

    def _values(
        self, table: Qrels, runs: Any, measures: Any, rules: Rules, options: dict[str, Any]
    ) -> Results:
        """Return the values of runs, estimated if the judgments are a sample."""
        from leadline.estimation.measured import drawn_from, measured

        settings = {name: self.config.getini(f"leadline_{name}") for name in ("pool", "machine")}
        given: dict[str, Any] = {
            name: os.path.join(_folder(self.config), place)
            for name, place in settings.items()
            if place and name not in options
        }
        if drawn_from(table, options.get("pool", given.get("pool"))) is None:
            given.pop("machine", None)
        given |= {"confidence": rules.confidence, "seed": rules.seed}
        return measured(table, runs, measures, verdict=True, **given, **options)

    def _keep_values(self, results: Results, place: str) -> None:
        """Keep values for a baseline file, with each measure once."""
        from leadline.comparison.baselines import check_baseline, inputs_of_baseline

        check_baseline(results, force=bool(self.config.getoption(FORCE)), anyway=FORCE)
        measures = list(map(str, results.measures))
        indices = [measures.index(measure) for measure in dict.fromkeys(measures)]
        before = self._new.get(place)
        if before is not None and before[0].names != results.names:
            new, old = (", ".join(names) for names in (results.names, before[0].names))
            replaced = f"the values of {new} replaced those of {old} from another assertion"
            self._keep(NOTES, f"{self._paths[place]}: {replaced}. To save both, use two baseline files.")
        self._new[place] = (results.select_measures(indices), inputs_of_baseline(results))

    def write(self) -> None:
        """Write the baseline files of which no assertion has failed."""
        from leadline.comparison.baselines import save_baseline
        from leadline.errors import LeadlineError, UsageError, sentences

        errors = []
        force = bool(self.config.getoption(FORCE))
        for place, (results, inputs) in self._new.items():
            if force or place not in self._failed:
                try:
                    save_baseline(results, place, inputs, force=force, anyway=FORCE)
                    self._keep(WRITTEN, self._paths[place])
                except LeadlineError as error:
                    errors.append(str(error))
        for place in self._failed if self.config.getoption(UPDATE) and not force else ():
            self._keep(
                NOTES,
                f"{self._paths[place]} was not written because an assertion failed or raised an error. To "
                f"also write the values of failed assertions, add {FORCE}.",
            )
        if errors:
            raise UsageError(sentences(*errors))

    def _note(self, warnings: Iterable[ResultWarning]) -> None:
        """Keep the notes on missing queries, and on how the judgments were made."""
        from leadline.comparison.baselines import BASELINE_MISSING
        from leadline.data.table import MACHINE_LABELS

        told = (BASELINE_MISSING, "missing_queries", "empty_queries", "sampled_judgments", MACHINE_LABELS)
        self._keep(NOTES, *(str(one) for one in warnings if one.code in told))

    def _keep(self, key: pytest.StashKey[list[str]], *lines: str) -> None:
        """Keep lines for the summary of the terminal, each once."""
        kept = self.config.stash.setdefault(key, [])
        kept += [line for line in dict.fromkeys(lines) if line not in kept]

    def _updates(self, path: str) -> bool:
        from leadline.errors import both

        update, force = ({name: self.config.getoption(name)} for name in (UPDATE, FORCE))
        both(force, update)
        return bool(path) and all(update.values())

    def _qrels(self, qrels: Any, options: dict[str, Any]) -> Qrels:
        """Return the judgments; those of the configuration are read once for all tests."""
        from leadline.errors import UsageError
        from leadline.io.objects import read_qrels

        reading = _chosen(options, "subtopics qrels_columns")
        if qrels is not None:
            return read_qrels(qrels, **reading)
        place = self.config.getini("leadline_qrels")
        if not place:
            raise UsageError(
                "no judgments were given. Pass `qrels`, or set `leadline_qrels` in the pytest configuration."
            )
        key = repr((place, sorted(reading.items())))
        if key not in self._judgments:
            self._judgments[key] = read_qrels(os.path.join(_folder(self.config), place), **reading)
        return self._judgments[key]

    def _rules(self, options: dict[str, Any]) -> Rules:
        """Take the options of a comparison out of all options, with the defaults of the configuration."""
        from leadline.comparison.pairing import Rules
        from leadline.errors import UsageError

        names = ("test", "interval", "confidence", "power", "query_group", "seed")
        given: dict[str, Any] = {name: options.pop(name) for name in names if name in options}
        for name, kind in (("test", str), ("confidence", float), ("seed", int)):
            text = self.config.getini(f"leadline_{name}")
            if not text or name in given:
                continue
            try:
                given[name] = kind(text)
            except ValueError:
                number = "a whole number" if kind is int else "a number"
                raise UsageError(f"leadline_{name} must be {number}, not '{text}'") from None
        return Rules.of(**given)


def _refuse_failed(gates: Iterable[Gate], results: Results) -> None:
    """Raise AssertionError with the reports of conditions that are not met."""
    __tracebackhide__ = True
    from leadline.comparison.gate_reports import report_of

    failed = [report_of(gate, results) for gate in gates if gate.failed]
    if failed:
        raise AssertionError("\n".join(failed))


def _compared(results: Results, condition: Condition, rules: Rules, **against: Any) -> Comparison:
    """Compare runs; an estimate without an interval fails the test as a condition that cannot tell."""
    __tracebackhide__ = True
    from leadline.comparison.compare import compare_results
    from leadline.comparison.gate import untestable
    from leadline.errors import NoIntervalError

    try:
        return compare_results(results, rules, **against)
    except NoIntervalError as error:
        (gate,) = untestable(results, results.names[-1:], [condition], error)
        raise AssertionError(str(gate)) from None


def _chosen(options: dict[str, Any], names: str) -> dict[str, Any]:
    return {name: options[name] for name in names.split() if name in options}


def _folder(config: pytest.Config) -> str:
    """Return the folder of the configuration file, or of the session without one."""
    return str(config.rootpath if config.inipath is None else config.inipath.parent)
