"""Groups of components that a condition makes sense for."""

NN = [
    "InputEmbedding",
    "MultiHeadedAttention",
    "LayerNorm",
    "FeedForward",
    "EncoderLayer",
    "DecoderLayer",
    "Encoder",
    "Decoder",
    "Transformer",
]
WITH_HEADS = ["MultiHeadedAttention", "EncoderLayer", "DecoderLayer", "Encoder", "Decoder", "Transformer"]
WITH_MASKS = ["scaled_dot_product_attention", *WITH_HEADS]
ON_FLOATS = ["scaled_dot_product_attention", *(name for name in NN if name not in ("InputEmbedding", "Transformer"))]
ON_TENSORS = ["scaled_dot_product_attention", *NN]
WITH_MEMORY = ["scaled_dot_product_attention", "MultiHeadedAttention", "DecoderLayer", "Decoder", "Transformer"]
WITH_NETWORK = ["FeedForward", "EncoderLayer", "DecoderLayer", "Encoder", "Decoder", "Transformer"]
WITH_DROPOUT = ["EncoderLayer", "DecoderLayer", "Encoder", "Decoder", "Transformer"]
ANY = [*ON_TENSORS, "train_epoch", "diagonal_mask", "beam_decode"]
