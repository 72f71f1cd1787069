// Radix sort, least significant digit first, one read and one write of the data for each digit of
// eight bits: Adinets and Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for
// GPUs", 2022.
//
// One kernel counts all digits of all keys, a second one scans the counts.  Then one kernel for
// each digit: blocks take tiles in order, count the tile's digits, and look back over the tiles
// before them, digit by digit, for how many keys of the same digit come first (scan_lookback.cuh
// has the same for one number a tile).  Keys go through shared memory, sorted, so that they are
// written in runs.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "kernels/fast/tiles.cuh"

namespace fast {

enum class SortOrder {
  none,
  digits_cleared,      // barrier: the counters of all digits are 0, before threads count
  digits_counted,      // barrier: threads have counted, before the counters are read
  ticket_known,        // barrier: the tile's number, before all threads read it
  warp_cleared,        // warp barrier: the warp's counters are 0, before lanes count
  lanes_set,           // warp barrier: lanes have set their bits, before they read those of others
  lanes_read,          // warp barrier: lanes have read a counter, before one writes the next
  row_counted,         // warp barrier: that is written, before lanes set bits for the next row
  warps_counted,       // barrier: counters of all warps, before threads add them up
  scan_totals,         // barrier: totals of the first warps, before threads add them up
  starts_written,      // barrier: where each warp's digits begin, before keys are ranked
  keys_placed,         // barrier: keys and bases, before they are written in order
  count_written_once,  // the strong write of a count and its state in one word
  count_read_once,     // the strong read of both
};

// What a kernel of the three lacks, so that kernels that lack nothing are compiled once.
constexpr SortOrder of_counting(SortOrder missing) {
  const bool is_its = missing == SortOrder::digits_cleared || missing == SortOrder::digits_counted;
  return is_its ? missing : SortOrder::none;
}
constexpr SortOrder of_beginning(SortOrder missing) {
  return missing == SortOrder::scan_totals ? missing : SortOrder::none;
}
constexpr SortOrder of_sweeping(SortOrder missing) {
  return of_counting(missing) == SortOrder::none ? missing : SortOrder::none;
}

constexpr unsigned kDigitBits = 8;
constexpr unsigned kDigits = 1U << kDigitBits;
constexpr std::uint64_t kSortedMax = std::uint64_t{1} << 30;

// No value goes with a key.
struct NoValue {};

// Keys as numbers without a sign, in the same order: what is flipped of keys whose highest bit is
// set, and of the others.  Floats come out in the total order of IEEE 754 (5.10).
template <class Key>
struct KeyCode {
  Key set;
  Key clear;

  static constexpr Key kHighest = Key{1} << (8 * sizeof(Key) - 1);
  static KeyCode unsigned_numbers() { return {0, 0}; }
  static KeyCode signed_numbers() { return {kHighest, kHighest}; }
  static KeyCode floats() { return {static_cast<Key>(~Key{0}), kHighest}; }

