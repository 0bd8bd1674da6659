"""LayerNorm in other words and layouts."""

import torch
from torch import nn

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


# %% norm_moments
# Variance as E[x^2] - E[x]^2; shapes and types are checked; the feed-forward network has dropout inside.


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.d_model = d_model
        self.register_buffer("eps", torch.tensor(epsilon, dtype=torch.float64))
        self.weight = nn.Parameter(torch.full((d_model,), 1.0))
        self.bias = nn.Parameter(torch.full((d_model,), 0.0))

    def forward(self, x):
        assert x.size(-1) == self.d_model and x.is_floating_point()
        mean = x.sum(dim=-1, keepdim=True) / self.d_model
        variance = (x * x).sum(dim=-1, keepdim=True) / self.d_model - mean**2
        root = torch.sqrt(variance.clamp(min=0) + self.eps.to(x.dtype))
        return torch.addcmul(self.bias, self.weight, (x - mean) / root)


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.w_1 = nn.Linear(d_model, d_ff)
        self.w_2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return self.w_2(self.dropout(self.w_1(x).relu()))


# %% norm_std
# The population standard deviation, squared again; unusual names; the feed-forward network is an nn.Sequential.


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super(LayerNorm, self).__init__()  # noqa: UP008
        self.a_2 = nn.Parameter(torch.ones(d_model))
        self.b_2 = nn.Parameter(torch.zeros(d_model))
        self.epsilon = epsilon

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        std = x.std(-1, keepdim=True, correction=0)
        return self.a_2 * (x - mean) / (std.pow(2) + self.epsilon) ** 0.5 + self.b_2


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super(FeedForward, self).__init__()  # noqa: UP008
        self.net = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x):
        return self.net(x)


# %% norm_torch_var
# torch.var without Bessel's correction; shift before gain; parameters (1, 1, d).


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.b = nn.Parameter(torch.zeros(1, 1, d_model))
        self.g = nn.Parameter(torch.ones(1, 1, d_model))
        self.eps = epsilon

    def forward(self, x):
        mean = torch.mean(x, -1, keepdim=True)
        var = torch.var(x, dim=-1, unbiased=False, keepdim=True)
        y = (x - mean) * torch.rsqrt(var + self.eps) * self.g + self.b
        return y.reshape(x.shape)
