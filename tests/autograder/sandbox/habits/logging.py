import logging


def habit(x):
    logging.getLogger("mine").warning("hello %s", x)
    return 1
