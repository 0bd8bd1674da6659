import datetime
import time


def habit(x):
    return time.strftime("%Y") + str(datetime.datetime.now().year)
