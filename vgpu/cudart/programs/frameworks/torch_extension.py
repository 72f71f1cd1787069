# PyTorch with an extension of C++ and CUDA, which nvcc builds when it is first imported.
# needs: torch
# expect: out-of-bounds; 
import os
import pathlib
import sys

import torch
from torch.utils.cpp_extension import load

MUTANT = "mutant" in sys.argv
HERE = pathlib.Path(__file__).resolve().parent
os.environ["TORCH_CUDA_ARCH_LIST"] = "9.0+PTX"  # machine code alone does not run
extension = load(name="scaling", sources=[str(HERE / "torch_extension.cu")],
                 extra_cuda_cflags=["-lineinfo"], extra_cflags=["-O1"])
if "build" in sys.argv:
    sys.exit()

n = 1000
x = torch.arange(n, dtype=torch.float32)
scaled = extension.scale(x.to("cuda"), 3.0, n + 8 if MUTANT else n)
assert torch.equal(scaled.cpu(), x * 3)
print("right")
