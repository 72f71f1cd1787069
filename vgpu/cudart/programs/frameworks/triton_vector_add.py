# Triton: sums of two vectors, a block of elements a program.
# needs: torch triton
# expect: out-of-bounds; 
import sys

import torch
import triton
import triton.language as tl

MUTANT = "mutant" in sys.argv


@triton.jit
def add(x_pointer, y_pointer, sum_pointer, n, BLOCK: tl.constexpr, MASKED: tl.constexpr):
    elements = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    if MASKED:
        mask = elements < n
    else:
        mask = elements < n + BLOCK
    x = tl.load(x_pointer + elements, mask=mask)  #~
    y = tl.load(y_pointer + elements, mask=mask)  #~
    tl.store(sum_pointer + elements, x + y, mask=mask)  #~


n = 1000
x, y = torch.arange(n, dtype=torch.float32), torch.full((n,), 0.5)
x_there, y_there = x.to("cuda"), y.to("cuda")
total = torch.empty_like(x_there)
add[(triton.cdiv(n, 256),)](x_there, y_there, total, n, BLOCK=256, MASKED=not MUTANT)
assert torch.equal(total.cpu(), x + y)
print("right")
