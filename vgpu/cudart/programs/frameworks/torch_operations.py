# PyTorch: what its libraries do without kernels of their own, which they carry as machine code alone:
# copies, products by cuBLAS, streams and events.
# needs: torch
# expect: uninitialized-read; 
import sys

import torch

MUTANT = "mutant" in sys.argv

x = torch.arange(24, dtype=torch.float32).reshape(4, 6) / 7
there = x.to("cuda")
other = there if not MUTANT else torch.empty_like(there)
product = there @ other.t()
assert MUTANT or torch.allclose(product.cpu(), x @ x.t(), atol=1e-5)
print(float(product.cpu()[0, 0]))

stream, done = torch.cuda.Stream(), torch.cuda.Event()
stream.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(stream):
    copy = there.clone()
    done.record()
done.synchronize()
assert torch.equal(copy.cpu(), x)
print("right")
