// The parts of an exported program that are the same in every one.
#include <stdexcept>

#include "harness/export/export.hpp"

namespace warpcheck {

std::string_view program_helpers() {
  return R"cuda(
#include <cuda_runtime.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <type_traits>

namespace exported {

constexpr unsigned kSecondsPerRun = 60;

static const char* failed_call = nullptr;  // the first of a run
static cudaError_t failure = cudaSuccess;
static bool fill_fresh_memory = false;

static void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess || failed_call != nullptr) return;
  failed_call = call;
  failure = error;
}

// Memory that was used before would show what is never written as if it were right.
[[maybe_unused]] static char* allocate(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "cudaMalloc");
  if (fill_fresh_memory && memory != nullptr) check(cudaMemset(memory, 0xa5, bytes), "cudaMemset");
  return static_cast<char*>(memory);
}

template <class Symbol>
char* address_of(const Symbol& symbol) {
  void* memory = nullptr;
  check(cudaGetSymbolAddress(&memory, symbol), "cudaGetSymbolAddress");
  return static_cast<char*>(memory);
}

[[maybe_unused]] static void release(char* memory) { check(cudaFree(memory), "cudaFree"); }

[[maybe_unused]] static void upload(char* target, const void* bytes, std::size_t size) {
  check(cudaMemcpy(target, bytes, size, cudaMemcpyHostToDevice), "cudaMemcpy");
}

[[maybe_unused]] static void download(void* target, const char* source, std::size_t size) {
  check(cudaMemcpy(target, source, size, cudaMemcpyDeviceToHost), "cudaMemcpy");
}

[[maybe_unused]] static void move(char* target, const char* source, std::size_t size) {
  check(cudaMemcpy(target, source, size, cudaMemcpyDeviceToDevice), "cudaMemcpy");
}

[[maybe_unused]] static void fill(char* target, int value, std::size_t size) {
  check(cudaMemset(target, value, size), "cudaMemset");
}

// Shared memory beyond 48 KiB has to be asked for.
template <class Function>
void allow_shared_memory(Function* kernel, int bytes) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
        "cudaFuncSetAttribute");
}

struct Pointer {
  std::size_t at;
  const char* address;
};

// A value of any type, from its bytes and the pointers among them.
template <class T>
T from_bytes(std::initializer_list<unsigned char> bytes,
             std::initializer_list<Pointer> pointers = {}) {
  alignas(T) unsigned char storage[sizeof(T)];
  std::memcpy(storage, bytes.begin(), sizeof(T));
  if constexpr (sizeof(T) >= sizeof(char*)) {
    for (const Pointer& pointer : pointers) {
      std::memcpy(storage + pointer.at, &pointer.address, sizeof pointer.address);
    }
  }
  return *reinterpret_cast<T*>(storage);
}

[[maybe_unused]] static void print(double value) { std::printf("%.17g", value); }
[[maybe_unused]] static void print(float value) { std::printf("%.9g", value); }
template <class Integer>
void print(Integer value) {
  if constexpr (std::is_signed_v<Integer>) {
    std::printf("%lld", static_cast<long long>(value));
  } else {
    std::printf("%llu", static_cast<unsigned long long>(value));
  }
}
)cuda";
}

std::string_view program_comparison(Comparison comparison) {
  switch (comparison) {
    case Comparison::custom: break;
    case Comparison::equal_values:
      return R"cuda(
// The same value; every NaN is like every other.
template <class Out, class Reference>
bool agrees(Out out, Reference reference, double) {
  return out == reference || (out != out && reference != reference);
}
)cuda";
    case Comparison::same_bits:
      return R"cuda(
// The same bits.
template <class Out, class Reference>
bool agrees(Out out, Reference reference, double) {
  static_assert(sizeof out == sizeof reference);
  return std::memcmp(&out, &reference, sizeof out) == 0;
}
)cuda";
    case Comparison::within_bounds:
      return R"cuda(
