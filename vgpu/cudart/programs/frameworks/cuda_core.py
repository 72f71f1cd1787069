# cuda.core: C++ compiled to PTX, for a real architecture and for link-time optimisation, linked, launched.
# needs: cupy cuda.core
# expect: out-of-bounds; 
import sys

import cupy
import numpy
from cuda.core import (Device, LaunchConfig, Linker, LinkerOptions, Program, ProgramOptions,
                       launch)

MUTANT = "mutant" in sys.argv
COUNT = 1000
cupy.cuda.set_allocator(None)  # memory by the array, so that what lies behind one is nobody's

SCALE = r"""
extern "C" __global__ void scale(float* values, float factor, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count + BEHIND) values[i] *= factor;  //~
}
"""
CALLER = r"""
extern __device__ float twice(float x);
extern "C" __global__ void each(float* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = twice(values[i]);
}
"""
CALLED = "__device__ float twice(float x) { return x + x; }"

device = Device()
device.set_current()
stream = device.create_stream()
arch = f"sm_{device.arch}"
config = LaunchConfig(grid=8, block=128)


def check(name, values, expected):
    stream.sync()
    assert numpy.array_equal(cupy.asnumpy(values), expected), (name, values, expected)


numbers = numpy.arange(COUNT, dtype=numpy.float32)
for target in ("ptx", "cubin"):
    options = ProgramOptions(std="c++17", arch=arch, define_macro=("BEHIND", "3" if MUTANT else "0"))
    kernel = Program(SCALE, "c++", options).compile(target).get_kernel("scale")
    values = cupy.asarray(numbers)
    cupy.cuda.runtime.deviceSynchronize()
    launch(stream, config, kernel, values.data.ptr, numpy.float32(3), numpy.int32(COUNT))
    check(target, values, 3 * numbers)

options = ProgramOptions(std="c++17", arch=arch, link_time_optimization=True,
                         relocatable_device_code=True)
parts = [Program(text, "c++", options).compile("ltoir") for text in (CALLER, CALLED)]
linked = Linker(*parts, options=LinkerOptions(arch=arch, link_time_optimization=True)).link("cubin")
values = cupy.asarray(numbers)
cupy.cuda.runtime.deviceSynchronize()
launch(stream, config, linked.get_kernel("each"), values.data.ptr, numpy.int32(COUNT))
check("linked", values, 2 * numbers)
print("right")
