// The block's dynamic shared memory as an array of T.
#pragma once

// (A template cannot declare `extern __shared__ T name[]` itself: its instances would give one name
// several types.)
template <class T>
__device__ T* dynamic_shared() {
  extern __shared__ __align__(16) unsigned char dynamic_shared_bytes[];
  return reinterpret_cast<T*>(dynamic_shared_bytes);
}
