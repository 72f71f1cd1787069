// What programs of proofs have in common: data that the test changes.
#pragma once

#include <numeric>
#include <vector>

#include "vgpu/litmus/litmus.hpp"

namespace warpcheck::litmus {

// Another number gives other data of the same size.
inline unsigned& data_number() {
  static unsigned number = 0;
  return number;
}

// `count` numbers of the data, 0 to 31, on the device.
template <typename T = int>
T* data(std::size_t count) {
  std::vector<T> host(count);
  unsigned state = 12345 + 977 * data_number();
  for (T& value : host) {
    state = state * 1664525 + 1013904223;
    value = static_cast<T>(state >> 27);
  }
  T* const device = unwritten<T>(count);
  cudaMemcpy(device, host.data(), count * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}

}  // namespace warpcheck::litmus
