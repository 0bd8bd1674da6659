"""Questions about a recorded test: which components it used, and with which inputs."""

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


def describe_inputs(episode: Episode) -> str:
    """The tensors of a test's last call: their shapes, and the numbers of small ones."""
    calls = [exchange for exchange in episode.exchanges if exchange.request["verb"] == "call"]
    if not calls:
        return ""
    tensors = Decoder(calls[-1].request["tensors"], calls[-1].body).tensors
    numbers = [f" = {[round(x, 3) for x in t.double().flatten().tolist()]}" if t.numel() <= 6 else "" for t in tensors]
    return ", ".join(f"{tuple(t.shape)}{number}" for t, number in zip(tensors, numbers, strict=True))[:400]
