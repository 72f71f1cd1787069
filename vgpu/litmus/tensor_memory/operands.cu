// Products in tensor memory read their operands in shared memory by the asynchronous proxy, until
// they are complete: a tcgen05.commit and its mbarrier tell that (PTX ISA 9.7.16.6).
#include "vgpu/litmus/litmus.hpp"
#include "vgpu/litmus/tensor_memory/tensor_ptx.hpp"

using warpcheck::litmus::zeroed;

// expect: clean
__global__ void tensor_product(int* out) {
  PRODUCT_KERNEL;
  FILL();
  if (t < 32) ALLOCATE(&place, 32);
  MEET();
  const std::uint32_t base = place;
  if (t == 0) {
    MULTIPLY(base, a, b);
    COMMIT(&ended);
  }
  WAIT(".shared::cta", &ended, 0);
  FENCE_AFTER();
  a[t] = 1;
  int value;
  LOAD_TENSOR(value, base + lanes);
  WAIT_LOADS();
  out[t] = value;
  MEET();
  if (t < 32) DEALLOCATE(base, 32);
}
LITMUS(tensor_product) { tensor_product<<<1, 128>>>(zeroed<int>(128)); }

// What threads have written need not reach the product.
// expect: data-race shared
__global__ void tensor_product_without_proxy_fence(int* out) {
  PRODUCT_KERNEL;
  FILL();
  if (t < 32) ALLOCATE(&place, 32);
  if (t < 64) b[t] = 2;  //~ write
  MEET();
  const std::uint32_t base = place;
  if (t == 0) {
    MULTIPLY(base, a, b);  //~ read
    COMMIT(&ended);
  }
  WAIT(".shared::cta", &ended, 0);
  FENCE_AFTER();
  int value;
  LOAD_TENSOR(value, base + lanes);
  WAIT_LOADS();
  out[t] = value;
  MEET();
  if (t < 32) DEALLOCATE(base, 32);
}
LITMUS(tensor_product_without_proxy_fence) {
  tensor_product_without_proxy_fence<<<1, 128>>>(zeroed<int>(128));
}

// The product may still read a.
// expect: data-race shared
__global__ void tensor_operand_overwritten(int* out) {
  PRODUCT_KERNEL;
  FILL();
  if (t < 32) ALLOCATE(&place, 32);
  MEET();
  const std::uint32_t base = place;
  if (t == 0) {
    MULTIPLY(base, a, b);  //~ read
    COMMIT(&ended);
  }
  __syncthreads();
  a[t] = 1;  //~ write
  WAIT(".shared::cta", &ended, 0);
  FENCE_AFTER();
  int value;
  LOAD_TENSOR(value, base + lanes);
  WAIT_LOADS();
  out[t] = value;
  MEET();
  if (t < 32) DEALLOCATE(base, 32);
}
LITMUS(tensor_operand_overwritten) { tensor_operand_overwritten<<<1, 128>>>(zeroed<int>(128)); }
