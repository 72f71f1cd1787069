# PyTorch: functions that torch.compile() makes Triton kernels of.
# needs: torch triton
# exec: --device sm_90
# expect: uninitialized-read; 
import sys

import torch

MUTANT = "mutant" in sys.argv


@torch.compile
def activate(x, bias):
    return torch.relu(x * 2 + bias) + torch.softmax(x, dim=1)


x, bias = torch.arange(24, dtype=torch.float32).reshape(4, 6) / 7, torch.full((6,), -1.0)
there, bias_there = x.to("cuda"), bias.to("cuda")
if MUTANT:
    bias_there = torch.empty_like(bias_there)
found = activate(there, bias_there).cpu()
assert MUTANT or torch.allclose(found, torch.relu(x * 2 + bias) + torch.softmax(x, dim=1), atol=1e-5)
print("right")
