"""Scores and averages as sums of products of five axes: right, and takes far more memory than a matrix product."""


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = (query[:, :, :, None] * key[:, :, None]).sum(dim=-1) / query.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), -1e20)
    weights = scores.softmax(dim=-1)
    return (weights[..., None] * value[:, :, None]).sum(dim=-2), weights
