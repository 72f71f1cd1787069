// How often a GPU shows that a mutant of the fast kernels is wrong.
//
//   mutants_on_gpu INDEX [RUNS [WORDS]]
//
// Prints the kernel, the missing synchronisation and the number of runs with another output than
// the unchanged kernel, or the run in which an access failed or that took more than kSecondsMax.
// Each mutant needs a process of its own: a GPU context survives neither.
#include <chrono>

#include "bench/gpu/timing.cuh"
#include "kernels/specimens/fast_mutants/mutants.hpp"

using bench::check;

namespace {

__global__ void count_wrong_kernel(const std::uint32_t* out, const std::uint32_t* expected,
                                   std::uint64_t n, unsigned run, unsigned* last, unsigned* wrong) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    // The first thread of a run that sees a difference counts it.
    if (out[i] != expected[i] && atomicExch(last, run) != run) atomicAdd(wrong, 1U);
  }
}

constexpr double kSecondsMax = 5;

// Why the work so far has not ended, or its error; null: it has ended without an error.
const char* failure_of_run() {
  const auto begin = std::chrono::steady_clock::now();
  while (true) {
    const cudaError_t error = cudaStreamQuery(nullptr);
    if (error == cudaSuccess) return nullptr;
    if (error != cudaErrorNotReady) return cudaGetErrorString(error);
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
    if (waited.count() > kSecondsMax) return "no end";
  }
}

}  // namespace

int main(int count, char** words) {
  const auto number = [&](int at, unsigned long otherwise) {
    return count > at ? std::strtoul(words[at], nullptr, 10) : otherwise;
  };
  const std::vector<fast::Mutant> mutants = fast::fast_mutants();
  const std::size_t index = number(1, 0);
  if (index >= mutants.size()) return 2;
  const fast::Mutant& mutant = mutants[index];
  const unsigned runs = static_cast<unsigned>(number(2, 20'000));
  const std::uint64_t n = number(3, std::uint64_t{1} << 18);
  const std::size_t out_bytes = fast::mutant_out_words(n) * sizeof(std::uint32_t);
  std::uint32_t* const in = bench::random_words(n);
  auto* const out = bench::allocate<std::uint32_t>(fast::mutant_out_words(n));
  auto* const expected = bench::allocate<std::uint32_t>(fast::mutant_out_words(n));
  char* const scratch = bench::allocate<char>(fast::mutant_scratch_bytes(n));
  auto* const counts = bench::allocate<unsigned>(2);
  check(cudaMemset(counts, 0, 2 * sizeof(unsigned)));
  check(cudaMemset(expected, 0, out_bytes));
  check(mutant.unchanged(in, expected, n, scratch));
  for (unsigned run = 1; run <= runs; ++run) {
    check(cudaMemsetAsync(out, 0, out_bytes));
    check(mutant.run(in, out, n, scratch));
    count_wrong_kernel<<<256, 256>>>(out, expected, fast::mutant_out_words(n), run, counts,
                                     counts + 1);
    if (const char* const failure = failure_of_run()) {
      std::printf("%s,%s,%s in run %u\n", mutant.kernel, mutant.missing, failure, run);
      std::fflush(stdout);
      std::_Exit(0);  // code that waits for the device would wait for ever
    }
  }
  unsigned result[2];
  check(cudaMemcpy(result, counts, sizeof result, cudaMemcpyDeviceToHost));
  std::printf("%s,%s,%u of %u\n", mutant.kernel, mutant.missing, result[1], runs);
}
