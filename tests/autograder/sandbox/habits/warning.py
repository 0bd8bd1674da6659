import warnings


def habit(x):
    warnings.warn("careful", stacklevel=2)
    return 1
