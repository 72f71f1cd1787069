#include "kernels/fast/scan_lookback.cuh"

#include "kernels/fast/scan_operations.cuh"

namespace fast {
namespace {

// The fastest on an H200 (bench/gpu): 264 tiles later is when the block after next of a processor
// comes to it.
using LargeScan = ScanShape<256, 32, 264>;
using SmallScan = ScanShape<64, 4, 2>;

}  // namespace

std::size_t scan_lookback_scratch(std::uint64_t n) {
  return scan_lookback_scratch<Affine, SmallScan>(n);
}

cudaError_t scan_lookback(const int* in, int* out, std::uint64_t n, void* scratch, Size size) {
  return size == Size::large ? launch_scan_lookback<int, LargeScan>(in, out, n, scratch, Add{})
                             : launch_scan_lookback<int, SmallScan>(in, out, n, scratch, Add{});
}

cudaError_t scan_lookback(const float* in, float* out, std::uint64_t n, void* scratch) {
  return launch_scan_lookback<float, SmallScan>(in, out, n, scratch, Add{});
}

cudaError_t scan_lookback(const Affine* in, Affine* out, std::uint64_t n, void* scratch) {
  return launch_scan_lookback<Affine, SmallScan>(in, out, n, scratch, Compose{});
}

}  // namespace fast
