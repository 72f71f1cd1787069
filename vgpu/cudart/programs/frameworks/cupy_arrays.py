# CuPy: arithmetic, reductions, sorting, and kernels of the program's own that NVRTC compiles.
# needs: cupy
# expect: data-race; no barrier orders (1) and (2)
import sys

import cupy
import numpy

MUTANT = "mutant" in sys.argv
cupy.cuda.set_allocator(None)  # memory by the array, so that what lies behind one is nobody's

REVERSE = r"""
extern "C" __global__ void reverse(const int* source, int* target) {
  __shared__ int copy[64];
  copy[threadIdx.x] = source[threadIdx.x];  //~
#ifndef MUTANT
  __syncthreads();
#endif
  target[threadIdx.x] = copy[63 - threadIdx.x];  //~
}
"""


def check(name, found, expected):
    assert numpy.allclose(cupy.asnumpy(found), expected), (name, found, expected)


def arrays():
    on_host = numpy.arange(1000, dtype=numpy.float32)
    x = cupy.asarray(on_host)
    check("arithmetic", cupy.sqrt(x * 2 + 1), numpy.sqrt(on_host * 2 + 1))
    check("sum", x.sum(), on_host.sum())
    check("maximum", x.max(), 999)
    check("mean of columns", x.reshape(10, 100).mean(axis=0), on_host.reshape(10, 100).mean(axis=0))
    check("indices", x[::-7], on_host[::-7])
    check("selection", x[x > 990], on_host[on_host > 990])
    check("sums so far", cupy.cumsum(x), numpy.cumsum(on_host))
    check("sorted", cupy.sort(x[::-1]), on_host)
    check("transposed", x.reshape(20, 50).T.copy(), on_host.reshape(20, 50).T)


def kernels():
    square_of_difference = cupy.ElementwiseKernel(
        "float32 x, float32 y", "float32 z", "z = (x - y) * (x - y)", "square_of_difference")
    length = cupy.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "length_of")
    x = cupy.arange(8, dtype=cupy.float32)
    check("elementwise", square_of_difference(x, x[::-1].copy()),
          (numpy.arange(8) - numpy.arange(8)[::-1])**2)
    check("reduction", length(x), numpy.sqrt(140))
    reverse = cupy.RawKernel(REVERSE, "reverse", options=("-DMUTANT",) if MUTANT else ())
    source, target = cupy.arange(64, dtype=cupy.int32), cupy.empty(64, dtype=cupy.int32)
    reverse((1,), (64,), (source, target))
    check("raw", target, numpy.arange(64)[::-1])


def libraries():
    a = numpy.arange(24, dtype=numpy.float32).reshape(4, 6)
    check("product", cupy.asarray(a) @ cupy.asarray(a.T), a @ a.T)
    check("spectrum", cupy.fft.rfft(cupy.asarray(a)), numpy.fft.rfft(a))


try:
    kernels()
except AssertionError:
    if not MUTANT:
        raise
if not MUTANT:
    arrays()
    if "libraries" in sys.argv:
        libraries()
print("right")
