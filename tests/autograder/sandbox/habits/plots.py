import matplotlib.pyplot as plt
from matplotlib import colormaps

STYLE = plt.rcParams


def draw(x):
    plt.plot(x, color=colormaps["hot"](0.5))


def habit(x):
    return 1
