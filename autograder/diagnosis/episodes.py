"""Questions about a recorded test: which components it used, whether they answered, and how clear their sizes are."""

from ..sandbox.tape import Episode
from ..sandbox.worker.values import Decoder


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


def different_sizes(episode: Episode, component: str) -> int:
    """How many sizes but one the parameters of the first object of a component have: the more, the clearer they are."""
    for exchange in episode.exchanges:
        if exchange.request["verb"] == "build" and exchange.request["component"] == component:
            if "error" in exchange.reply:
                continue
            tensors = Decoder(exchange.reply["tensors"], exchange.reply_body).tensors
            return len({size for tensor in tensors for size in tensor.shape} - {1})
    return 0
