"""Tables as people usually write them, in numpy and torch."""


def numpy_table(length, dim):
    import numpy

    position = numpy.arange(length)[:, None]
    angles = position * numpy.exp(numpy.arange(0, dim, 2) * (-numpy.log(10000.0) / dim))
    table = numpy.empty((length, dim), numpy.float32)
    table[:, 0::2] = numpy.sin(angles)
    table[:, 1::2] = numpy.cos(angles)
    return table


def torch_table(length, dim):
    import torch

    torch.set_num_threads(1)
    position = torch.arange(length)[:, None]
    angles = position * torch.exp(torch.arange(0, dim, 2) * (-9.210340371976184 / dim))
    table = torch.empty(length, dim)
    table[:, 0::2] = torch.sin(angles)
    table[:, 1::2] = torch.cos(angles)
    return table


def cubic_weights(source, target):
    """The matrix [target, source] of cubic convolution with a = -0.75, edges repeated."""
    import numpy

    position = (numpy.arange(target) + 0.5) * source / target - 0.5
    first = numpy.floor(position).astype(int)
    weights = numpy.zeros((target, source))
    for tap in (-1, 0, 1, 2):
        x = numpy.abs(position - first - tap)
        near, far = (1.25 * x - 2.25) * x * x + 1, ((-0.75 * x + 3.75) * x - 6) * x + 3
        cells = numpy.clip(first + tap, 0, source - 1)
        numpy.add.at(weights, (numpy.arange(target), cells), numpy.where(x <= 1, near, far))
    return weights.astype(numpy.float32)


def numpy_resized(source, target, dim):
    """A random table [source * source, dim] on target * target cells: two products of
    matrices."""
    import numpy

    table = numpy.random.default_rng(0).standard_normal((source, source, dim), numpy.float32)
    weights = cubic_weights(source, target)
    rows = numpy.tensordot(weights, table * numpy.float32(0.02), (1, 0))
    return numpy.ascontiguousarray(numpy.einsum("xj,yjd->yxd", weights, rows, optimize=True))


def torch_resized(source, target, dim):
    import torch

    torch.set_num_threads(1)
    table = torch.randn(1, source, source, dim) * 0.02
    cells = torch.nn.functional.interpolate(
        table.permute(0, 3, 1, 2), size=(target, target), mode="bicubic", align_corners=False
    )
    return cells.permute(0, 2, 3, 1).reshape(-1, dim).contiguous()


def numpy_swin(side, heads):
    """The random bias of a window as Swin's modules gather it."""
    import numpy

    cells = numpy.stack(numpy.meshgrid(numpy.arange(side), numpy.arange(side), indexing="ij"))
    cells = cells.reshape(2, -1)
    offset = cells[:, :, None] - cells[:, None, :] + side - 1
    index = offset[0] * (2 * side - 1) + offset[1]
    rows = (2 * side - 1) ** 2
    table = numpy.random.default_rng(0).standard_normal((rows, heads), numpy.float32) * 0.02
    return index, numpy.ascontiguousarray(table[index].transpose(2, 0, 1))


def repeated(angles):
    import numpy

    angles = numpy.concatenate([angles, angles], axis=-1)
    return numpy.cos(angles).astype(numpy.float32), numpy.sin(angles).astype(numpy.float32)


