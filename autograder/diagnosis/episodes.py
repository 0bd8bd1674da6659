"""Questions about a recorded test: which components it used, and whether they answered."""

from ..sandbox.tape import Episode


def components_of(episode: Episode) -> set[str]:
    """The components of the submission that a test has used."""
    requests = [exchange.request for exchange in episode.exchanges]
    built = {request["component"] for request in requests if request["verb"] in ("build", "function")}
    return built | {request["target"].get("function", "") for request in requests if request["verb"] == "call"}


def has_answered(episode: Episode) -> bool:
    """Whether an object has answered a call in this test."""
    return any(
        exchange.request["verb"] == "call" and "object" in exchange.request["target"] and "error" not in exchange.reply
        for exchange in episode.exchanges
    )
