"""Pages of a class and of students: what they show, that submissions cannot put markup into them.

A state that is no judgement has no number in any output, and a person sees it first; every other state has one.
"""

import re
import shutil
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import pytest

from autograder.classroom.entries import Roll
from autograder.classroom.marks import NOTHING, Decision, Result, mark_of, results_of
from autograder.course.catalogue import faults_of
from autograder.grading.record import BY_HAND, new_record
from autograder.grading.scoring import LOW, Score
from autograder.platforms.platform import Stray, Student
from autograder.reports.class_page import as_class_table, cases_in, histogram, tasks_of, write_summary
from autograder.reports.exports import export, grades_of
from autograder.reports.gradescope import as_results
from autograder.reports.pages import write_pages
from autograder.reports.terminal import as_table
from autograder.testing.results import Finding, ItemMark, State, TaskResult
from foundation.assignment_tables import LatePolicy

from ..conftest import ASSIGNMENT, record_of, rows_of, words_of

CATALOGUE = {fault.id: fault for fault in faults_of(ASSIGNMENT)}
BROWSER = {"executable_path": shutil.which("chromium"), "args": ["--no-sandbox"]}
FIRST = ASSIGNMENT.tasks[0]
SCORES = {"canvas": ASSIGNMENT.title, "moodle": "Grade"}
SIGNATURE = "nrefs:1|bs:1000|seed:12345|case:mixed|eff:no|tok:none|smooth:exp|version:2.6.0"
MARKUP = "<script>alert('1')</script><img src=x onerror=alert(1)>\"'&"


def graded(key, name=None, state=State.PASSED, fault=None, bleu=None, note="", **changes):
    """The finished submission of a student, all of whose tasks are in one state."""
    record = record_of(key, others=state)
    record = record.noted_of_run(note) if note else record
    if fault:
        finding = Finding(fault, (), "Your code behaves …")
        explained = (CATALOGUE[fault].task, "E.2")
        parts = record.judgement.parts
        changes["parts"] = [part.changed(diagnosis=finding) if part.number in explained else part for part in parts]
    if bleu:
        changes["bleu"] = Score(bleu, bleu - 0.01, bleu + 0.01, 9, SIGNATURE)
    return shown(record.changed(judgement=record.judgement.changed(**changes)), key, name or key)


def shown(record, key, name, **details):
    """The result of a student."""
    return Result(Student(id=key, name=name, key=key, **details), record, mark_of(record.judgement))


def roll_of(members, left_out=()):
    about = {"assignment": "a", "layout": "canvas", "folder": "class", "has_roster": True}
    return Roll(**about, members=tuple(members), left_out=left_out)


@pytest.fixture
def pages(tmp_path):
    def write(*class_, left_out=(), more=()):
        members = (*(student.member for student in class_), *more)
        write_pages(roll_of(members, left_out), class_, ASSIGNMENT, CATALOGUE, tmp_path)
        return {str(path.relative_to(tmp_path)): path.read_text() for path in tmp_path.rglob("*.html")}

    return write


def section(page, name):
    """The text of one section."""
    return words_of(re.search(rf'<section aria-labelledby="{name}">.*?</section>', page, re.DOTALL)[0])


def links_in(page):
    return {*re.findall(r'<a href="([^"]*)"', page)}


def test_a_class_has_a_page_and_one_for_each_student(pages):
    written = pages(graded("anna", "Anna Smith"), graded("b-1", "Bob"), graded("c", state=State.FAILED))
    assert set(written) == {"class.html", "students/anna.html", "students/b-1.html", "students/c.html"}
    assert links_in(written["class.html"]) == written.keys() - {"class.html"}
    assert "3 submissions 66.67 mean, of 100 100 median" in words_of(written["class.html"])
    of_anna = words_of(written["students/anna.html"])
    assert "Anna Smith" in of_anna and "100 of 100 points" in of_anna
    assert "Diagonal mask: passed" in of_anna and "0 of 0" not in of_anna, "a task without points has a state alone"


def test_an_archive_is_not_among_the_files_that_were_in_it(pages):
    written = pages(graded("anna", files={"work.zip": "0" * 64, "layers.py": "1" * 64}))
    assert section(written["students/anna.html"], "files").startswith("What was graded layers.py Graded")


