# Triton: layer normalisation of rows, and sums over rows that programs add up under a lock.
# needs: torch triton
# expect: data-race; 
import sys

import torch
import triton
import triton.language as tl

MUTANT = "mutant" in sys.argv


@triton.jit
def normalize(x_pointer, out_pointer, weight_pointer, bias_pointer, stride, columns, epsilon,
              BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for first in range(0, columns, BLOCK):
        offsets = first + tl.arange(0, BLOCK)
        x = tl.load(x_pointer + row * stride + offsets, mask=offsets < columns, other=0.0)
        total += x
        squares += x * x
    mean = tl.sum(total, axis=0) / columns
    variance = tl.sum(squares, axis=0) / columns - mean * mean
    scale = 1 / tl.sqrt(variance + epsilon)
    for first in range(0, columns, BLOCK):
        offsets = first + tl.arange(0, BLOCK)
        mask = offsets < columns
        x = tl.load(x_pointer + row * stride + offsets, mask=mask, other=0.0)
        weight = tl.load(weight_pointer + offsets, mask=mask)
        bias = tl.load(bias_pointer + offsets, mask=mask)
        tl.store(out_pointer + row * stride + offsets, (x - mean) * scale * weight + bias, mask=mask)


@triton.jit
def add_rows(x_pointer, sum_pointer, lock_pointer, stride, columns, BLOCK: tl.constexpr,
             LOCKED: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_pointer + tl.program_id(0) * stride + offsets, mask=mask, other=0.0)
    if LOCKED:
        while tl.atomic_cas(lock_pointer, 0, 1) == 1:
            pass
    x += tl.load(sum_pointer + offsets, mask=mask)  #~
    tl.store(sum_pointer + offsets, x, mask=mask)  #~
    if LOCKED:
        tl.debug_barrier()
        tl.atomic_xchg(lock_pointer, 0)


rows, columns = 6, 300
generator = torch.Generator().manual_seed(3)
x = torch.rand(rows, columns, generator=generator)
weight, bias = torch.rand(columns, generator=generator), torch.rand(columns, generator=generator)
x_there, weight_there, bias_there = x.to("cuda"), weight.to("cuda"), bias.to("cuda")
out = torch.empty_like(x_there)
normalize[(rows,)](x_there, out, weight_there, bias_there, x_there.stride(0), columns, 1e-5,
                   BLOCK=128, num_warps=4)
total, lock = torch.zeros(columns).to("cuda"), torch.zeros(1, dtype=torch.int32).to("cuda")
add_rows[(rows,)](x_there, total, lock, x_there.stride(0), columns, BLOCK=512, LOCKED=not MUTANT)
if not MUTANT:
    expected = torch.nn.functional.layer_norm(x, (columns,), weight, bias, 1e-5)
    assert torch.allclose(out.cpu(), expected, atol=1e-4)
    assert torch.allclose(total.cpu(), x.sum(axis=0), atol=1e-4)
print("right")