  __device__ __forceinline__ Key encode(Key key) const {
    return key ^ ((key & kHighest) != 0 ? set : clear);
  }
  // What was flipped of a key flips its highest bit too, or nothing at all.
  __device__ __forceinline__ Key decode(Key key) const {
    return key ^ ((key & kHighest) != 0 ? clear : set);
  }
};

template <class Key>
__device__ __forceinline__ unsigned digit_of(Key key, unsigned place) {
  return static_cast<unsigned>(key >> place * kDigitBits) % kDigits;
}

// --- counts of all digits ---------------------------------------------------------------------

// counts[place][digit] += how often; `copies` counters of each in shared memory, by lane.
template <class Key, unsigned threads, unsigned copies, SortOrder missing>
__global__ void __launch_bounds__(threads)
    count_digits_kernel(const Key* in, std::uint64_t n, std::uint32_t* counts, KeyCode<Key> code,
                        bool aligned) {
  constexpr unsigned kPlaces = sizeof(Key);
  __shared__ std::uint32_t counters[kPlaces * kDigits * copies];
  for (unsigned i = threadIdx.x; i < kPlaces * kDigits * copies; i += threads) counters[i] = 0;
  block_barrier<missing, SortOrder::digits_cleared>();
  const auto count = [&](Key key) {
    const Key encoded = code.encode(key);
#pragma unroll
    for (unsigned place = 0; place < kPlaces; ++place) {
      atomicAdd(
          &counters[(place * kDigits + digit_of(encoded, place)) * copies + threadIdx.x % copies],
          1U);
    }
  };
  take_all<threads, 4>(in, n, aligned, count);
  block_barrier<missing, SortOrder::digits_counted>();
  for (unsigned i = threadIdx.x; i < kPlaces * kDigits; i += threads) {
    std::uint32_t sum = 0;
    for (unsigned copy = 0; copy < copies; ++copy) {
      sum += counters[i * copies + (threadIdx.x + copy) % copies];
    }
    if (sum != 0) atomicAdd(&counts[i], sum);
  }
}

// What comes before value `threadIdx.x` of the first kDigits threads; all threads of the block call
// it.
template <SortOrder missing>
__device__ __forceinline__ std::uint32_t scan_digits(std::uint32_t value, std::uint32_t* totals) {
  const unsigned warp = threadIdx.x / kWarp;
  const auto sum = [](std::uint32_t a, std::uint32_t b) { return a + b; };
  const std::uint32_t scanned = scan_warp(value, sum);
  if (warp < kDigits / kWarp && threadIdx.x % kWarp == kWarp - 1) totals[warp] = scanned;
  block_barrier<missing, SortOrder::scan_totals>();
  std::uint32_t before = scanned - value;
  for (unsigned i = 0; i < kDigits / kWarp; ++i) {
    if (i < warp) before += totals[i];
  }
  return before;
}

// Makes counts of digits the places at which they begin; a block for each place.
template <SortOrder missing>
__global__ void __launch_bounds__(kDigits) begin_digits_kernel(std::uint32_t* counts) {
  __shared__ std::uint32_t totals[kDigits / kWarp];
  std::uint32_t& count = counts[blockIdx.x * kDigits + threadIdx.x];
  count = scan_digits<missing>(count, totals);
}

// --- one sweep --------------------------------------------------------------------------------

template <unsigned threads, unsigned items, unsigned window, unsigned blocks = 1,
          unsigned ahead = 0>
struct SortShape {
  static constexpr unsigned kThreads = threads;
  static constexpr unsigned kItems = items;    // of each thread
  static constexpr unsigned kWindow = window;  // tiles that a look back asks for at once
  static constexpr unsigned kBlocks = blocks;  // that a multiprocessor is to hold at least
  static constexpr unsigned kAhead =
      ahead;  // so many tiles later is the one that is fetched; 0: none
  static constexpr unsigned kTile = threads * items;
  static constexpr unsigned kWarps = threads / kWarp;
  static_assert(threads % kWarp == 0 && threads >= kDigits);
};

// A warp's counter of one digit.  Read and written at once.
struct alignas(8) DigitCounter {
  std::uint32_t lanes;  // which have a key of it in the row that is ranked
  std::uint32_t
      next;  // where the warp's next key of it goes in the tile; before that, how many it has
};

// counters[digit].next = how many keys of the warp have it.
template <class Shape, SortOrder missing, class Key>
__device__ __forceinline__ void count_in_warp(const Key* keys, unsigned place,
                                              DigitCounter* counters) {
  for (unsigned digit = threadIdx.x % kWarp; digit < kDigits; digit += kWarp) {
    counters[digit] = {0, 0};
  }
  warp_barrier<missing, SortOrder::warp_cleared>();
#pragma unroll
  for (unsigned j = 0; j < Shape::kItems; ++j) {
    atomicAdd(&counters[digit_of(keys[j], place)].next, 1U);
  }
}

// Where a key goes in the tile, for a row of keys.  Lanes find those with the same digit by setting
// their bits in its counter, where a vote for each bit of the digit would take more instructions.
template <SortOrder missing>
__device__ __forceinline__ unsigned rank_in_row(DigitCounter* counter) {
  const unsigned lane = threadIdx.x % kWarp;
  atomicOr(&counter->lanes, 1U << lane);
  warp_barrier<missing, SortOrder::lanes_set>();
  const DigitCounter seen = *counter;
  const unsigned below = seen.lanes & ((1U << lane) - 1);
  warp_barrier<missing, SortOrder::lanes_read>();
  if (below == 0) *counter = {0, seen.next + static_cast<unsigned>(__popc(seen.lanes))};
  warp_barrier<missing, SortOrder::row_counted>();
  return seen.next + static_cast<unsigned>(__popc(below));
}

// A word for each tile and digit: two bits of state, and how many keys have that digit, in the tile
// or in all tiles up to it.  Nobody asks the last tile, so 30 bits are enough for 2^30 keys.
constexpr std::uint32_t kCountBits = 30;
constexpr std::uint32_t kCountMask = (1U << kCountBits) - 1;
constexpr std::uint32_t kOfTile = 1U << kCountBits;
constexpr std::uint32_t kUpToTile = 2U << kCountBits;

// How many keys of the tiles before `tile` have the digit whose words begin at `words`.
template <class Shape, SortOrder missing>
__device__ __forceinline__ std::uint32_t look_back(const std::uint32_t* words, unsigned tile) {
  std::uint32_t sum = 0;
  for (bool done = tile == 0; !done;) {
    std::uint32_t seen[Shape::kWindow];
#pragma unroll
    for (unsigned i = 0; i < Shape::kWindow; ++i) {
      seen[i] = i < tile ? load_relaxed<missing != SortOrder::count_read_once>(
                               words + std::size_t{tile - 1 - i} * kDigits)
                         : kUpToTile;
    }
    unsigned used = 0;
#pragma unroll
    for (unsigned i = 0; i < Shape::kWindow; ++i) {
      if (used == i && !done && seen[i] >= kOfTile) {
        sum += seen[i] & kCountMask;
        done = seen[i] >= kUpToTile;
        ++used;
      }
    }
    tile -= used;
  }
  return sum;
}

// The block's shared memory: counters of its warps, and behind them the sorted keys and values.
template <class Key, class Value, class Shape>
struct SortShared {
  static constexpr std::size_t kValueBytes = std::is_same_v<Value, NoValue> ? 0 : sizeof(Value);
  static constexpr std::size_t kCounterBytes = Shape::kWarps * kDigits * sizeof(DigitCounter);
  static constexpr std::size_t kBytes = kCounterBytes + Shape::kTile * (sizeof(Key) + kValueBytes);
};

struct SortBlock {
  unsigned tile;
  std::uint32_t totals[kDigits / kWarp];
  std::uint32_t bases[kDigits];  // added to a key's place in the tile: its place in the output
};

template <class Key, class Value>
struct SortArrays {
  const Key* keys;
  const Value* values;
  Key* sorted_keys;
  Value* sorted_values;
};

struct DigitInTile {
  std::uint32_t count;  // keys that have it
  std::uint32_t start;  // where they begin, once the tile is sorted
};

// From what each warp counted: where its keys go.  The first kDigits threads have a digit each:
// they publish how many keys have it, at `words`, and return where those begin.
template <class Shape, SortOrder missing>
__device__ __forceinline__ DigitInTile place_digits(DigitCounter* counters, std::uint32_t* totals,
                                                    std::uint32_t* words, unsigned tile) {
  std::uint32_t of_warps[Shape::kWarps];
  DigitInTile digit{0, 0};
  if (threadIdx.x < kDigits) {
#pragma unroll
    for (unsigned warp = 0; warp < Shape::kWarps; ++warp) {
      of_warps[warp] = counters[warp * kDigits + threadIdx.x].next;
      digit.count += of_warps[warp];
    }
    if (tile + 1 < gridDim.x) {
      store_relaxed<missing != SortOrder::count_written_once>(
          words + std::size_t{tile} * kDigits, digit.count | (tile == 0 ? kUpToTile : kOfTile));
    }
  }
  digit.start = scan_digits<missing>(digit.count, totals);
  if (threadIdx.x < kDigits) {
    std::uint32_t before = digit.start;
#pragma unroll
    for (unsigned warp = 0; warp < Shape::kWarps; ++warp) {
      counters[warp * kDigits + threadIdx.x].next = before;
      before += of_warps[warp];
    }
  }
  return digit;
}

// What a block does with its tile; `whole` where no key is missing.
template <class Key, class Value, class Shape, SortOrder missing, bool whole>
__device__ __forceinline__ void sweep_tile(const SortArrays<Key, Value>& arrays, unsigned left,
                                           unsigned tile, unsigned place,
                                           const std::uint32_t* starts, std::uint32_t* words,
                                           KeyCode<Key> in, KeyCode<Key> out, SortBlock& block,
                                           DigitCounter* counters) {
  constexpr bool kHasValues = !std::is_same_v<Value, NoValue>;
  auto* const placed_keys = reinterpret_cast<Key*>(counters + Shape::kWarps * kDigits);
  auto* const placed_values = reinterpret_cast<Value*>(placed_keys + Shape::kTile);
  const unsigned first = threadIdx.x / kWarp * kWarp * Shape::kItems + threadIdx.x % kWarp;
  const std::size_t before_tile = std::size_t{tile} * Shape::kTile;
  DigitCounter* const mine = counters + threadIdx.x / kWarp * kDigits;

  // What is beyond the end comes after all keys, in the last digit, and is not written.
  Key keys[Shape::kItems];
#pragma unroll
  for (unsigned j = 0; j < Shape::kItems; ++j) {
    const unsigned i = first + j * kWarp;
    keys[j] = whole || i < left ? in.encode(__ldcs(arrays.keys + before_tile + i))
                                : static_cast<Key>(~Key{0});
  }
  // All values are on their way before keys are ranked: loads do not pass the barriers in between.
  Value values[kHasValues ? Shape::kItems : 1];
  if constexpr (kHasValues) {
#pragma unroll
    for (unsigned j = 0; j < Shape::kItems; ++j) {
      const unsigned i = first + j * kWarp;
      if (whole || i < left) values[j] = arrays.values[before_tile + i];
    }
  }
  count_in_warp<Shape, missing>(keys, place, mine);
  block_barrier<missing, SortOrder::warps_counted>();
  const DigitInTile digit = place_digits<Shape, missing>(counters, block.totals, words, tile);
  block_barrier<missing, SortOrder::starts_written>();
#pragma unroll
  for (unsigned j = 0; j < Shape::kItems; ++j) {
    const unsigned to = rank_in_row<missing>(&mine[digit_of(keys[j], place)]);
    placed_keys[to] = keys[j];
    if constexpr (kHasValues) {
      if (whole || first + j * kWarp < left) placed_values[to] = values[j];
    }
  }
  if (threadIdx.x < kDigits) {
    const std::uint32_t before = look_back<Shape, missing>(words, tile);
    if (tile != 0 && tile + 1 < gridDim.x) {
      store_relaxed<missing != SortOrder::count_written_once>(words + std::size_t{tile} * kDigits,
                                                              (before + digit.count) | kUpToTile);
    }
    block.bases[threadIdx.x] = starts[threadIdx.x] + before - digit.start;
  }
  block_barrier<missing, SortOrder::keys_placed>();
#pragma unroll
  for (unsigned j = 0; j < Shape::kItems; ++j) {
    const unsigned i = j * Shape::kThreads + threadIdx.x;
    if (whole || i < left) {
      const Key key = placed_keys[i];
      const unsigned to = block.bases[digit_of(key, place)] + i;
      arrays.sorted_keys[to] = out.decode(key);
      if constexpr (kHasValues) arrays.sorted_values[to] = placed_values[i];
    }
  }
}

// `starts` has where each digit begins in the output, `words` what tiles publish; both of this
// place. `in` is how keys are encoded where they are read, `out` how they are decoded where they
// are written.
template <class Key, class Value, class Shape, SortOrder missing>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocks)
    sweep_kernel(SortArrays<Key, Value> arrays, unsigned n, unsigned place,
                 const std::uint32_t* starts, std::uint32_t* words, unsigned* next_tile,
                 KeyCode<Key> in, KeyCode<Key> out) {
  extern __shared__ uint4 sort_shared[];
  __shared__ SortBlock block;
  if (threadIdx.x == 0) block.tile = atomicAdd(next_tile, 1U);
  block_barrier<missing, SortOrder::ticket_known>();
  const unsigned tile = block.tile;
  const unsigned left = n - tile * Shape::kTile;  // keys of this tile and all after it
  auto* const counters = reinterpret_cast<DigitCounter*>(sort_shared);
  words += threadIdx.x;
  if constexpr (Shape::kAhead != 0) {
    fetch_tile<Shape>(arrays.keys, n, tile + Shape::kAhead);
    if constexpr (!std::is_same_v<Value, NoValue>) {
      fetch_tile<Shape>(arrays.values, n, tile + Shape::kAhead);
    }
  }
  if (left >= Shape::kTile) {
    sweep_tile<Key, Value, Shape, missing, true>(arrays, left, tile, place, starts, words, in, out,
                                                 block, counters);
  } else {
    sweep_tile<Key, Value, Shape, missing, false>(arrays, left, tile, place, starts, words, in, out,
                                                  block, counters);
  }
}

