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
