"""A mean with weights."""


def dot(a: list[float], b: list[float]) -> float:
    """Given: the sum of products."""
    return sum(x * y for x, y in zip(a, b, strict=True))


def weighted_mean(values: list[float], weights: list[float]) -> float:
    """The mean of values, weighted; ValueError where all weights are zero."""
    # TODO 1.2: divide the weighted sum by the sum of the weights.
    ### BEGIN SOLUTION
    total = sum(weights)
    if total == 0:
        raise ValueError("all weights are zero")
    return dot(values, weights) / total
    ### END SOLUTION


def diagonal(length: int) -> list[list[bool]]:
    """True on the diagonal."""
    # TODO E.1: (extension) compare the row's number with the column's.
    ### BEGIN SOLUTION
    return [[row == column for column in range(length)] for row in range(length)]
    ### END SOLUTION