// --- all of it --------------------------------------------------------------------------------

template <class Key, class Value, class Shape>
struct SortScratch {
  unsigned tiles;
  explicit SortScratch(std::uint64_t n)
      : tiles(static_cast<unsigned>((n + Shape::kTile - 1) / Shape::kTile)) {}

  static constexpr unsigned kPlaces = sizeof(Key);
  static constexpr std::size_t kTickets = 16;  // one for each place, the longest keys have 8
  std::size_t count_words() const { return std::size_t{kPlaces} * kDigits; }
  std::size_t tile_words() const { return std::size_t{tiles} * kDigits; }
  // Tickets, counts and what tiles publish: they begin as zeros.
  std::size_t zeroed_bytes() const {
    return (kTickets + count_words() + kPlaces * tile_words()) * sizeof(std::uint32_t);
  }
  static std::size_t array_bytes(std::uint64_t n, std::size_t element) {
    return static_cast<std::size_t>((n * element + kVectorBytes - 1) / kVectorBytes * kVectorBytes);
  }
  std::size_t bytes(std::uint64_t n) const {
    const std::size_t value = std::is_same_v<Value, NoValue> ? 0 : sizeof(Value);
    return zeroed_bytes() + array_bytes(n, sizeof(Key)) + array_bytes(n, value);
  }
};