// At most `bound` away; what is not finite must be the same.  An infinite bound accepts everything.
template <class Out, class Reference>
bool agrees(Out out, Reference reference, double bound) {
  if (std::isinf(bound)) return true;
  if (std::isnan(reference)) return std::isnan(out);
  if (std::isinf(reference)) return out == reference;
  return std::isfinite(out) && std::fabs(double(out) - double(reference)) <= bound;
}
)cuda";
    case Comparison::within_ulps:
      return R"cuda(
// At most `ulps` representable numbers away; what is not finite must be the same.
static std::int64_t rank(float value) {
  std::int32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits < 0 ? std::int64_t{INT32_MIN} - bits : bits;
}
static std::int64_t rank(double value) {
  std::int64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits < 0 ? INT64_MIN - bits : bits;
}
template <class Out, class Reference>
bool agrees(Out out, Reference reference, double ulps) {
  if (out == reference || (out != out && reference != reference)) return true;
  if (!std::isfinite(out) || !std::isfinite(reference)) return false;
  const std::int64_t a = rank(out), b = rank(static_cast<Out>(reference));
  const std::uint64_t distance = a > b ? std::uint64_t(a) - std::uint64_t(b)
                                       : std::uint64_t(b) - std::uint64_t(a);
  return double(distance) <= ulps;
}
)cuda";
    case Comparison::same_elements:
      return R"cuda(
// The same value, when both are sorted; every NaN is like every other, and comes last.
template <class Out, class Reference>
bool agrees(Out out, Reference reference, double) {
  return out == reference || (out != out && reference != reference);
}

template <class T>
void sort(void* elements, std::size_t count) {
  T* const begin = static_cast<T*>(elements);
  std::sort(begin, begin + count, [](T a, T b) { return a < b || (a == a && b != b); });
}
)cuda";
  }
  throw std::logic_error("program_comparison: a rule that is code of the pair");
}

std::string_view program_main() {
  return R"cuda(
static long run_under_way = 0;

static void on_alarm(int) {
  char text[96];
  const int size = std::snprintf(text, sizeof text, "run %ld has not ended within %u s\n",
                                 run_under_way, exported::kSecondsPerRun);
  if (write(1, text, std::size_t(size)) < 0) _exit(2);
  _exit(1);
}

int main(int argc, char** argv) {
  const long runs = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 1000;
  if (argc > 2 || runs < 1) {
    std::fprintf(stderr, "usage: %s [RUNS]\n", argv[0]);
    return 2;
  }
  cudaDeviceProp device;
  if (const cudaError_t error = cudaGetDeviceProperties(&device, 0)) {
    std::fprintf(stderr, "no CUDA device: %s\n", cudaGetErrorString(error));
    return 2;
  }
  std::printf("%s on %s\n", kTitle, device.name);
  exported::fill_fresh_memory = runs > 1;  // one run is for initcheck, which a fill would satisfy
  std::signal(SIGALRM, on_alarm);

  constexpr int kResultsMax = 100;
  std::uint64_t results[kResultsMax];
  int different = 0;
  long wrong = 0;
  for (run_under_way = 1; run_under_way <= runs; ++run_under_way) {
    alarm(exported::kSecondsPerRun);
    run_once();
    exported::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    if (exported::failed_call != nullptr) {
      std::printf("run %ld of %ld: %s failed: %s (%s)\n", run_under_way, runs,
                  exported::failed_call, cudaGetErrorName(exported::failure),
                  cudaGetErrorString(exported::failure));
      return 1;
    }
    const std::uint64_t result = hash_of_results();
    int known = 0;
    while (known < different && results[known] != result) ++known;
    if (known == different && different < kResultsMax) results[different++] = result;
    if (is_wrong(wrong == 0)) ++wrong;
  }
  std::printf("%ld runs: ", runs);
  if (kCompared) {
    std::printf("%ld wrong, ", wrong);
  } else {
    std::printf("not compared with the reference, ");
  }
  std::printf("%s%d different result%s\n", different == kResultsMax ? "at least " : "", different,
              different == 1 ? "" : "s");
  return wrong > 0 || (different > 1 && !kRunsMayDiffer) ? 1 : 0;
}
)cuda";
}

}  // namespace warpcheck
