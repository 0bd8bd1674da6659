"""LayerNorm and feed-forward network in other words and layouts.

The last norms use a freedom of its contract: a student's own test that demands more rejects one of these.
"""

import torch
import torch.nn.functional as F
from torch import nn


class Norm(nn.Module):
    """What most of these have in common: gain, shift and epsilon."""

    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gamma, self.beta = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))
        self.epsilon = epsilon

    def forward(self, x):
        return self.gamma * self.normed(x) + self.beta


# %% norm_einsum
# Means by einsum; the feed-forward network uses bare matrices on the right of x.


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.shift = nn.Parameter(torch.zeros(d_model))
        self.gain = nn.Parameter(torch.ones(d_model))
        self.epsilon = epsilon

    def forward(self, x):
        n = x.shape[-1]
        centred = x - torch.einsum("...d->...", x).unsqueeze(-1) / n
        variance = torch.einsum("...d,...d->...", centred, centred).unsqueeze(-1) / n
        return self.shift + torch.einsum("...d,d->...d", centred / (variance + self.epsilon).sqrt(), self.gain)


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.B2 = nn.Parameter(torch.zeros(d_model))
        self.W2 = nn.Parameter(torch.randn(d_ff, d_model) / d_ff**0.5)
        self.W1 = nn.Parameter(torch.randn(d_model, d_ff) / d_model**0.5)
        self.B1 = nn.Parameter(torch.zeros(d_ff))

    def forward(self, x):
        inner = x @ self.W1 + self.B1
        return inner.clamp(min=0) @ self.W2 + self.B2


# %% norm_flat
# Gain and shift of a feature lie side by side in one flat parameter.


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.numbers = nn.Parameter(torch.tensor([1.0, 0.0]).repeat(d_model))
        self.epsilon = epsilon

    def forward(self, x):
        centred = x - x.mean(dim=-1, keepdim=True)
        normed = centred * (centred.square().mean(dim=-1, keepdim=True) + self.epsilon).rsqrt()
        return normed * self.numbers[0::2] + self.numbers[1::2]


# %% norm_gain_as_difference
# The gain is learned as its difference from 1; mean and variance are updated feature by feature (Welford).


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.epsilon = epsilon
        self.change = nn.Parameter(torch.zeros(2, d_model))

    def forward(self, x):
        change, shift = self.change
        mean = squares = torch.zeros_like(x[..., 0])
        for count, feature in enumerate(x.unbind(-1), start=1):
            step = feature - mean
            mean = mean + step / count
            squares = squares + step * (feature - mean)
        deviation = (squares / x.size(-1) + self.epsilon).sqrt()
        return (1 + change) * (x - mean.unsqueeze(-1)) / deviation.unsqueeze(-1) + shift


# %% norm_in_one_parameter
# Gain and shift are the rows of one parameter.


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.epsilon = epsilon
        self.both = nn.Parameter(torch.stack([torch.ones(d_model), torch.zeros(d_model)]))

    def forward(self, x):
        spread, middle = torch.var_mean(x, dim=-1, keepdim=True, unbiased=False)
        return torch.addcmul(self.both[1], self.both[0], (x - middle) * (spread + self.epsilon).rsqrt())


# %% norm_std
# The population standard deviation, squared again.


class LayerNorm(Norm):
    def normed(self, x):
        mean = x.mean(-1, keepdim=True)
        std = x.std(-1, keepdim=True, correction=0)
        return (x - mean) / (std.pow(2) + self.epsilon) ** 0.5


# %% norm_hides_epsilon
# Nothing is called epsilon in the object; torch.var without Bessel's correction; shift before gain, each (1, 1, d).


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.b = nn.Parameter(torch.zeros(1, 1, d_model))
        self.g = nn.Parameter(torch.ones(1, 1, d_model))
        self.under_the_root = lambda variance: variance + epsilon

    def forward(self, x):
        mean = torch.mean(x, -1, keepdim=True)
        var = torch.var(x, dim=-1, unbiased=False, keepdim=True)
        y = (x - mean) * torch.rsqrt(self.under_the_root(var)) * self.g + self.b
        return y.reshape(x.shape)


