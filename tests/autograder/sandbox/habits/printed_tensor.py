def habit(x):
    print(x, x.shape, repr(x.double()))
    return 1
