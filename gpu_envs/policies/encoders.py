"""Encoders of an observation, which is one row of named fields.

`mlp` takes the row as it is; `cnn` runs over fields of three axes (height, width, channels),
`attention` over fields of two (entities, numbers), and both take what remains as numbers; `patches`
and `residual` are for pictures, with numbers beside them or without.
"""

from __future__ import annotations

import math
from itertools import accumulate

import torch
from torch import Tensor, nn

from gpu_envs.policies.layers import ACTIVATIONS, GAINS, Mlp, RowShape, linear
from gpu_envs.policies.options import PolicyOptions

_CHANNELS = 32  # of convolutions
_HEADS = 4  # of attention
_IMAGE = 36  # the least side of a picture at which convolutions have strides
_PATCH = 4  # pixels of a patch, along each side
_SMALL = 40  # places of a picture that are not reduced further
_STAGES = (8, 16, 16)  # channels of each stage of residual blocks
_BLOCKS = 2  # of a stage


class Cnn(nn.Module):
    """Convolutions over each field of three axes, then layers over everything."""

    def __init__(self, shape: RowShape, widths: tuple[int, ...], activation: str) -> None:
        super().__init__()
        self.shape, self.activation = shape, ACTIVATIONS[activation]
        self.images = [k for k, s in enumerate(shape.shapes) if len(s) == 3]
        if not self.images:
            raise ValueError(
                "--encoder cnn needs a field of three axes (height, width, channels); this "
                f"observation has {_listed(shape)}"
            )
        gain, stacks = GAINS[activation], []
        size = sum(n for k, n in enumerate(shape.sizes) if k not in self.images)
        for k in self.images:
            height, width, depth = _extents(shape, k)
            is_large = min(height, width) >= _IMAGE
            plan = ((8, 4, 0), (4, 2, 0), (3, 1, 0)) if is_large else ((3, 1, 1), (3, 1, 1))
            stack = nn.ModuleList()
            for kernel, stride, margin in plan:
                conv = nn.Conv2d(depth, _CHANNELS, kernel, stride, margin)
                nn.init.orthogonal_(conv.weight, gain)
                nn.init.zeros_(conv.bias)  # type: ignore[arg-type]  # it has one
                stack.append(conv)
                height, width = ((n + 2 * margin - kernel) // stride + 1 for n in (height, width))
                depth = _CHANNELS
            stacks.append(stack)
            size += height * width * depth
        self.stacks = nn.ModuleList(stacks)
        self.last = Mlp(size, widths, activation)
        self.outputs = self.last.outputs

    def forward(self, rows: Tensor, head: nn.Linear | None = None) -> Tensor:
        """Return the last layer's activations, or a linear head's outputs from them."""
        parts = list(torch.split(rows, self.shape.sizes, -1))
        for k, stack in zip(self.images, self.stacks, strict=True):
            image = parts[k].view(-1, *self.shape.shapes[k])
            image = image if self.shape.channels_first else image.movedim(-1, -3)
            for conv in stack:  # type: ignore[attr-defined]  # a list of modules
                image = self.activation(conv(image))
            parts[k] = image.flatten(-3)
        return self.last(torch.cat(parts, -1), head)  # type: ignore[no-any-return]


class _Picture(nn.Module):
    """What encoders of a picture have in common. They run with channels last in memory.

    The layers of a picture are its channels; numbers beside it join what becomes of them.
    """

    def __init__(self, shape: RowShape, activation: str, name: str) -> None:
        super().__init__()
        layers = shape.pictures or len(shape.shapes)
        if any(len(extents) != 3 for extents in shape.shapes[:layers]):
            raise ValueError(
                f"--encoder {name} needs a picture; this observation has {_listed(shape)}"
            )
        self.shape, self.activation = shape, ACTIVATIONS[activation]
        self.gain = GAINS[activation]
        extents = [_extents(shape, k) for k in range(layers)]
        if any(extent[:2] != extents[0][:2] for extent in extents):
            raise ValueError(
                f"--encoder {name} needs one picture; this observation has {_listed(shape)}"
            )
        self.height, self.width = extents[0][:2]
        self.depth = sum(extent[2] for extent in extents)
        self.layers, self.beside = layers, sum(shape.sizes[layers:])

    def image(self, rows: Tensor) -> Tensor:
        """Return the pictures: channels are the second axis, and last in memory."""
        parts = torch.split(rows, self.shape.sizes, -1)[: self.layers]
        layers = [
            part.reshape(-1, *extents)
            for part, extents in zip(parts, self.shape.shapes[: self.layers], strict=True)
        ]
        if not self.shape.channels_first:
            layers = [layer.movedim(-1, -3) for layer in layers]
        image = layers[0] if len(layers) == 1 else torch.cat(layers, 1)
        return image.contiguous(memory_format=torch.channels_last)

    def numbers(self, image: Tensor, rows: Tensor) -> Tensor:
        """Return the numbers of each picture in their order in memory, and those beside it."""
        found = image.movedim(1, -1).flatten(1)
        return torch.cat((found, rows[:, -self.beside :]), -1) if self.beside else found


def _convolution(
    inputs: int, made: int, kernel: int, stride: int, gain: float, margin: tuple[int, int] = (1, 1)
) -> nn.Conv2d:
    """Return a convolution of a picture with black borders, as high and wide as `margin` says."""
    layer = nn.Conv2d(inputs, made, kernel, stride, margin)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)  # type: ignore[arg-type]  # it has one
    return layer