# %% norm_with_root_in_float32
# The root of d is a tensor in float32, whose rounding is in all results.


class LayerNorm(Norm):
    def normed(self, x):
        centred = x - x.mean(dim=-1, keepdim=True)
        squares = centred.square().sum(dim=-1, keepdim=True) + x.size(-1) * self.epsilon
        return centred * torch.tensor(x.size(-1)).sqrt() / squares.sqrt()


# %% norm_mean_of_squares
# Variance as E[x^2] - E[x]^2.


class LayerNorm(Norm):
    def normed(self, x):
        mean = x.mean(dim=-1, keepdim=True)
        variance = (x.square().mean(dim=-1, keepdim=True) - mean.square()).clamp(min=0)
        return (x - mean) / torch.sqrt(variance + self.epsilon)


# %% norm_as_view
# The result is not contiguous in memory.


class LayerNorm(Norm):
    def normed(self, x):
        by_feature = x.movedim(-1, 0).clone(memory_format=torch.contiguous_format)
        centred = by_feature - by_feature.mean(dim=0)
        return (centred / (centred.square().mean(dim=0) + self.epsilon).sqrt()).movedim(0, -1)


# %% norm_refuses_the_rest
# Whatever the docstring does not name is refused.


class LayerNorm(Norm):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__(d_model, epsilon)
        if d_model < 1 or epsilon < 0:
            raise ValueError("expected at least one feature, and no negative epsilon")

    def normed(self, x):
        if x.size(-1) != self.gamma.numel() or not x.numel():
            raise ValueError(f"expected (..., {self.gamma.numel()})")
        if x.dtype not in (torch.float32, torch.float64) or x.dtype != self.gamma.dtype:
            raise TypeError("expected float32 or float64, as the parameters are")
        centred = x - x.mean(dim=-1, keepdim=True)
        return centred / (centred.square().mean(dim=-1, keepdim=True) + self.epsilon).sqrt()


# %% norm_one_of_each
# Gain and shift are lists of numbers, one parameter for each feature.


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gains = nn.ParameterList(torch.ones(1) for _ in range(d_model))
        self.shifts = nn.ParameterList(torch.zeros(1) for _ in range(d_model))
        self.epsilon = epsilon

    def forward(self, x):
        variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
        normed = (x - mean) * (variance + self.epsilon).rsqrt()
        return normed * torch.cat([*self.gains]) + torch.cat([*self.shifts])


# %% feed_forward_convolutions
# Two convolutions of width one, as section 3.3 of the paper suggests.


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.conv_1 = nn.Conv1d(d_model, d_ff, kernel_size=1)
        self.conv_2 = nn.Conv1d(d_ff, d_model, kernel_size=1)

    def forward(self, x):
        y = self.conv_1(x.permute(0, 2, 1))
        return self.conv_2(torch.maximum(y, torch.zeros_like(y))).permute(0, 2, 1)


# %% feed_forward_functional
# F.linear with parameters in a ParameterDict; sizes are printed; an in-place relu on the inner values.


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.p = nn.ParameterDict(
            {
                "w2": nn.Parameter(torch.empty(d_model, d_ff)),
                "b2": nn.Parameter(torch.zeros(d_model)),
                "w1": nn.Parameter(torch.empty(d_ff, d_model)),
                "b1": nn.Parameter(torch.zeros(d_ff)),
            }
        )
        for name in ("w1", "w2"):
            nn.init.kaiming_uniform_(self.p[name])
        print("feed-forward", d_model, d_ff)

    def forward(self, x):
        inner = F.linear(x, self.p["w1"], self.p["b1"])
        F.relu(inner, inplace=True)
        return F.linear(inner, self.p["w2"], self.p["b2"])
