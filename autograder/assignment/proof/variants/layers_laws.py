"""LayerNorm that uses a freedom of its contract: a student's own test that demands more rejects one of these."""

import torch
from torch import nn

# %% norm_with_root_in_float32
# The root of d is a tensor in float32, whose rounding is in all results.


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gamma, self.beta = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))
        self.epsilon = epsilon

    def forward(self, x):
        centred = x - x.mean(dim=-1, keepdim=True)
        squares = centred.square().sum(dim=-1, keepdim=True) + x.size(-1) * self.epsilon
        return self.gamma * centred * torch.tensor(x.size(-1)).sqrt() / squares.sqrt() + self.beta


# %% norm_mean_of_squares
# Variance as E[x^2] - E[x]^2.


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gamma, self.beta = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))
        self.epsilon = epsilon

    def forward(self, x):
        mean = x.mean(dim=-1, keepdim=True)
        variance = (x.square().mean(dim=-1, keepdim=True) - mean.square()).clamp(min=0)
        return self.gamma * (x - mean) / torch.sqrt(variance + self.epsilon) + self.beta


# %% norm_as_view
# The result is not contiguous in memory.


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gamma, self.beta = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))
        self.epsilon = epsilon

    def forward(self, x):
        by_feature = x.movedim(-1, 0).clone(memory_format=torch.contiguous_format)
        centred = by_feature - by_feature.mean(dim=0)
        normed = centred / (centred.square().mean(dim=0) + self.epsilon).sqrt()
        return self.gamma * normed.movedim(0, -1) + self.beta


# %% norm_hides_epsilon
# Nothing is called epsilon in the object.


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gamma, self.beta = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))
        self.under_the_root = lambda variance: variance + epsilon

    def forward(self, x):
        variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
        return self.gamma * (x - mean) / torch.sqrt(self.under_the_root(variance)) + self.beta


# %% norm_refuses_the_rest
# Whatever the docstring does not name is refused.


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        if d_model < 1 or epsilon < 0:
            raise ValueError("expected at least one feature, and no negative epsilon")
        self.gamma, self.beta = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))
        self.epsilon = epsilon

    def forward(self, x):
        if x.size(-1) != self.gamma.numel() or not x.numel():
            raise ValueError(f"expected (..., {self.gamma.numel()})")
        if x.dtype not in (torch.float32, torch.float64) or x.dtype != self.gamma.dtype:
            raise TypeError("expected float32 or float64, as the parameters are")
        centred = x - x.mean(dim=-1, keepdim=True)
        deviation = (centred.square().mean(dim=-1, keepdim=True) + self.epsilon).sqrt()
        return self.gamma * centred / deviation + self.beta


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
