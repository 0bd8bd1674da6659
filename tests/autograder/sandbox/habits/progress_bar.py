from tqdm import tqdm


def habit(x):
    return sum(tqdm([1, 2, 3], desc="steps"))
