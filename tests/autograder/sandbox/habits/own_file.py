import os
import sys
from pathlib import Path

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.append(os.getcwd())
sys.path.append(str(Path(__file__).resolve().parent))


def habit(x):
    return __file__, HERE, os.getcwd()
