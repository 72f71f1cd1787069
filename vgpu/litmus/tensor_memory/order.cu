// Operations on tensor memory are asynchronous: what orders them (PTX ISA 9.7.16.6).  The clean twin
// of the products is tensor_product in operands.cu, that of the stores tensor_memory_of_each_warp
// in allocation.cu.
#include "vgpu/litmus/litmus.hpp"
#include "vgpu/litmus/tensor_memory/tensor_ptx.hpp"

using warpcheck::litmus::zeroed;

// A store is complete after tcgen05.wait::st.
// expect: data-race tensor
__global__ void tensor_store_not_waited_for(int* out) {
  TENSOR_KERNEL;
  if (t < 32) ALLOCATE(&place, 32);
  MEET();
  const std::uint32_t base = place;
  STORE_TENSOR(base + lanes, t);         //~ write
  int value;
  LOAD_TENSOR(value, base + lanes);      //~ read
  WAIT_LOADS();
  WAIT_STORES();
  out[t] = value;
  MEET();
  if (t < 32) DEALLOCATE(base, 32);
}
LITMUS(tensor_store_not_waited_for) { tensor_store_not_waited_for<<<1, 64>>>(zeroed<int>(64)); }

// A load whose registers are there may still be overtaken by a store, without tcgen05.wait::ld.
// expect: data-race tensor
__global__ void tensor_load_not_waited_for(int* out) {
  TENSOR_KERNEL;
  if (t < 32) ALLOCATE(&place, 32);
  MEET();
  const std::uint32_t base = place;
  STORE_TENSOR(base + lanes, t);
  WAIT_STORES();
  int value;
  LOAD_TENSOR(value, base + lanes);      //~ read
  STORE_TENSOR(base + lanes, value + 1); //~ write
  WAIT_STORES();
  WAIT_LOADS();
  out[t] = value;
  MEET();
  if (t < 32) DEALLOCATE(base, 32);
}
LITMUS(tensor_load_not_waited_for) { tensor_load_not_waited_for<<<1, 64>>>(zeroed<int>(64)); }

// The accumulator is read before the product is complete: nothing commits it.
// expect: data-race tensor
__global__ void tensor_product_not_committed(int* out) {
  PRODUCT_KERNEL;
  FILL();
  if (t < 32) ALLOCATE(&place, 32);
  MEET();
  const std::uint32_t base = place;
  if (t == 0) MULTIPLY(base, a, b);      //~ write
  MEET();
  int value;
  LOAD_TENSOR(value, base + lanes);      //~ read
  WAIT_LOADS();
  if (t == 0) COMMIT(&ended);
  WAIT(".shared::cta", &ended, 0);
  FENCE_AFTER();
  out[t] = value;
  MEET();
  if (t < 32) DEALLOCATE(base, 32);
}
LITMUS(tensor_product_not_committed) {
  tensor_product_not_committed<<<1, 128>>>(zeroed<int>(128));
}

// It is committed, and nobody waits for the mbarrier before the loads.
// expect: data-race tensor
__global__ void tensor_product_not_waited_for(int* out) {
  PRODUCT_KERNEL;
  FILL();
  if (t < 32) ALLOCATE(&place, 32);
  MEET();
  const std::uint32_t base = place;
  if (t == 0) {
    MULTIPLY(base, a, b);                //~ write
    COMMIT(&ended);
  }
  MEET();
  int value;
  LOAD_TENSOR(value, base + lanes);      //~ read
  WAIT_LOADS();
  WAIT(".shared::cta", &ended, 0);
  FENCE_AFTER();
  out[t] = value;
  MEET();
  if (t < 32) DEALLOCATE(base, 32);
}
LITMUS(tensor_product_not_waited_for) {
  tensor_product_not_waited_for<<<1, 128>>>(zeroed<int>(128));
}

