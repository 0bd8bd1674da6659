"""A record as Gradescope's results.json, which `--results` writes too."""

import re
from typing import Any

from foundation.printable_text import printable

from ...grading.record import MAX_TEXT, Part, Record
from ...grading.states import State
from ..terminal import containment_of, notes_of, printable_lines, text_of
from .metadata import SubmissionMetadata


def as_results(record: Record) -> dict[str, Any]:
    """Gradescope's results.json; what else we know is in `extra_data`.

    While a part with points has no mark there is no total: Gradescope takes results without a score for a failed run of
    the autograder, and not for a zero.
    """
    judgement, run = record.judgement, record.run
    bleu = judgement.bleu
    return {
        **({} if judgement.score is None else {"score": judgement.score}),
        "execution_time": run.seconds,
        "output": "\n".join(printable(note, MAX_TEXT) for note in notes_of(record)),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [as_test(part) for part in judgement.parts],
        "leaderboard": [] if bleu is None else [{"name": "BLEU", "value": round(bleu.value, 4)}],
        "extra_data": {
            "submission": record.submission,
            "max_score": judgement.max_score,
            "finished": record.is_finished,
            "sandbox": containment_of(run),
            "seed_id": judgement.seed_id,
            "content_hash": judgement.content_hash,
            "files": judgement.files,
            "grader_version": judgement.grader_version,
            "printed": run.printed,
            "training": None if judgement.training is None else judgement.training.model_dump(mode="json"),
            "states": {part.number: part.state.value for part in judgement.parts},
        },
    }


def as_test(part: Part) -> dict[str, Any]:
    """One entry of `tests`: a task; one without a mark has neither score nor status."""
    mark = {"score": part.score, "status": "passed" if part.state == State.PASSED else "failed"}
    return {
        "name": f"{part.number} {part.title}",
        "number": part.number,
        **({} if part.score is None else mark),
        "max_score": part.points,
        "output": "\n".join(printable_lines(text_of(part) or part.state.value)),
        "output_format": "text",
        "visibility": "visible",
        "tags": list(part.components) or ["BLEU"],
    }


def in_full(record: Record, metadata: SubmissionMetadata | None, notes: list[str]) -> dict[str, Any]:
    """The results with what only Gradescope uses: visibility, Markdown, the leaderboard, the metadata."""
    results = as_results(record)
    for entry, part in zip(results["tests"], record.judgement.parts, strict=True):
        entry |= {"output": as_markdown(part.state, entry["output"]), "output_format": "md", "name_format": "text"}
        entry |= {"visibility": part.visibility, "extra_data": {"state": part.state.value}}
    for place in results["leaderboard"]:
        place["order"] = "desc"
    if not all(part.visibility == "visible" for part in record.judgement.parts if not part.components):
        results["leaderboard"] = []  # BLEU tells what the hidden parts have earned
    shows_all = all(part.visibility == "visible" for part in record.judgement.parts)
    said = [results["output"], *(metadata.notes(tells_scores=shows_all) if metadata else ()), *notes]
    results["output"] = "\n".join(filter(None, said))
    if metadata:
        results["extra_data"]["handed_in"] = metadata.as_dict()
    return results


def as_markdown(state: str, message: str) -> str:
    """State and message. Student-controlled text is fenced so that it cannot break out."""
    if message in ("", state):
        return f"**{state}**"
    longest = max((len(run) for run in re.findall("`+", message)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"**{state}**\n\n{fence}text\n{message}\n{fence}"


def failure(reason: str) -> dict[str, Any]:
    """Results without any score: Gradescope shows that the autograder failed."""
    said = f"The grader failed, and your work has not been graded. Please tell your instructor: {reason[:500]}"
    return {"output": said, "output_format": "text", "visibility": "visible", "stdout_visibility": "hidden"}
