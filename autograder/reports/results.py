"""A record for people (a table) and for Gradescope (results.json). Both are made from the record's JSON."""

from foundation.printable_text import printable

MARKS = {"passed": "✓", "not attempted": "·", "grader error": "!"}


def as_table(record: dict) -> str:
    """Tasks and points, one line each, then the messages."""
    lines = [f"{record['assignment']}: {printable(record['submission'])}", ""]
    width = max(len(part["title"]) for part in record["parts"])
    for part in record["parts"]:
        points = f"{part['score']:6.2f} / {part['points']:<5g}" + ("  (extension)" if part["extension"] else "")
        mark = MARKS.get(part["state"], "✗")
        lines.append(f"  {mark} {part['number']:<4} {part['title']:<{width}} {points} {part['state']}")
    lines += ["", f"  {'score':<{width + 7}} {record['score']:6.2f} / {record['max_score']:g}"]
    if bleu := record["bleu"]:
        interval = f"[{bleu['low']:.3f}, {bleu['high']:.3f}]"
        lines.append(f"  BLEU {bleu['value']:.3f}, 95% interval {interval}, {bleu['sentences']} lines")
    if whole := record["trainability"]:
        lines.append(f"  the whole, trained for seconds (no points): {as_line(whole)}")
    told: dict[str, list[str]] = {}  # what several parts are told stands there once
    for part in record["parts"]:
        if text := text_of(part):
            told.setdefault(text, []).append(f"{part['number']} {part['title']}")
    for text, names in told.items():
        lines += ["", names[0] if len(names) == 1 else f"{names[0]}, and {len(names) - 1} more"]
        lines += ["    " + printable(line) for line in text.split("\n")]
    for note in record["notes"]:
        lines += ["", f"note: {printable(note)}"]
    sandbox, seed_id = record["sandbox"] or "none", record["seed_id"] or "none"
    lines += ["", f"sandbox: {sandbox}   seed id: {seed_id}   {record['seconds']:.1f} s"]
    return "\n".join(lines)


def as_line(whole: dict) -> str:
    """The verdict of the short training run."""
    message = " ".join(whole["message"].split())
    if whole["accuracy"] is not None and not message:
        message = f"{whole['accuracy']:.0%} of new sequences right"
    return printable(f"{whole['state']}: {message}")


def as_results(record: dict) -> dict:
    """Gradescope's results.json; what else we know stands in `extra_data`."""
    bleu = record["bleu"]
    return {
        "score": record["score"],
        "execution_time": record["seconds"],
        "output": "\n".join(printable(note) for note in record["notes"]),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [as_test(part) for part in record["parts"]],
        "leaderboard": [] if bleu is None else [{"name": "BLEU", "value": round(bleu["value"], 4)}],
        "extra_data": {
            **{key: record[key] for key in ("submission", "max_score", "finished", "sandbox", "seed_id")},
            **{key: record[key] for key in ("graded", "files", "suite", "printed")},
            "trainability": record["trainability"],
            "states": {part["number"]: part["state"] for part in record["parts"]},
        },
    }


def as_test(part: dict) -> dict:
    """One entry of `tests`: a task."""
    return {
        "name": f"{part['number']} {part['title']}",
        "number": part["number"],
        "score": part["score"],
        "max_score": part["points"],
        "status": "passed" if part["state"] == "passed" else "failed",
        "output": "\n".join(printable(line) for line in (text_of(part) or part["state"]).split("\n")),
        "output_format": "text",
        "visibility": "visible",
        "tags": part["components"] or ["BLEU"],
    }


def text_of(part: dict) -> str:
    """What a student is told about one part: the message, where in their code it came about, what it looks like."""
    diagnosis = part["diagnosis"] or {"text": ""}
    return "\n".join(text for text in (part["message"], part["traceback"], diagnosis["text"]) if text)
