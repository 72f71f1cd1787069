#include "kernels/fast/histogram_fast.hpp"

#include "kernels/fast/histogram_fast.cuh"

namespace fast {

cudaError_t histogram_bytes(const std::uint8_t* in, std::uint32_t* counts, std::uint64_t n,
                            unsigned blocks, Size size) {
  using Large = HistogramShape<512, 8>;  // the fastest on an H200 (bench/gpu)
  using Small = HistogramShape<64, 1>;
  return size == Size::large ? launch_histogram_bytes<Large>(in, counts, n, blocks)
                             : launch_histogram_bytes<Small>(in, counts, n, blocks);
}

cudaError_t histogram_keys(const std::uint32_t* in, std::uint32_t* counts, std::uint64_t n,
                           unsigned bins, unsigned blocks) {
  return launch_histogram_keys<64, 1>(in, counts, n, bins, blocks);
}

}  // namespace fast