// A load is asynchronous too: without a fence it need not come after the wait.
// expect: data-race tensor
__global__ void tensor_load_without_fence(int* out) {
  PRODUCT_KERNEL;
  FILL();
  if (t < 32) ALLOCATE(&place, 32);
  MEET();
  const std::uint32_t base = place;
  if (t == 0) {
    MULTIPLY(base, a, b);                //~ write
    COMMIT(&ended);
  }
  WAIT(".shared::cta", &ended, 0);
  int value;
  LOAD_TENSOR(value, base + lanes);      //~ read
  WAIT_LOADS();
  FENCE_AFTER();
  out[t] = value;
  MEET();
  if (t < 32) DEALLOCATE(base, 32);
}
LITMUS(tensor_load_without_fence) { tensor_load_without_fence<<<1, 128>>>(zeroed<int>(128)); }

// A kernel without any tcgen05.fence synchronises by release and acquire.
// expect: clean
__global__ void tensor_load_where_no_fences_are(int* out) {
  PRODUCT_KERNEL;
  FILL();
  if (t < 32) ALLOCATE(&place, 32);
  __syncthreads();
  const std::uint32_t base = place;
  if (t == 0) {
    MULTIPLY(base, a, b);
    COMMIT(&ended);
  }
  WAIT(".shared::cta", &ended, 0);
  int value;
  LOAD_TENSOR(value, base + lanes);
  WAIT_LOADS();
  out[t] = value;
  __syncthreads();
  if (t < 32) DEALLOCATE(base, 32);
}
LITMUS(tensor_load_where_no_fences_are) {
  tensor_load_where_no_fences_are<<<1, 128>>>(zeroed<int>(128));
}

// Products with one accumulator and one shape are executed in their order.
// expect: clean
__global__ void tensor_products_in_order(int* out) {
  PRODUCT_KERNEL;
  FILL();
  if (t < 32) ALLOCATE(&place, 32);
  MEET();
  const std::uint32_t base = place;
  if (t == 0) {
    for (int k = 0; k < 4; ++k) MULTIPLY(base, a, b);
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
LITMUS(tensor_products_in_order) { tensor_products_in_order<<<1, 128>>>(zeroed<int>(128)); }

// Of two accumulators that overlap, either product may come first.
// expect: data-race tensor
__global__ void tensor_accumulators_overlap(int* out) {
  PRODUCT_KERNEL;
  FILL();
  if (t < 32) ALLOCATE(&place, 32);
  MEET();
  const std::uint32_t base = place;
  if (t == 0) {
    MULTIPLY(base, a, b);                //~ write
    MULTIPLY(base + 4, a, b);            //~ write
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
LITMUS(tensor_accumulators_overlap) {
  tensor_accumulators_overlap<<<1, 128>>>(zeroed<int>(128));
}

// What other warps have stored is handed to a product: wait, fence, barrier, fence.
// expect: clean
__global__ void tensor_accumulator_of_stores(int* out) {
  PRODUCT_KERNEL;
  FILL();
  if (t < 32) ALLOCATE(&place, 32);
  MEET();
  const std::uint32_t base = place;
  STORE_TENSOR(base + lanes, t);
  WAIT_STORES();
  MEET();
  if (t == 0) {
    MULTIPLY(base, a, b);
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
LITMUS(tensor_accumulator_of_stores) {
  tensor_accumulator_of_stores<<<1, 128>>>(zeroed<int>(128));
}

// The barrier alone does not order the stores: tcgen05.fence::before_thread_sync is missing.
// expect: data-race tensor
__global__ void tensor_stores_without_fence(int* out) {
  PRODUCT_KERNEL;
  FILL();
  if (t < 32) ALLOCATE(&place, 32);
  MEET();
  const std::uint32_t base = place;
  STORE_TENSOR(base + lanes, t);         //~ write
  WAIT_STORES();
  __syncthreads();
  FENCE_AFTER();
  if (t == 0) {
    MULTIPLY(base, a, b);                //~ write
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
LITMUS(tensor_stores_without_fence) {
  tensor_stores_without_fence<<<1, 128>>>(zeroed<int>(128));
}

// The other warps may still load.
// expect: use-after-free tensor
__global__ void tensor_memory_deallocated_too_early(int* out) {
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
  int value;
  LOAD_TENSOR(value, base + lanes);      //~ read
  MEET();
  if (t < 32) DEALLOCATE(base, 32);      //~ deallocate
  WAIT_LOADS();
  out[t] = value;
}
LITMUS(tensor_memory_deallocated_too_early) {
  tensor_memory_deallocated_too_early<<<1, 128>>>(zeroed<int>(128));
}