def numpy_grid(height, width, dim):
    """Cosines and sines of a vision tower: half of the pairs for each axis."""
    import numpy

    frequencies = 10000.0 ** -(numpy.arange(0, dim // 2, 2) / (dim // 2))
    rows, columns = numpy.meshgrid(numpy.arange(height), numpy.arange(width), indexing="ij")
    grid = numpy.stack([rows.ravel(), columns.ravel()], axis=1)
    return repeated((grid[:, :, None] * frequencies).reshape(len(grid), -1))


def numpy_mrope(text, frames, height, width, dim, section):
    """Cosines and sines of a text, a video and a text as long, chunked sections."""
    import numpy

    before = numpy.tile(numpy.arange(text), (3, 1))
    video = (
        numpy.stack(
            numpy.meshgrid(
                numpy.arange(frames), numpy.arange(height), numpy.arange(width), indexing="ij"
            )
        ).reshape(3, -1)
        + text
    )
    after = before + video.max() + 1
    ids = numpy.concatenate([before, video, after], axis=1)
    angles = ids[:, :, None] * 10000.0 ** -(numpy.arange(0, dim, 2) / dim)
    parts = numpy.split(angles, numpy.cumsum(section)[:-1], axis=-1)
    return repeated(numpy.concatenate([part[i] for i, part in enumerate(parts)], axis=-1))


# ---- in float32 throughout, as models compute them ----


def numpy_xpos(length, dim):
    """Cosines and sines of queries and keys, and the scale."""
    import numpy

    positions = numpy.arange(length, dtype=numpy.float32)[:, None]
    pairs = numpy.arange(0, dim, 2, dtype=numpy.float32) / dim
    angles = positions * 10000.0**-pairs
    scale = ((pairs + 0.4) / 1.4) ** (positions / 512)
    cosines, sines, inverse = numpy.cos(angles), numpy.sin(angles), 1 / scale
    return cosines * scale, sines * scale, cosines * inverse, sines * inverse, scale


def numpy_fire(length, heads, hidden=32):
    import numpy

    draw = numpy.random.default_rng(0)
    w1, b1 = (draw.uniform(-1, 1, hidden).astype(numpy.float32) for _ in range(2))
    w2 = draw.uniform(-0.2, 0.2, (hidden, heads)).astype(numpy.float32)
    positions = numpy.arange(length, dtype=numpy.float32)
    distances = numpy.abs(positions[:, None] - positions[None, :])
    below = numpy.log(0.1 * numpy.maximum(positions, 512) + 1) + 1e-6
    u = (numpy.log(0.1 * distances + 1) / below[:, None]).astype(numpy.float32)
    units = numpy.maximum(u[..., None] * w1 + b1, 0)
    return numpy.ascontiguousarray((units @ w2).transpose(2, 0, 1))


def torch_fire(length, heads, hidden=32):
    import torch

    w1, b1, w2 = torch.rand(hidden, 1), torch.rand(hidden), torch.rand(heads, hidden)
    positions = torch.arange(length, dtype=torch.float32)
    distances = (positions[:, None] - positions[None, :]).abs()
    below = torch.log(0.1 * positions.clamp(min=512) + 1) + 1e-6
    u = torch.log(0.1 * distances + 1) / below[:, None]
    units = torch.nn.functional.linear(u[..., None], w1, b1).relu_()
    return torch.nn.functional.linear(units, w2).permute(2, 0, 1).contiguous()


def torch_swin_v2(side, heads, hidden=512):
    import torch

    w1 = torch.empty(hidden, 2)
    w2 = torch.empty(heads, hidden)
    for weights in (w1, w2):
        torch.nn.init.trunc_normal_(weights, std=0.02)
    steps = torch.arange(1 - side, side, dtype=torch.float32) * 8 / (side - 1)
    steps = steps.sign() * torch.log2(steps.abs() + 1) / 3
    table = torch.stack(torch.meshgrid(steps, steps, indexing="ij"), dim=-1)
    biases = torch.nn.functional.linear(table, w1, torch.zeros(hidden)).relu()
    biases = 16 * torch.sigmoid(torch.nn.functional.linear(biases, w2)).view(-1, heads)
    cells = torch.stack(torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij"))
    cells = cells.flatten(1)
    offset = cells[:, :, None] - cells[:, None, :] + side - 1
    index = offset[0] * (2 * side - 1) + offset[1]
    return index, table, biases[index].permute(2, 0, 1).contiguous()


def numpy_random_fourier(side, features):
    import numpy

    matrix = numpy.random.default_rng(0).standard_normal((2, features), numpy.float32)
    steps = (2 * (numpy.arange(side, dtype=numpy.float32) + 0.5) / side - 1).astype(
        numpy.float32
    )
    grid = numpy.stack(numpy.meshgrid(steps, steps, indexing="ij"), axis=-1).reshape(-1, 2)
    angles = numpy.float32(2 * numpy.pi) * (grid @ matrix)
    return numpy.concatenate([numpy.sin(angles), numpy.cos(angles)], axis=-1)


def torch_learned(length, dim):
    import torch

    return torch.nn.init.normal_(torch.empty(length, dim), std=0.02)


def torch_hierarchical(length, dim, basis=512, alpha=0.4):
    import torch

    table = torch.nn.init.normal_(torch.empty(basis, dim), std=0.02)
    table = (table - alpha * table[:1]) / (1 - alpha)
    rows = torch.arange(length)
    return alpha * table[rows // basis] + (1 - alpha) * table[rows % basis]