def test_the_last_bar_has_what_is_above_the_maximum():
    assert [(bar["high"], bar["count"]) for bar in histogram([100.0, 104.0], 100)][-2:] == [(95, 0), (104, 2)]


def test_markup_of_submissions_stays_text(pages):
    written = pages(graded("anna", MARKUP, note=MARKUP, state=State.TIMEOUT, notes=(MARKUP,)))
    for page in written.values():
        assert MARKUP in words_of(page) and "<img" not in page
        assert page.count("<script") == page.count("</script") == ("data-sortable" in page)
        assert "default-src 'none'" in page and not re.search(r"(src|href)=\"(https?:)?//|@import|url\(", page)


def test_who_is_to_be_looked_at_first(pages):
    """Before all others those without a score, with the reason."""
    refused = new_record("broken", ASSIGNMENT, "0" * 16).refused("the archive is damaged")
    given_up = new_record("ended", ASSIGNMENT, "0" * 16).given_up("ended by signal 9")
    written = pages(
        graded("fine"),
        graded("slow", state=State.TIMEOUT),
        graded("odd", note="a layer of the sandbox was missing"),
        *(shown(record, record.submission, record.submission) for record in (refused, given_up)),
    )
    first = section(written["class.html"], "first")
    order = [first.find(word) for word in ("damaged", "ended by signal 9", "timeout", "a layer of the sandbox")]
    assert order == sorted(order) and -1 not in order and "fine" not in first
    assert "the archive is damaged" in written["students/broken.html"]


def test_on_the_screen_reasons_end_with_a_word_and_figures_are_those_of_the_page(pages):
    """Beside them, of clones, what was committed after the deadline: first of all where nothing else has points."""
    reason = "committed again after the deadline, last at 2026-12-20 12:00 UTC"
    scores = {"anna": 5.5, "bob": 5.6, "carl": 0.0, "dora": 7.0}
    class_ = []
    for name, score in scores.items():
        parts = record_of(name, others=State.FAILED).judgement.parts
        parts = [part.changed(score=score if part.number == FIRST.number else 0.0) for part in parts]
        class_.append(graded(name, parts=parts, internals=("some words " * 99,) if name == "dora" else ()))
        class_[-1] = replace(class_[-1], member=replace(class_[-1].member, entry=name))
    roll = roll_of((each.member for each in class_), tuple(Stray(name, reason) for name in ("bob", "carl")))
    table = as_class_table(roll, class_, cases_in(class_, roll, ASSIGNMENT))
    assert "mean 4.53, median 5.55, of 100" in table
    assert f"  carl: {reason}\n" in table and f"bob: {reason}" not in table
    assert "committed again after the deadline (2): bob, carl" in table
    words = re.search(r"\n  dora: to be read: (some\s+words\s+)+(some\s+)?…\n", table)
    assert words and 400 < len(words[0]) < 520
    assert "4.53 mean, of 100 5.55 median" in words_of(pages(*class_)["class.html"])


def test_bleu_of_all_stands_beside_the_thresholds(pages):
    page = pages(graded("anna", "Anna", bleu=0.44), graded("bob", bleu=0.61), graded("carl"))["class.html"]
    shown = section(page, "bleu")
    assert all(words in shown for words in ("Anna: 0.440 (0.430 to 0.450)", "beginner 0.30", "advanced 0.45"))
    assert "carl" not in shown and 'aria-label="BLEU of 2 submissions with intervals, from 0.440 to 0.610"' in page


def test_the_mean_of_a_task_is_over_those_who_have_a_mark_there():
    states = State.PASSED, State.FAILED, State.GRADER_ERROR
    passed, failed, broken = (graded(state.value, state=state) for state in states)
    given = partial(Decision, student="x", text="x", by="tina")
    by_hand = {("points", FIRST.number): given(kind="points", value=FIRST.points)}
    decided = replace(broken, mark=mark_of(broken.record.judgement, by_hand))
    excused = replace(passed, mark=mark_of(passed.record.judgement, {("excused", ""): given(kind="excused", value=1)}))
    for results, average in (
        ([passed, failed, broken], FIRST.points / 2),
        ([broken], None),
        ([failed, decided], FIRST.points / 2),
        ([failed, excused], 0),
    ):
        first, *_ = tasks_of(results)
        assert first[1] == average


