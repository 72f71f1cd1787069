# Numba: kernels with shared and local memory, atomics, device functions, streams, reductions and ufuncs.
# needs: numba
# expect: data-race; no barrier orders (1) and (2)
import math
import sys

import numpy
from numba import cuda, float32, int32, vectorize

MUTANT = "mutant" in sys.argv
THREADS = 64


@cuda.jit(device=True)
def squared_distance(x, y):
    return (x - y) * (x - y)


@cuda.jit
def scaled_distances(factor, x, y, result):
    i = cuda.grid(1)
    if i < x.size:
        result[i] = factor * math.sqrt(squared_distance(x[i], y[i]))


@cuda.jit(lineinfo=True)
def block_sums(values, sums):
    partial = cuda.shared.array(THREADS, int32)
    i = cuda.threadIdx.x
    partial[i] = values[cuda.grid(1)]
    half = THREADS // 2
    while half > 0:
        cuda.syncthreads()
        if i < half:
            partial[i] += partial[i + half]  #~
        half //= 2
    if not MUTANT:
        cuda.syncthreads()
    if i == THREADS - 1:
        sums[cuda.blockIdx.x] = partial[0]  #~


@cuda.jit
def histogram(values, counts):
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(counts, values[i] % counts.size, 1)


@cuda.jit
def transpose(matrix, result):
    tile = cuda.shared.array((16, 17), float32)
    column, row = cuda.grid(2)
    if row < matrix.shape[0] and column < matrix.shape[1]:
        tile[cuda.threadIdx.y, cuda.threadIdx.x] = matrix[row, column]
    cuda.syncthreads()
    row = cuda.blockIdx.x * 16 + cuda.threadIdx.y
    column = cuda.blockIdx.y * 16 + cuda.threadIdx.x
    if row < result.shape[0] and column < result.shape[1]:
        result[row, column] = tile[cuda.threadIdx.x, cuda.threadIdx.y]


@cuda.jit
def medians_of_three(values, result):
    window = cuda.local.array(3, float32)
    i = cuda.grid(1)
    if i + 2 < values.size:
        for j in range(3):
            window[j] = values[i + j]
        for last in range(2, 0, -1):
            for j in range(last):
                if window[j] > window[j + 1]:
                    window[j], window[j + 1] = window[j + 1], window[j]
        result[i] = window[1]


@cuda.jit
def warp_sums(values, sums):
    value = values[cuda.grid(1)]
    for distance in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, distance)
    if cuda.laneid == 0:
        sums[cuda.grid(1) // 32] = value


@cuda.reduce
def largest(a, b):
    return max(a, b)


@vectorize(["float32(float32, float32)"], target="cuda")
def hypotenuse(x, y):
    return math.sqrt(x * x + y * y)


def check(name, found, expected):
    assert numpy.allclose(found, expected), (name, found, expected)


def main():
    numbers = numpy.random.default_rng(1)
    x = numbers.random(1000, dtype=numpy.float32)
    y = numbers.random(1000, dtype=numpy.float32)
    result = numpy.zeros_like(x)
    scaled_distances[8, 128](numpy.float32(2), x, y, result)
    check("distances", result, 2 * abs(x - y))

    keys = numbers.integers(0, 1000, 8 * THREADS, dtype=numpy.int32)
    sums = cuda.device_array(8, dtype=numpy.int32)
    block_sums[8, THREADS](cuda.to_device(keys), sums)
    if not MUTANT:
        check("sums of blocks", sums.copy_to_host(), keys.reshape(8, THREADS).sum(axis=1))

    counts = cuda.to_device(numpy.zeros(16, dtype=numpy.int32))
    stream = cuda.stream()
    histogram[4, 32, stream](cuda.to_device(keys, stream), counts)
    check("counts", counts.copy_to_host(stream=stream), numpy.bincount(keys % 16, minlength=16))

    matrix = numbers.random((50, 33), dtype=numpy.float32)
    transposed = numpy.zeros((33, 50), dtype=numpy.float32)
    transpose[(3, 4), (16, 16)](matrix, transposed)
    check("transposed", transposed, matrix.T)

    medians = numpy.zeros(998, dtype=numpy.float32)
    medians_of_three[8, 128](x, medians)
    check("medians", medians, numpy.median([x[:-2], x[1:-1], x[2:]], axis=0))

    lanes = numpy.zeros(16, dtype=numpy.int32)
    warp_sums[8, THREADS](keys, lanes)
    check("sums of warps", lanes, keys.reshape(16, 32).sum(axis=1))

    check("largest", largest(x), x.max())
    check("hypotenuse", hypotenuse(x, y), numpy.hypot(x, y))
    print("right")


main()
