# Triton: softmax of rows, a row a program.
# needs: torch triton
# expect: out-of-bounds; 
import sys

import torch
import triton
import triton.language as tl

MUTANT = "mutant" in sys.argv


@triton.jit
def softmax(out_pointer, in_pointer, in_stride, out_stride, rows, columns, BLOCK: tl.constexpr,
            BEHIND: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        offsets = tl.arange(0, BLOCK)
        mask = offsets < columns + BEHIND
        values = tl.load(in_pointer + row * in_stride + offsets, mask=mask,  #~
                         other=-float("inf"))
        powers = tl.exp(values - tl.max(values, axis=0))
        shares = powers / tl.sum(powers, axis=0)
        tl.store(out_pointer + row * out_stride + offsets, shares, mask=offsets < columns)


rows, columns = 12, 200
generator = torch.Generator().manual_seed(1)
x = torch.rand(rows, columns, generator=generator)
x_there = x.to("cuda")
out = torch.empty_like(x_there)
softmax[(4,)](out, x_there, x_there.stride(0), out.stride(0), rows, columns, BLOCK=256,
              BEHIND=8 if MUTANT else 0, num_warps=4)
if not MUTANT:
    assert torch.allclose(out.cpu(), torch.softmax(x, axis=1), atol=1e-6)
print("right")
