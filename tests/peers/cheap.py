"""Makes a model of torch and its forward cheap: what positions do not need is not computed.

Weights of linear layers are on the meta device and give random numbers, large products and
convolutions give zeros, so a forward at full width takes a fraction of a second."""

import numpy
import torch
from torch import nn

# what fills trained weights, whose values do not matter
INITIAL = ["normal_", "uniform_", "trunc_normal_", "orthogonal_"] + [
    f"{name}_{law}_" for name in ("xavier", "kaiming") for law in ("normal", "uniform")
]
MOST_WEIGHTS = 6_000_000  # of a parameter that is really made
MOST_ZEROS = 300_000_000
MOST_PRODUCTS = 2_000_000  # of numbers in a product of matrices that is really computed
numbers = torch.Generator().manual_seed(1)


def randn(*shape):
    return torch.randn(*shape, generator=numbers)


class Cheap:
    """Replaces what makes and uses large weights."""

    def __init__(self):
        self.linear, self.linear_init = nn.functional.linear, nn.Linear.__init__
        self.register = nn.Module.register_parameter
        self.matmul = torch.matmul

    def install(self):
        cheap = self

        def linear_init(layer, in_features, out_features, bias=True, device=None, dtype=None):
            del device
            cheap.linear_init(layer, in_features, out_features, bias, "meta", dtype)

        def linear(x, weight, bias=None):
            if weight.is_meta or (bias is not None and bias.is_meta):
                return randn(*x.shape[:-1], weight.shape[0])
            return cheap.linear(x, weight, bias)

        def register(owner, name, parameter):
            if parameter is not None and parameter.numel() > MOST_WEIGHTS:
                empty = torch.empty(parameter.shape, device="meta", dtype=parameter.dtype)
                parameter = nn.Parameter(empty, requires_grad=False)
            return cheap.register(owner, name, parameter)

        def matmul(a, b):
            """Zeros in place of attention's large products, which positions do not need."""
            inner = a.shape[-1]
            if (
                min(a.dim(), b.dim()) < 2
                or inner < 8
                or a.numel() * b.shape[-1] < MOST_PRODUCTS
            ):
                return cheap.matmul(a, b)
            outer = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
            return torch.zeros(*outer, a.shape[-2], b.shape[-1], dtype=a.dtype)

        nn.Linear.__init__, nn.functional.linear = linear_init, linear
        torch.matmul = torch.bmm = torch.Tensor.matmul = torch.Tensor.__matmul__ = matmul
        nn.functional.scaled_dot_product_attention = attend
        nn.functional.softmax = torch.softmax = torch.Tensor.softmax = soften
        for name in ("conv1d", "conv2d", "conv3d"):
            setattr(nn.functional, name, convolution(getattr(nn.functional, name)))
        nn.Module.register_parameter = register
        for name in INITIAL:
            setattr(nn.init, name, lambda tensor, *args, **named: tensor)
        torch.empty, torch.zeros = on_meta(torch.empty), on_meta(torch.zeros)


def attend(query, key, value, **_):
    """In place of attention: its shape alone."""
    del key
    return torch.zeros(*query.shape[:-1], value.shape[-1], dtype=value.dtype)


def soften(x, dim=-1, *_, dtype=None, **__):
    """A softmax, and in place of a large one what it would be of."""
    if x.numel() < MOST_PRODUCTS:
        return torch.special.softmax(x, dim, dtype=dtype)
    return x if dtype is None else x.to(dtype)


def convolution(convolve):
    """A convolution, zeros in place of a large one."""

    def on_meta_device(value):
        return value.to("meta") if isinstance(value, torch.Tensor) else value

    def cheap(x, weight, *args, **named):
        given = [on_meta_device(value) for value in (x, weight, *args)]
        empty = convolve(*given, **{name: on_meta_device(v) for name, v in named.items()})
        if not weight.is_meta and empty.numel() * weight[0].numel() < MOST_PRODUCTS:
            return convolve(x, weight, *args, **named)
        return torch.zeros(empty.shape, dtype=x.dtype)

    return cheap


def on_meta(make):
    """torch.empty or torch.zeros, on the meta device where the tensor is huge."""

    def made(*args, **named):
        shape = args[0] if len(args) == 1 and isinstance(args[0], (tuple, list)) else args
        if all(isinstance(side, int) for side in shape) and named.get("device") is None:
            if numpy.prod(shape, dtype=float) > MOST_ZEROS:
                named["device"] = "meta"
        return make(*args, **named)

    return made
