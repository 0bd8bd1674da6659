import matplotlib.pyplot as plt
from datasets import load_dataset
from matplotlib import colormaps
from torch.utils.tensorboard import SummaryWriter

STYLE = plt.rcParams


def draw(x):
    plt.plot(x, cmap=colormaps["hot"])
    SummaryWriter().add_scalar("x", load_dataset("x"))


def habit(x):
    return 1
