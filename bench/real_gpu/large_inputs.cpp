// Large inputs of each family on a real GPU, each result compared with its reference:
//
//   histogram   100 MiB of bytes, by global and by shared atomics
//   scan        2^28 ints, by as many levels as it takes
//   reduce      2^28 ints (sum, maximum, minimum) and floats (sum within its bound)
//
//   large_inputs [--engine gpu|vgpu] [--bytes N] [--elements N] [--runtime FILE]
//
// With --engine vgpu and smaller inputs, a test runs it without a GPU.  Status: 0 all agree, 1 one
// does not, 2 it cannot be run.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/pair/device.hpp"
#include "kernels/histogram.hpp"
#include "kernels/reduce.hpp"
#include "kernels/scan_multi_level.hpp"
#include "reference/histogram.hpp"
#include "reference/reduce.hpp"
#include "reference/scan.hpp"
#include "vgpu/cudart/real/real_runtime.hpp"
#include "vgpu/schedule/prng.hpp"

namespace warpcheck {
namespace {

struct Sizes {
  std::size_t bytes = std::size_t{100} << 20;
  std::size_t elements = std::size_t{1} << 28;
};

// Pseudo-random numbers, always the same.
template <class T>
std::vector<T> numbers(std::size_t n) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    if constexpr (std::is_same_v<T, float>) {
      values[i] = static_cast<float>(static_cast<std::int32_t>(vgpu::Prng::at(i))) * 0x1p-20F;
    } else {
      values[i] = static_cast<T>(vgpu::Prng::at(i));
    }
  }
  return values;
}

class Bench {
 public:
  explicit Bench(Sizes sizes) : sizes_(sizes) {}

  bool run() {
    histograms();
    scan();
    reductions();
    return all_agree_;
  }

 private:
  // Calls launch() twice; the second call, on a warm device, is timed.
  void time(const std::string& name, std::size_t bytes, const std::function<void()>& launch,
            const std::function<bool()>& agrees) {
    launch();
    check(cudaDeviceSynchronize());
    const bool right = agrees();
    const auto start = std::chrono::steady_clock::now();
    launch();
    check(cudaDeviceSynchronize());
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    fmt::print("| {} | {:.3f} | {:.0f} | {} |\n", name, taken.count() * 1e3,
               static_cast<double>(bytes) / taken.count() / 1e9, right ? "agrees" : "DIFFERS");
    std::fflush(stdout);
    all_agree_ = all_agree_ && right;
  }

  void histograms() {
    const auto in = numbers<std::uint8_t>(sizes_.bytes);
    const auto expected = reference::histogram(in, 0);
    const auto bytes = device_.upload(in);
    const int n = static_cast<int>(in.size());
    const auto one = [&](const std::string& name, auto histogram, dim3 grid) {
      auto counts = device_.array<std::uint32_t>(kHistogramBins);
      time(
          name, in.size(),
          [&] {
            counts.fill_bytes(0);
            check(histogram(bytes.data(), counts.data(), n, grid, dim3(256)));
          },
          [&] { return counts.download() == expected; });
    };
    one("histogram_global", histogram_global, dim3(2'112));
    one("histogram_shared", histogram_shared, dim3(2'112));
  }

  void scan() {
    const auto in = numbers<int>(sizes_.elements);
    const auto expected = reference::inclusive_scan(in);
    const int n = static_cast<int>(in.size());
    const dim3 block(1024);
    const auto values = device_.upload(in);
    auto out = device_.array<int>(in.size());
    auto scratch = device_.array<int>(scan_multi_level_scratch(n, block));
    time(
        "scan_multi_level", 2 * in.size() * sizeof(int),
        [&] { check(scan_multi_level(values.data(), out.data(), scratch.data(), n, block)); },
        [&] { return out.download() == expected; });
  }

  template <class T, class Reduce>
  void reduce(const std::string& name, const std::vector<T>& in, Reduce launch,
              const std::function<bool(T)>& agrees) {
    const int n = static_cast<int>(in.size());
    const dim3 block(256);
    const auto values = device_.upload(in);
    auto out = device_.array<T>(1);
    auto scratch = device_.array<T>(reduce_scratch(n, block));
    time(
        name, in.size() * sizeof(T),
        [&] { check(launch(values.data(), out.data(), scratch.data(), n, block)); },
        [&] { return agrees(out.download()[0]); });
  }

  void reductions() {
    using Ints = cudaError_t (*)(const int*, int*, int*, int, dim3);
    using Floats = cudaError_t (*)(const float*, float*, float*, int, dim3);
    {
      const auto in = numbers<int>(sizes_.elements);
      const auto equals = [](int wanted) { return [wanted](int out) { return out == wanted; }; };
      reduce<int>("reduce_sum", in, Ints{reduce_sum}, equals(reference::sum(in)));
      reduce<int>("reduce_max", in, Ints{reduce_max}, equals(reference::maximum(in)));
      reduce<int>("reduce_min", in, Ints{reduce_min}, equals(reference::minimum(in)));
    }
    const auto in = numbers<float>(sizes_.elements);
    // No element takes part in more additions than this: eight in a block and one before it, in
    // each of four passes.  (Higham 4.2 with the depth of the tree for n.)
    constexpr double kRoundings = 36, kUnit = 0x1p-24;
    double magnitude = 0;
    for (const float x : in) magnitude += std::fabs(static_cast<double>(x));
    const double wanted = reference::sum(in);
    const double bound = (kRoundings * kUnit / (1 - kRoundings * kUnit) + kUnit) * magnitude;
    reduce<float>("reduce_sum_float", in, Floats{reduce_sum},
                  [&](float out) { return std::fabs(out - wanted) <= bound; });
  }

  Sizes sizes_;
  Device device_;
  bool all_agree_ = true;
};

int run(const std::string& engine, const std::string& runtime, Sizes sizes) {
  if (engine == "gpu") {
    const cudart::RealDevice device = cudart::use_real_runtime(runtime);
    fmt::print("engine: {}\n\n", device.name);
  } else {
    fmt::print("engine: virtual GPU\n\n");
  }
  fmt::print("| {} bytes, {} elements | ms | GB/s | with its reference |\n|---|---|---|---|\n",
             sizes.bytes, sizes.elements);
  return Bench(sizes).run() ? 0 : 1;
}

}  // namespace
}  // namespace warpcheck

int main(int argc, char** argv) {
  CLI::App app{"The families' large inputs, on a real GPU", "large_inputs"};
  std::string engine = "gpu", runtime;
  warpcheck::Sizes sizes;
  app.add_option("--engine", engine)->check(CLI::IsMember({"gpu", "vgpu"}))->capture_default_str();
  app.add_option("--bytes", sizes.bytes)->capture_default_str();
  app.add_option("--elements", sizes.elements)->capture_default_str();
  app.add_option("--runtime", runtime, "The CUDA runtime library (default: libcudart.so.13)");
  CLI11_PARSE(app, argc, argv);
  try {
    return warpcheck::run(engine, runtime, sizes);
  } catch (const std::exception& error) {
    fmt::print(stderr, "large_inputs: {}\n", error.what());
    return 2;
  }
}