def test_misconceptions_are_ranked_and_counted_once_a_student(pages):
    often, seldom = "layer-norm-over-batch", "attention-not-scaled"
    assert {often, seldom} <= CATALOGUE.keys()
    written = pages(graded("a", fault=often), graded("b", fault=often), graded("c", fault=seldom))["class.html"]
    text = section(written, "misconceptions")
    assert f"2 × 1.4 Layer normalisation: code that {CATALOGUE[often].when}" in text
    assert text.index("2 × 1.4") < text.index("1 × 1.2 Scaled dot-product attention")
    assert CATALOGUE[seldom].hint in text


def test_the_items_that_were_lost_most_often_come_first(pages):
    def with_rubric(key, missed, requires=""):
        items = [ItemMark("first", 0, 1, missed[0]), ItemMark("second", 0, 1, missed[1], requires)]
        parts = graded(key).record.judgement.parts
        return graded(key, parts=[part.changed(items=items) if part.number == "1.4" else part for part in parts])

    lost = [with_rubric("a", (0, 0)), with_rubric("b", (0, 2)), with_rubric("c", (1, 0), "first")]
    text = section(pages(*lost, with_rubric("d", (0, 1)))["class.html"], "items")
    assert text.endswith("Layer normalisation second 3 of 4 1.4 Layer normalisation first 1 of 4")


def test_who_is_late_and_what_a_person_has_to_decide(pages):
    left_out = (
        Stray(MARKUP, "no student in the roster, or more than one", needs_decision=True),
        Stray("grades.csv", "not named as Canvas names submissions"),
    )
    undecided = Student(id="e", name="Eve", undecided=("eve.zip", "eve"))
    late = shown(graded("bob").record, "bob", "Bob", is_late=True)
    written = pages(graded("anna"), late, left_out=left_out, more=(undecided,))
    text = words_of(written["class.html"])
    first = section(written["class.html"], "first")
    assert "2 to look at first" in text and "1 late" in text and "Taken in from Canvas" in text
    assert "Eve several submissions, and it is not known which one counts: eve.zip, eve" in first
    assert f"{MARKUP} no student in the roster" in first and "grades.csv not named as Canvas" in text
    assert "Bob late" in text and "handed in late" in words_of(written["students/bob.html"])
    assert "handed in late" not in words_of(written["students/anna.html"])


@pytest.mark.parametrize("state", State)
def test_every_state_has_a_number_everywhere_or_nowhere(state, tmp_path):
    points = FIRST.points if state is State.PASSED else 1.0
    record = record_of("bob", TaskResult(FIRST, state, points, "why"))
    records = {"anna": record_of("anna"), "bob": record}
    roll = roll_of(
        Student(id=key, name=key.title(), key=key, entry=key, ids={"canvas": str(number), "moodle": str(number)})
        for number, key in enumerate(records, 10)
    )
    results = results_of(roll, records)
    _, bob = results
    expected = round(ASSIGNMENT.max_score - FIRST.points + points, 2) if state.has_mark else None
    assert (record.judgement.score, record.judgement.parts[0].score) == (expected, points if state.has_mark else None)
    assert (bob.score, bob.status) == (expected, "graded" if state.has_mark else "needs review")
    assert bool(bob.reason) == (not state.has_mark)

    write_summary(results, tmp_path)
    _, row = rows_of(tmp_path / "summary.csv")
    shown = [] if expected is None else [expected, points]
    assert [float(row[name]) for name in ("score", FIRST.number) if row[name]] == shown
    table = as_class_table(roll, results, cases_in(results, roll, ASSIGNMENT))
    figures = f"mean {(100 + (100 if expected is None else expected)) / 2:g},"
    assert figures in table, "what has no score is in no mean"
    assert (f"Bob: {state.value}: " in table) == state.needs_a_look and max(map(len, table.splitlines())) <= 120

    (tmp_path / "students").mkdir()
    for name, column in SCORES.items():
        export(name, grades_of(results), ASSIGNMENT.title, ASSIGNMENT.max_score, tmp_path, tmp_path)
        exported = [line[column] for line in rows_of(tmp_path / f"{name}.csv") if "Bob" in str([*line.values()])]
        assert [float(score) for score in exported if score] == shown[:1], name

    outcome = as_results(record)
    first = outcome["tests"][0]
    assert outcome.get("score") == expected and first.get("score") == (shown[1] if shown else None)
    assert first["extra_data"] == {"state": state.value} and ("status" in first) == bool(shown)
    printed = [line for line in as_table(record).splitlines() if " / " in line]
    assert [("–" in line) for line in printed if FIRST.title in line or "score" in line] == [not shown] * 2

    write_pages(roll, results, ASSIGNMENT, {}, tmp_path)
    page, own = (tmp_path / "class.html").read_text(), (tmp_path / "students" / "bob.html").read_text()
    first = page[page.index("Look at these first") : page.index("What the class got wrong")]
    everyone = page[page.index('id="everyone"') :]
    cells = everyone[everyone.index(">Bob<") :].split("</tr>")[0].count("data-value")
    assert cells == len(ASSIGNMENT.tasks) + (1 if state.has_mark else -1), "of all tasks and the score"
    if not state.has_mark:
        assert ">Bob<" in first and ">Anna<" not in first
        assert "no mark yet" in own and f"0 of {FIRST.points:g} points" not in own


