#include "kernels/specimens/fast_mutants/mutants.hpp"

#include "kernels/fast/histogram_fast.cuh"
#include "kernels/fast/kahan_matmul_fast.cuh"
#include "kernels/fast/radix_sort_onesweep.cuh"
#include "kernels/fast/reduce_fast.cuh"
#include "kernels/fast/reduce_operations.cuh"
#include "kernels/fast/scan_lookback.cuh"
#include "kernels/fast/scan_operations.cuh"

namespace fast {
namespace {

using MutantScan = ScanShape<64, 4>;
using MutantReduce = ReduceShape<64, 1>;
using MutantHistogram = HistogramShape<64, 1>;
using MutantSort = SortShape<256, 2, 2>;
using MutantMatmul = MatmulShape<32, 32, 8, 8, 4>;

constexpr unsigned kReduceBlocks = 64;
constexpr std::size_t kFinishedWords = 4;

template <ScanOrder missing>
cudaError_t scan(const std::uint32_t* in, std::uint32_t* out, std::uint64_t n, void* scratch) {
  return launch_scan_lookback<int, MutantScan, Add, missing>(
      reinterpret_cast<const int*>(in), reinterpret_cast<int*>(out), n, scratch, Add{});
}

template <ScanOrder missing>
cudaError_t scan_fenced(const std::uint32_t* in, std::uint32_t* out, std::uint64_t n,
                        void* scratch) {
  return launch_scan_lookback<Affine, MutantScan, Compose, missing>(
      reinterpret_cast<const Affine*>(in), reinterpret_cast<Affine*>(out), n / 2, scratch,
      Compose{});
}

template <ReduceOrder missing>
cudaError_t reduce(const std::uint32_t* in, std::uint32_t* out, std::uint64_t n, void* scratch) {
  const cudaError_t error = cudaMemsetAsync(scratch, 0, kFinishedWords * sizeof(std::uint32_t));
  if (error != cudaSuccess) return error;
  return launch_reduce_fast<Sum<int>, int, MutantReduce, missing>(
      reinterpret_cast<const int*>(in), reinterpret_cast<int*>(out), n, scratch, kReduceBlocks);
}

template <HistogramOrder missing>
cudaError_t histogram(const std::uint32_t* in, std::uint32_t* out, std::uint64_t n, void*) {
  return launch_histogram_bytes<MutantHistogram, missing>(reinterpret_cast<const std::uint8_t*>(in),
                                                          out, n, kReduceBlocks);
}

template <SortOrder missing>
cudaError_t sort(const std::uint32_t* in, std::uint32_t* out, std::uint64_t n, void* scratch) {
  return launch_radix_sort_onesweep<std::uint32_t, NoValue, MutantSort, missing>(
      {in, nullptr, out, nullptr}, n, scratch, KeyCode<std::uint32_t>::unsigned_numbers(),
      kReduceBlocks);
}

// Two matrices of as many rows as there are words for.
template <MatmulOrder missing>
cudaError_t matmul(const std::uint32_t* in, std::uint32_t* out, std::uint64_t n, void*) {
  unsigned rows = 0;
  while (2 * std::uint64_t{rows + 1} * (rows + 1) <= n && rows < 96) ++rows;
  const auto* const factors = reinterpret_cast<const float*>(in);
  return launch_kahan_matmul_fast<KahanProducts, MutantMatmul, missing>(
      factors, factors + rows * rows, reinterpret_cast<float*>(out), rows);
}

}  // namespace

#define MUTANT(name, function, Order, order) \
  Mutant { name, #order, function<Order::order>, function<Order::none> }

std::vector<Mutant> fast_mutants() {
  return {
      MUTANT("scan_lookback", scan, ScanOrder, ticket_known),
      MUTANT("scan_lookback", scan, ScanOrder, totals_written),
      MUTANT("scan_lookback", scan, ScanOrder, prefixes_written),
      MUTANT("scan_lookback", scan, ScanOrder, state_written_once),
      MUTANT("scan_lookback", scan, ScanOrder, state_read_once),
      MUTANT("scan_lookback, 8 bytes", scan_fenced, ScanOrder, total_released),
      MUTANT("scan_lookback, 8 bytes", scan_fenced, ScanOrder, prefix_released),
      MUTANT("scan_lookback, 8 bytes", scan_fenced, ScanOrder, value_acquired),
      MUTANT("scan_lookback, 8 bytes", scan_fenced, ScanOrder, state_written_once),
      MUTANT("scan_lookback, 8 bytes", scan_fenced, ScanOrder, state_read_once),
      MUTANT("reduce_fast", reduce, ReduceOrder, results_written),
      MUTANT("reduce_fast", reduce, ReduceOrder, result_released),
      MUTANT("reduce_fast", reduce, ReduceOrder, results_acquired),
      MUTANT("reduce_fast", reduce, ReduceOrder, last_known),
      MUTANT("histogram_fast", histogram, HistogramOrder, counters_cleared),
      MUTANT("histogram_fast", histogram, HistogramOrder, counted),
      MUTANT("radix_sort_onesweep", sort, SortOrder, digits_cleared),
      MUTANT("radix_sort_onesweep", sort, SortOrder, digits_counted),
      MUTANT("radix_sort_onesweep", sort, SortOrder, ticket_known),
      MUTANT("radix_sort_onesweep", sort, SortOrder, warp_cleared),
      MUTANT("radix_sort_onesweep", sort, SortOrder, lanes_set),
      MUTANT("radix_sort_onesweep", sort, SortOrder, lanes_read),
      MUTANT("radix_sort_onesweep", sort, SortOrder, row_counted),
      MUTANT("radix_sort_onesweep", sort, SortOrder, warps_counted),
      MUTANT("radix_sort_onesweep", sort, SortOrder, scan_totals),
      MUTANT("radix_sort_onesweep", sort, SortOrder, starts_written),
      MUTANT("radix_sort_onesweep", sort, SortOrder, keys_placed),
      MUTANT("radix_sort_onesweep", sort, SortOrder, count_written_once),
      MUTANT("radix_sort_onesweep", sort, SortOrder, count_read_once),
      MUTANT("kahan_matmul_fast", matmul, MatmulOrder, tiles_written),
      MUTANT("kahan_matmul_fast", matmul, MatmulOrder, tiles_read),
  };
}

std::size_t mutant_out_words(std::uint64_t n) { return n + kByteValues; }

std::size_t mutant_scratch_bytes(std::uint64_t n) {
  return std::max({scan_lookback_scratch<Affine, MutantScan>(n),
                   reduce_fast_scratch<Sum<int>>(kReduceBlocks),
                   radix_sort_onesweep_scratch<std::uint32_t, NoValue, MutantSort>(n)});
}

}  // namespace fast
