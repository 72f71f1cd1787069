// Runs one of the measured kernels' OpenCL twins, for timing under Oclgrind or as PoCL's native
// code:
//
//   oclgrind --data-races opencl_host block_scan KERNEL_DIRECTORY [ELEMENTS [LAUNCHES]]
//
// Prints "KERNEL ELEMENTS MILLISECONDS right", where the time is that of the shortest of the
// LAUNCHES (1) alone; exits 1 if the result is wrong, 2 on bad usage or an OpenCL error.
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kGroup = 256;  // work-items of a group, and bins of the histogram

using Ints = std::vector<int>;

// A kernel's result, and how many elements it writes.
struct Twin {
  std::string name;
  std::size_t (*out_size)(std::size_t n);
  Ints (*reference)(const Ints& in);
};

Ints scan_of_groups(const Ints& in) {
  Ints out(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    out[i] = in[i] + (i % kGroup == 0 ? 0 : out[i - 1]);
  }
  return out;
}

Ints histogram(const Ints& in) {
  Ints counts(kGroup);
  for (const int x : in) ++counts[static_cast<std::size_t>(x) % kGroup];
  return counts;
}

Ints sums_of_groups(const Ints& in) {
  Ints sums(in.size() / kGroup);
  for (std::size_t i = 0; i < in.size(); ++i) sums[i / kGroup] += in[i];
  return sums;
}

const Twin kTwins[] = {
    {"block_scan", [](std::size_t n) { return n; }, scan_of_groups},
    {"histogram", [](std::size_t) { return kGroup; }, histogram},
    {"tree_reduction", [](std::size_t n) { return n / kGroup; }, sums_of_groups},
};

const Twin& find_twin(const std::string& name) {
  for (const Twin& twin : kTwins) {
    if (twin.name == name) return twin;
  }
  throw std::invalid_argument("no kernel \"" + name +
                              "\": expected block_scan, histogram or tree_reduction");
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

// Small pseudo-random numbers, always the same (a linear congruential generator).
Ints numbers(std::size_t n) {
  Ints values(n);
  unsigned state = 1;
  for (int& value : values) {
    state = state * 1'664'525U + 1'013'904'223U;
    value = static_cast<int>(state >> 20U);
  }
  return values;
}

bool run(const Twin& twin, const std::filesystem::path& directory, std::size_t n,
         std::size_t launches) {
  const Ints in = numbers(n);
  Ints out(twin.out_size(n));

  const cl::Context context(CL_DEVICE_TYPE_DEFAULT);
  const cl::CommandQueue queue(context);
  cl::Program program(context, read_text(directory / (twin.name + ".cl")), /*build=*/true);
  cl::Kernel kernel(program, ("bench_" + twin.name).c_str());
  const cl::Buffer device_in(context, CL_MEM_READ_ONLY, n * sizeof(int));
  const cl::Buffer device_out(context, CL_MEM_READ_WRITE, out.size() * sizeof(int));
  queue.enqueueWriteBuffer(device_in, CL_TRUE, 0, n * sizeof(int), in.data());
  kernel.setArg(0, device_in);
  kernel.setArg(1, device_out);

  std::chrono::duration<double, std::milli> shortest = std::chrono::hours(1);
  for (std::size_t launch = 0; launch < launches; ++launch) {
    queue.enqueueWriteBuffer(device_out, CL_TRUE, 0, out.size() * sizeof(int), out.data());
    queue.finish();
    const auto begin = std::chrono::steady_clock::now();
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(n), cl::NDRange(kGroup));
    queue.finish();
    shortest = std::min<decltype(shortest)>(shortest, std::chrono::steady_clock::now() - begin);
  }

  queue.enqueueReadBuffer(device_out, CL_TRUE, 0, out.size() * sizeof(int), out.data());
  const bool right = out == twin.reference(in);
  std::cout << twin.name << ' ' << n << ' ' << shortest.count() << ' '
            << (right ? "right" : "wrong") << '\n';
  return right;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3 || argc > 5) {
    throw std::invalid_argument("usage: opencl_host KERNEL KERNEL_DIRECTORY [ELEMENTS [LAUNCHES]]");
  }
  const std::size_t n = argc > 3 ? std::stoul(argv[3]) : 262'144;
  const std::size_t launches = argc > 4 ? std::stoul(argv[4]) : 1;
  if (n == 0 || n % kGroup != 0) {
    throw std::invalid_argument("ELEMENTS: expected a multiple of " + std::to_string(kGroup));
  }
  return run(find_twin(argv[1]), argv[2], n, launches) ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const cl::Error& error) {
  std::cerr << "opencl_host: " << error.what() << " failed with OpenCL error " << error.err()
            << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "opencl_host: " << error.what() << '\n';
  return 2;
}