@pytest.mark.parametrize("state, score", [(State.NOT_GRADED, 0.0), (State.PENDING, 4.0), (State.FAILED, None)])
def test_no_record_can_say_otherwise(state, score):
    part = record_of("anna").judgement.parts[0]
    with pytest.raises(ValueError, match=f"task {FIRST.number}: {state}, with the score {score}"):
        part.changed(state=state, score=score)


@pytest.mark.slow
def test_in_a_browser(tmp_path, pages):
    """Nothing of a submission runs; sorting, filtering and every link work; a screen reader finds its way."""
    from playwright.sync_api import sync_playwright

    from benchmarks.accessibility import violations_of

    written = pages(
        graded("anna", "Anna", bleu=0.44, fault="layer-norm-over-batch"),
        graded("bob", MARKUP, state=State.TIMEOUT),
        graded("carl", "Carl", state=State.FAILED, bleu=0.21),
    )
    with sync_playwright() as playwright, playwright.chromium.launch(**BROWSER) as browser:
        page, problems = browser.new_page(), []
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: problems.append("a submission's script ran"))
        page.goto((tmp_path / "class.html").as_uri())
        table = page.locator("table[data-sortable]")

        def check():
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                assert not violations_of(page), scheme

        def column(number):
            return table.locator(f"tbody tr:visible td:nth-child({number})").all_inner_texts()

        page.get_by_role("button", name="Score").click()
        assert column(2) == ["0", "0", "100"]
        page.get_by_role("button", name="Score").click()
        assert column(2) == ["100", "0", "0"]
        page.get_by_role("button", name="BLEU").click()
        assert column(3) == ["0.210", "0.440", ""], "what is missing stays at the end"
        page.get_by_role("searchbox").fill("carl")
        assert column(1) == ["Carl"] and page.get_by_role("status").inner_text() == "1 of 3 shown"
        page.get_by_role("searchbox").fill("")
        check()
        for link in links_in(written["class.html"]):
            page.goto((tmp_path / link).as_uri())
            check()
            page.set_viewport_size({"width": 360, "height": 640})
            assert page.evaluate("document.documentElement.scrollWidth") <= 360, f"{link} is too wide for a telephone"
        assert not problems


def test_bleu_that_its_file_costs_and_not_the_model_is_looked_at_until_a_person_decides(pages):
    bleu = [task.number for task in ASSIGNMENT.tasks if task.threshold]

    def with_bleu(key, state, message="", notes=(), decided=NOTHING):
        parts = graded(key).record.judgement.parts
        parts = [part.in_state(state, message=message) if part.number in bleu else part for part in parts]
        result = graded(key, parts=parts, notes=notes)
        return replace(result, mark=mark_of(result.record.judgement, decided))

    why = (f"{LOW}9 of 9 lines have capital letters", "translations.txt: blank lines at the end are not counted (1)")
    points = {("points", number): Decision(student="d", kind="points", value=5, text="", by="t") for number in bleu}
    class_ = [
        with_bleu("low", State.FAILED, "BLEU 0.1 is below 0.3", why),
        with_bleu("short", State.ERROR, "translations.txt: 1 line, but there are 9 references"),
        with_bleu("plain", State.FAILED, "BLEU 0.1 is below 0.3"),
        with_bleu("decided", State.FAILED, "BLEU 0.1 is below 0.3", why, points),
    ]
    first = section(pages(*class_)["class.html"], "first")
    assert f"low {why[0]} short translations.txt: 1 line, but there are 9 references" in first
    assert first.endswith("9 references")