template <class Key, class Value, class Shape>
std::size_t radix_sort_onesweep_scratch(std::uint64_t n) {
  return SortScratch<Key, Value, Shape>(n).bytes(n);
}

// The output has `keys` in ascending order, each with its value; values of equal keys stay in their
// order.  n <= 2^30; input, output and `scratch`, of radix_sort_onesweep_scratch() bytes aligned to
// 16, do not overlap.
template <class Key, class Value, class Shape, SortOrder missing = SortOrder::none,
          unsigned count_copies = 4>
cudaError_t launch_radix_sort_onesweep(SortArrays<Key, Value> arrays, std::uint64_t n,
                                       void* scratch, KeyCode<Key> code, unsigned count_blocks) {
  if (n > kSortedMax) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  constexpr unsigned kPlaces = sizeof(Key);
  constexpr std::size_t kShared = SortShared<Key, Value, Shape>::kBytes;
  const SortScratch<Key, Value, Shape> layout(n);
  auto* const tickets = static_cast<std::uint32_t*>(scratch);
  std::uint32_t* const counts = tickets + layout.kTickets;
  std::uint32_t* const words = counts + layout.count_words();
  Key* const spare_keys =
      reinterpret_cast<Key*>(static_cast<char*>(scratch) + layout.zeroed_bytes());
  auto* const spare_values = reinterpret_cast<Value*>(reinterpret_cast<char*>(spare_keys) +
                                                      layout.array_bytes(n, sizeof(Key)));
  const auto sweep = sweep_kernel<Key, Value, Shape, of_sweeping(missing)>;
  cudaError_t error = cudaMemsetAsync(scratch, 0, layout.zeroed_bytes());
  if (error != cudaSuccess) return error;
  error = cudaFuncSetAttribute(sweep, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared);
  if (error != cudaSuccess) return error;

  constexpr unsigned kCountThreads = 256;
  const auto useful = static_cast<unsigned>((n + kCountThreads - 1) / kCountThreads);
  count_digits_kernel<Key, kCountThreads, count_copies, of_counting(missing)>
      <<<std::min(count_blocks, useful), kCountThreads>>>(arrays.keys, n, counts, code,
                                                          is_aligned(arrays.keys));
  begin_digits_kernel<of_beginning(missing)><<<kPlaces, kDigits>>>(counts);
  SortArrays<Key, Value> pass{arrays.keys, arrays.values, spare_keys, spare_values};
  for (unsigned place = 0; place < kPlaces; ++place) {
    const bool is_last = place + 1 == kPlaces;
    sweep<<<layout.tiles, Shape::kThreads, kShared>>>(
        pass, static_cast<unsigned>(n), place, counts + place * kDigits,
        words + place * layout.tile_words(), tickets + place,
        place == 0 ? code : KeyCode<Key>::unsigned_numbers(),
        is_last ? code : KeyCode<Key>::unsigned_numbers());
    const bool to_output = place % 2 == 0;  // the next one: the number of places is even
    pass = {pass.sorted_keys, pass.sorted_values, to_output ? arrays.sorted_keys : spare_keys,
            to_output ? arrays.sorted_values : spare_values};
  }
  return cudaGetLastError();
}

}  // namespace fast
