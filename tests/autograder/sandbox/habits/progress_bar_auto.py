from tqdm.auto import tqdm, trange


def habit(x):
    return sum(tqdm([1, 2])) + sum(trange(3))