def test_a_task_of_class_is_not_taken_before_people_mark_it(pages):
    """It has no red zero until then, as no extension has; and without points it is not on a student's page."""
    [task] = [replace(task, points=6) for task in ASSIGNMENT.tasks if task.understanding == "sitting"]
    sitting = TaskResult(task, State.NOT_ATTEMPTED, 0.0, BY_HAND)
    judgement = record_of("anna", sitting, others=State.NOT_ATTEMPTED).judgement
    given = Decision(student="b", kind="points", task="E.8", value=4, text="sitting: 4 of 6 answers", by="t")
    names = {"anna": NOTHING, "bob": {("points", "E.8"): given}}
    marks = {name: mark_of(judgement, decided) for name, decided in names.items()}
    class_ = [replace(graded(name, parts=judgement.parts), mark=mark) for name, mark in marks.items()]
    written = pages(*class_)
    cells = re.findall(r'<td class="number (\w+)" title="(not taken|marked)[^>]*>([^<]*)<', written["class.html"])
    assert cells == [("quiet", "not taken", "–")] * 2 + [("partial", "marked", "4*"), ("quiet", "not taken", "–")]
    text = words_of(written["class.html"])
    assert "E.8 Questions in class 4 6 1 not taken yet, 1 marked by hand" in text, "the mean of those who have a mark"
    anna, bob = (words_of(written[f"students/{name}.html"]) for name in names)
    assert "E.8 Questions in class: not taken yet marked by hand, in class" in anna
    assert '"quiet">not taken yet<' in written["students/anna.html"]
    colours = Counter(re.findall(r'class="(\w+)">not attempted<', written["students/anna.html"]))
    assert colours["quiet"] == sum(task.extension and not task.by_hand or task.written for task in ASSIGNMENT.tasks)
    assert colours["missed"] == sum(not task.extension for task in ASSIGNMENT.tasks)
    assert "E.8 Questions in class: marked by hand 4 of 6 points 4 points by hand: sitting" in bob
    assert "E.9 Bug hunt on paper" not in anna + bob and "E.9 Bug hunt on paper" in text


def test_names_of_code_are_shown_as_code(pages):
    """Those of commands in reasons, and those of arguments in what a fault is."""
    fault = next(fault for fault in CATALOGUE.values() if "`key`" in fault.when)
    late = graded("late", fault=fault.id, notes=("call `pack`",))
    policy = LatePolicy(due=datetime(2026, 1, 1, tzinfo=UTC), percent_per_day=10)
    late = replace(late, mark=mark_of(late.record.judgement, NOTHING, policy, replace(late.member, is_late=True)))
    written = pages(late)
    assert "enter late days with <code>late</code>" in written["class.html"]
    assert "<code>key</code>" in written["class.html"] and "<code>pack</code>" in written["students/late.html"]
    assert not any("`" in words_of(page) for page in written.values())


def test_translations_that_are_nobodys_own_are_looked_at_first(pages):
    def with_bleu(key, bleu, digest, *unwritten):
        parts = graded(key).record.judgement.parts
        parts = [part.in_state(State.NOT_ATTEMPTED) if part.number in unwritten else part for part in parts]
        return graded(key, bleu=bleu, parts=parts, files={"student/translations.txt": digest * 64})

    odd = [with_bleu("part", 0.6, "b", "2.3", "2.4"), with_bleu("high", 0.86, "c"), with_bleu("refs", 1.0, "d")]
    twins = with_bleu("twin", 0.6, "e"), with_bleu("brother", 0.6, "e")
    page = pages(with_bleu("fine", 0.6, "a"), *odd, *twins)["class.html"]
    first = section(page, "first")
    assert "points for BLEU 0.60, but not written: Encoder" in first
    assert "BLEU 0.86: no model of this assignment is above 0.85" in first
    assert "the translations are the references" in first
    assert "translations.txt is the same file as that of twin" in first and "5 to look at first" in words_of(page)
