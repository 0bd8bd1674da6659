from dataclasses import dataclass, field


@dataclass(frozen=True)
class Config:
    sizes: list[int] = field(default_factory=lambda: [1, 2])


def habit(x):
    return Config().sizes
