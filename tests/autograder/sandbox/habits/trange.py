import tqdm


def habit(x):
    return sum(tqdm.trange(4))
