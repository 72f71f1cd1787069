# Triton: a product of matrices in blocks, by tensor cores, with copies that run ahead.
# needs: torch triton
# expect: out-of-bounds; 
import sys

import torch
import triton
import triton.language as tl

MUTANT = "mutant" in sys.argv


@triton.jit
def multiply(a_pointer, b_pointer, c_pointer, M, N, K, stride_am, stride_ak, stride_bk, stride_bn,
             stride_cm, stride_cn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
             BLOCK_K: tl.constexpr, MASKED: tl.constexpr):
    first_m, first_n = tl.program_id(0) * BLOCK_M, tl.program_id(1) * BLOCK_N
    offsets_m = (first_m + tl.arange(0, BLOCK_M)) % M
    offsets_n = (first_n + tl.arange(0, BLOCK_N)) % N
    offsets_k = tl.arange(0, BLOCK_K)
    a = a_pointer + offsets_m[:, None] * stride_am + offsets_k[None, :] * stride_ak
    b = b_pointer + offsets_k[:, None] * stride_bk + offsets_n[None, :] * stride_bn
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        left = tl.load(a, mask=offsets_k[None, :] < K - k * BLOCK_K, other=0.0)
        right = tl.load(b, mask=offsets_k[:, None] < K - k * BLOCK_K, other=0.0)
        total = tl.dot(left, right, total)
        a += BLOCK_K * stride_ak
        b += BLOCK_K * stride_bk
    rows = first_m + tl.arange(0, BLOCK_M)
    columns = first_n + tl.arange(0, BLOCK_N)
    c = c_pointer + rows[:, None] * stride_cm + columns[None, :] * stride_cn
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    if not MASKED:
        mask = columns[None, :] < N
    tl.store(c, total.to(tl.float16), mask=mask)  #~


M, N, K = 72, 40, 80
generator = torch.Generator().manual_seed(2)
a = torch.rand(M, K, generator=generator).half()
b = torch.rand(K, N, generator=generator).half()
a_there, b_there = a.to("cuda"), b.to("cuda")
c = torch.empty((M, N), device="cuda", dtype=torch.float16)
multiply[(triton.cdiv(M, 32), triton.cdiv(N, 32))](
    a_there, b_there, c, M, N, K, *a_there.stride(), *b_there.stride(), *c.stride(), BLOCK_M=32,
    BLOCK_N=32, BLOCK_K=32, MASKED=not MUTANT, num_stages=3)
if not MUTANT:
    assert torch.allclose(c.cpu().float(), a.float() @ b.float(), rtol=1e-2, atol=1e-2)
print("right")
