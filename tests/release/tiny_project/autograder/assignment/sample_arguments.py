"""For the gate that calls every TODO, by the names of parameters."""


def sample_arguments() -> list[dict[str, object]]:
    """One set, of small whole numbers."""
    row = [1.0, 2.0]
    return [{"vocab_size": 3, "d_model": 2, "length": 2, "values": row, "weights": row, "tokens": [1, 2]}]