class Patches(_Picture):
    """A picture's patches as linear layers see them, convolutions that halve it, then layers.

    Patches save most of the work of later layers. Pictures with channels last have the layout that
    convolutions want.
    """

    def __init__(self, shape: RowShape, widths: tuple[int, ...], activation: str) -> None:
        super().__init__(shape, activation, "patches")
        height, width = -(-self.height // _PATCH), -(-self.width // _PATCH)
        # Where patches do not divide a side, borders complete the last ones: no pixel is left out.
        margin = (-self.height % _PATCH + 1) // 2, (-self.width % _PATCH + 1) // 2
        made = [_convolution(self.depth, _CHANNELS // 2, _PATCH, _PATCH, self.gain, margin)]
        made.append(_convolution(_CHANNELS // 2, _CHANNELS, 3, 1, self.gain))
        while height * width > _SMALL:
            made.append(_convolution(_CHANNELS, _CHANNELS, 3, 2, self.gain))
            height, width = _half(height), _half(width)
        self.convolutions = nn.ModuleList(made)
        self.convolutions.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.last = Mlp(height * width * _CHANNELS + self.beside, widths, activation)
        self.outputs = self.last.outputs

    def forward(self, rows: Tensor, head: nn.Linear | None = None) -> Tensor:
        """Return the last layer's activations, or a linear head's outputs from them."""
        image = self.image(rows)
        for layer in self.convolutions:
            image = self.activation(layer(image))
        return self.last(self.numbers(image, rows), head)  # type: ignore[no-any-return]


class _Stage(nn.Module):
    """Halves a picture by the greatest of every 3 x 3 places, then adds what blocks make of it."""

    def __init__(self, inputs: int, made: int, activation: str) -> None:
        super().__init__()
        self.activation, gain = ACTIVATIONS[activation], GAINS[activation]
        self.first = _convolution(inputs, made, 3, 1, 1.0)
        # The blocks of all stages together add about as much as they see.
        added = gain / math.sqrt(_BLOCKS * len(_STAGES))
        inner = [_convolution(made, made, 3, 1, gain) for _ in range(_BLOCKS)]
        outer = [_convolution(made, made, 3, 1, added) for _ in range(_BLOCKS)]
        self.inner, self.outer = nn.ModuleList(inner), nn.ModuleList(outer)

    def forward(self, x: Tensor) -> Tensor:
        """Return a picture of half the height and width."""
        x = nn.functional.max_pool2d(self.first(x), 3, 2, 1)
        for inner, outer in zip(self.inner, self.outer, strict=True):
            x = x + outer(self.activation(inner(self.activation(x))))
        return x


class Residual(_Picture):
    """Stages of residual blocks that halve a picture, then layers (Espeholt et al. 2018)."""

    def __init__(self, shape: RowShape, widths: tuple[int, ...], activation: str) -> None:
        super().__init__(shape, activation, "residual")
        height, width, depth = self.height, self.width, self.depth
        stages = []
        for made in _STAGES:
            stages.append(_Stage(depth, made, activation))
            height, width, depth = _half(height), _half(width), made
        self.stages = nn.Sequential(*stages)
        self.stages.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.last = Mlp(height * width * depth + self.beside, widths, activation)
        self.outputs = self.last.outputs

    def forward(self, rows: Tensor, head: nn.Linear | None = None) -> Tensor:
        """Return the last layer's activations, or a linear head's outputs from them."""
        seen = self.activation(self.stages(self.image(rows)))
        return self.last(self.numbers(seen, rows), head)  # type: ignore[no-any-return]


class Attention(nn.Module):
    """Entities look at each other once; their mean joins the other numbers.

    An entity whose numbers are all zero is absent, and masked out.
    """

    def __init__(self, shape: RowShape, widths: tuple[int, ...], activation: str) -> None:
        super().__init__()
        self.shape, self.activation = shape, ACTIVATIONS[activation]
        self.sets = [k for k, s in enumerate(shape.shapes) if len(s) == 2]
        if not self.sets:
            raise ValueError(
                "--encoder attention needs a field of two axes (entities, numbers); this "
                f"observation has {_listed(shape)}"
            )
        width = -(-widths[0] // _HEADS) * _HEADS
        own = sum(n for k, n in enumerate(shape.sizes) if k not in self.sets)
        gain = math.sqrt(2)
        self.own = linear(max(own, 1), width, gain)
        self.embeddings = nn.ModuleList(linear(shape.shapes[k][1], width, gain) for k in self.sets)
        self.norm_in, self.norm_out = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mix, self.out = linear(width, 3 * width, 1.0), linear(width, width, 1.0)
        self.last = Mlp(2 * width, widths, activation)
        self.outputs = self.last.outputs

    def sets_in_row(self) -> list[tuple[int, int, int]]:
        """Return the offset of each set in a row, its entities and the numbers of each."""
        begins = [0, *accumulate(self.shape.sizes)]
        return [(begins[k], *self.shape.shapes[k]) for k in self.sets]  # type: ignore[misc]

    def forward(self, rows: Tensor, head: nn.Linear | None = None) -> Tensor:
        """Return the last layer's activations, or a linear head's outputs from them."""
        parts = torch.split(rows, self.shape.sizes, -1)
        rest = [part for k, part in enumerate(parts) if k not in self.sets]
        own = torch.cat(rest, -1) if rest else torch.ones_like(rows[:, :1])
        own = self.activation(self.own(own))
        tokens, present = [own.unsqueeze(1)], [torch.ones_like(own[:, :1], dtype=torch.bool)]
        for k, embed in zip(self.sets, self.embeddings, strict=True):
            entities = parts[k].view(-1, *self.shape.shapes[k])
            tokens.append(self.activation(embed(entities)) + own.unsqueeze(1))
            present.append((entities != 0).any(-1))
        there, x = torch.cat(present, 1), torch.cat(tokens, 1)
        q, k_, v = (
            part.unflatten(-1, (_HEADS, -1)).transpose(1, 2)
            for part in self.mix(self.norm_in(x)).chunk(3, -1)
        )
        seen = nn.functional.scaled_dot_product_attention(q, k_, v, attn_mask=there[:, None, None])
        x = self.norm_out(x + self.out(seen.transpose(1, 2).flatten(2)))
        weight = there[:, 1:, None].float()
        mean = (x[:, 1:] * weight).sum(1) / weight.sum(1).clamp(min=1)
        return self.last(torch.cat((x[:, 0], mean), -1), head)  # type: ignore[no-any-return]


def _half(places: int) -> int:
    """Return how many places of a side remain at a stride of two, with a margin of one."""
    return (places + 1) // 2


def _extents(shape: RowShape, field: int) -> tuple[int, ...]:
    """Return height, width and channels of a field of three axes."""
    extents = shape.shapes[field]
    return (*extents[1:], extents[0]) if shape.channels_first else extents


def _listed(shape: RowShape) -> str:
    return ", ".join(f"{n} {s or 'scalar'}" for n, s in zip(shape.names, shape.shapes, strict=True))


def encoder(shape: RowShape, options: PolicyOptions) -> nn.Module:
    """Return the encoder that the configuration names."""
    if options.encoder == "mlp":
        return Mlp(sum(shape.sizes), options.widths, options.activation)
    kinds = {"cnn": Cnn, "patches": Patches, "residual": Residual, "attention": Attention}
    return kinds[options.encoder](shape, options.widths, options.activation)
