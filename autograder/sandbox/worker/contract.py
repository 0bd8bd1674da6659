"""The names of the contract: which module offers which component."""

CONTRACT = {
    "embedding": ("InputEmbedding", "PositionalEncoding"),
    "attention": ("scaled_dot_product_attention", "MultiHeadedAttention"),
    "layers": ("LayerNorm", "FeedForward", "EncoderLayer", "DecoderLayer"),
    "model": ("Encoder", "Decoder", "Transformer"),
    "masks": ("padding_mask", "causal_mask", "diagonal_mask"),
    "data": ("Batch",),
    "vocab": (),
    "train": ("train_epoch",),
    "decode": ("greedy_decode", "beam_decode"),
}

MODEL_METHODS = ("encode", "decode", "get_predictions")
"""What tests may call on a model beside `forward`."""

COMPONENTS = tuple(f"{module}.{name}" for module, names in CONTRACT.items() for name in names)

MAX_PARAMETERS, MAX_PARAMETER_BYTES = 1_000, 8 << 20
"""Of one object: tests build small ones, and what is sent is held several times on both sides."""
