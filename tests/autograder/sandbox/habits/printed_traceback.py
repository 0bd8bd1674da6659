import traceback


def habit(x):
    try:
        return x @ x.new_zeros(17, 3)
    except RuntimeError:
        traceback.print_exc()
    return 1
