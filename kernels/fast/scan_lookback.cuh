// Inclusive scan in one pass over the data, by decoupled look-back: Merrill and Garland,
// "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA NVR-2016-002.
//
// A block scans its tile, publishes the tile's total, and looks back over the tiles before it: it
// adds totals up until it meets a tile whose whole prefix is known.  Then it publishes its own.
//
// Blocks take tiles by tickets, so a block that waits, waits for tiles that others have begun.
// While it works on one, it has the cache fetch a tile that a block will take some time later: what
// waits for the look back does not keep memory waiting.
//
// The operator is associative, and need not commute or have an identity: operands stay in order.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "kernels/fast/tiles.cuh"

namespace fast {

enum class ScanOrder {
  none,
  ticket_known,        // barrier: the tile's number, before all threads read it
  totals_written,      // barrier: totals of the warps, before the first warp scans them
  prefixes_written,    // barrier: what comes before each warp, before the warps read it
  total_released,      // fence: a tile's total, before its state says so
  prefix_released,     // fence: a tile's prefix, before its state says so
  value_acquired,      // fence: after a state was read, before the value
  state_written_once,  // the strong write of a state, and of the value in the same word
  state_read_once,     // the strong read of it
};

enum class TileState : std::uint32_t { empty, total, prefix };

// What blocks know of tiles.  Values of four bytes share a word with their state, and need no
// fence; others have a place of their own for each state, and are released and acquired.
template <class T, ScanOrder missing, bool one_word = sizeof(T) == 4>
struct TileStates;

template <class T, ScanOrder missing>
struct TileStates<T, missing, true> {
  std::uint64_t* words;

  struct Seen {
    TileState state;
    T value;
  };

  __host__ __device__ static constexpr std::size_t bytes(std::size_t tiles) {
    return tiles * sizeof(std::uint64_t);
  }
  // Of which so many begin as zeros.
  __host__ __device__ static constexpr std::size_t zeroed_bytes(std::size_t tiles) {
    return bytes(tiles);
  }
  __host__ __device__ TileStates(void* place, std::size_t)
      : words(static_cast<std::uint64_t*>(place)) {}

  __device__ __forceinline__ void publish(unsigned tile, TileState state, const T& value) const {
    store_relaxed<missing != ScanOrder::state_written_once>(
        &words[tile],
        std::uint64_t{static_cast<std::uint32_t>(state)} << 32 | same_bits<std::uint32_t>(value));
  }
  __device__ __forceinline__ Seen read(unsigned tile) const {
    const std::uint64_t word = load_relaxed<missing != ScanOrder::state_read_once>(&words[tile]);
    return {static_cast<TileState>(word >> 32), same_bits<T>(static_cast<std::uint32_t>(word))};
  }
};

template <class T, ScanOrder missing>
struct TileStates<T, missing, false> {
  std::uint32_t* states;
  T* totals;
  T* prefixes;

  struct Seen {
    TileState state;
    T value;
  };

  __host__ __device__ static constexpr std::size_t zeroed_bytes(std::size_t tiles) {
    return (tiles * sizeof(std::uint32_t) + sizeof(T) - 1) / sizeof(T) * sizeof(T);
  }
  __host__ __device__ static constexpr std::size_t bytes(std::size_t tiles) {
    return zeroed_bytes(tiles) + 2 * tiles * sizeof(T);
  }
  __host__ __device__ TileStates(void* place, std::size_t tiles)
      : states(static_cast<std::uint32_t*>(place)),
        totals(reinterpret_cast<T*>(static_cast<char*>(place) + zeroed_bytes(tiles))),
        prefixes(totals + tiles) {}

  __device__ __forceinline__ void publish(unsigned tile, TileState state, const T& value) const {
    if (state == TileState::total) {
      totals[tile] = value;
      device_fence<missing, ScanOrder::total_released>();
    } else {
      prefixes[tile] = value;
      device_fence<missing, ScanOrder::prefix_released>();
    }
    store_relaxed<missing != ScanOrder::state_written_once>(&states[tile],
                                                            static_cast<std::uint32_t>(state));
  }
  __device__ __forceinline__ Seen read(unsigned tile) const {
    const TileState state =
        static_cast<TileState>(load_relaxed<missing != ScanOrder::state_read_once>(&states[tile]));
    device_fence<missing, ScanOrder::value_acquired>();
    if (state == TileState::empty) return {state, T{}};
    return {state, state == TileState::total ? totals[tile] : prefixes[tile]};
  }
};

// What comes before `tile`, which is not the first; by a warp, in its lane 0.  Each lane looks at
// one tile, the nearest first; those before the nearest known prefix do not matter.
template <class T, class Operation, class States>
__device__ __forceinline__ T look_back(const States& states, unsigned tile, Operation operation) {
  const unsigned lane = threadIdx.x % kWarp;
  T before{};
  bool has_before = false;
  for (unsigned end = tile;; end -= kWarp) {
    typename States::Seen seen{TileState::total, T{}};
    unsigned prefixes = 0;
    unsigned relevant = 0;
    do {
      if (lane < end) seen = states.read(end - 1 - lane);
      prefixes = __ballot_sync(kAllLanes, lane < end && seen.state == TileState::prefix);
      relevant = prefixes == 0 ? kAllLanes : prefixes ^ (prefixes - 1);
    } while ((__ballot_sync(kAllLanes, seen.state == TileState::empty) & relevant) != 0);
    const unsigned farthest = kWarp - 1 - static_cast<unsigned>(__clz(static_cast<int>(relevant)));
    T sum = seen.value;
    for (unsigned by = 1; by < kWarp; by *= 2) {
      const T earlier = shuffle_down(sum, by);
      if (lane + by <= farthest) sum = operation(earlier, sum);
    }
    before = has_before ? operation(sum, before) : sum;
    has_before = true;
    if (prefixes != 0) return before;
  }
}

template <unsigned threads, unsigned items, unsigned ahead = 0>
struct ScanShape {
  static constexpr unsigned kThreads = threads;
  static constexpr unsigned kItems = items;  // of each thread
  static constexpr unsigned kTile = threads * items;
  static constexpr unsigned kAhead =
      ahead;  // so many tiles later is the one that is fetched; 0: none
  static constexpr unsigned kWarps = threads / kWarp;
  static_assert(threads % kWarp == 0 && kWarps <= kWarp);
};

// The elements of a warp lie in rows of 32 vectors; a thread has one vector of each row.
template <class T, class Shape>
struct ScanItems {
  static constexpr unsigned kRows = Shape::kItems / kVector<T>;
  static_assert(kRows * kVector<T> == Shape::kItems);
  T rows[kRows][kVector<T>];

  __device__ __forceinline__ static unsigned offset(unsigned row) {
    const unsigned warp = threadIdx.x / kWarp;
    return (warp * kRows + row) * kWarp * kVector<T> + threadIdx.x % kWarp * kVector<T>;
  }
  __device__ __forceinline__ void load(const T* in, std::uint64_t left, bool aligned) {
    if (aligned && left >= Shape::kTile) {
#pragma unroll
      for (unsigned row = 0; row < kRows; ++row) load_vector(in + offset(row), rows[row]);
      return;
    }
#pragma unroll
    for (unsigned row = 0; row < kRows; ++row) {
#pragma unroll
      for (unsigned i = 0; i < kVector<T>; ++i) {
        rows[row][i] = offset(row) + i < left ? in[offset(row) + i] : T{};
      }
    }
  }
  __device__ __forceinline__ void store(T* out, std::uint64_t left, bool aligned) const {
    if (aligned && left >= Shape::kTile) {
#pragma unroll
      for (unsigned row = 0; row < kRows; ++row) store_vector(out + offset(row), rows[row]);
      return;
    }
#pragma unroll
    for (unsigned row = 0; row < kRows; ++row) {
#pragma unroll
      for (unsigned i = 0; i < kVector<T>; ++i) {
        if (offset(row) + i < left) out[offset(row) + i] = rows[row][i];
      }
    }
  }

  // Scans each vector; leads[row] = what comes before it in its warp, which is nothing for the
  // first lane in the first row.  Returns the warp's total.
  template <class Operation>
  __device__ __forceinline__ T scan(T* leads, Operation operation) {
    const unsigned lane = threadIdx.x % kWarp;
    T total{};
#pragma unroll
    for (unsigned row = 0; row < kRows; ++row) {
#pragma unroll
      for (unsigned i = 1; i < kVector<T>; ++i) {
        rows[row][i] = operation(rows[row][i - 1], rows[row][i]);
      }
      const T scanned = scan_warp(rows[row][kVector<T> - 1], operation);
      const T before = shuffle_up(scanned, 1);
      const T row_total = shuffle(scanned, kWarp - 1);
      if (row == 0) {
        leads[row] = before;
        total = row_total;
      } else {
        leads[row] = lane == 0 ? total : operation(total, before);
        total = operation(total, row_total);
      }
    }
    return total;
  }
  template <class Operation>
  __device__ __forceinline__ void add(const T* leads, bool has_prefix, const T& prefix,
                                      Operation operation) {
#pragma unroll
    for (unsigned row = 0; row < kRows; ++row) {
      const bool has_lead = row != 0 || threadIdx.x % kWarp != 0;
      if (!has_lead && !has_prefix) continue;
      const T lead = !has_prefix ? leads[row] : has_lead ? operation(prefix, leads[row]) : prefix;
#pragma unroll
      for (unsigned i = 0; i < kVector<T>; ++i) rows[row][i] = operation(lead, rows[row][i]);
    }
  }
};

// warps[w] = what comes before warp w of the tile; by the first warp, from the warps' totals.
template <class Shape, class T, class Operation, class States>
__device__ __forceinline__ void scan_tile_totals(T* warps, const States& states, unsigned tile,
                                                 Operation operation) {
  const unsigned lane = threadIdx.x % kWarp;
  const T scanned = scan_warp(lane < Shape::kWarps ? warps[lane] : T{}, operation);
  const T total = shuffle(scanned, Shape::kWarps - 1);
  T before = shuffle_up(scanned, 1);
  if (lane == 0) states.publish(tile, tile == 0 ? TileState::prefix : TileState::total, total);
  if (tile != 0) {
    const T prefix = shuffle(look_back<T>(states, tile, operation), 0);
    if (lane == 0) states.publish(tile, TileState::prefix, operation(prefix, total));
    before = lane == 0 ? prefix : operation(prefix, before);
  }
  if (lane < Shape::kWarps) warps[lane] = before;
}

template <class T, class Shape, class Operation, ScanOrder missing>
__global__ void __launch_bounds__(Shape::kThreads)
    scan_lookback_kernel(const T* in, T* out, std::uint64_t n, unsigned* next_tile,
                         TileStates<T, missing> states, Operation operation, bool aligned) {
  __shared__ unsigned shared_tile;
  __shared__ T warps[Shape::kWarps];
  if (threadIdx.x == 0) shared_tile = atomicAdd(next_tile, 1U);
  block_barrier<missing, ScanOrder::ticket_known>();
  const unsigned tile = shared_tile;
  const unsigned warp = threadIdx.x / kWarp;
  const std::uint64_t first = std::uint64_t{tile} * Shape::kTile;

  ScanItems<T, Shape> items;
  items.load(in + first, n - first, aligned);
  if constexpr (Shape::kAhead != 0) fetch_tile<Shape>(in, n, tile + Shape::kAhead);
  T leads[ScanItems<T, Shape>::kRows];
  const T total = items.scan(leads, operation);
  if (threadIdx.x % kWarp == 0) warps[warp] = total;
  block_barrier<missing, ScanOrder::totals_written>();
  if (warp == 0) scan_tile_totals<Shape>(warps, states, tile, operation);
  block_barrier<missing, ScanOrder::prefixes_written>();
  items.add(leads, tile != 0 || warp != 0, warps[warp], operation);
  items.store(out + first, n - first, aligned);
}

constexpr std::size_t kTicketBytes = 16;  // the ticket, and what aligns the states behind it

template <class T, class Shape>
std::size_t scan_lookback_scratch(std::uint64_t n) {
  const std::size_t tiles = (n + Shape::kTile - 1) / Shape::kTile;
  return kTicketBytes + TileStates<T, ScanOrder::none>::bytes(tiles);
}

// `scratch` has scan_lookback_scratch() bytes, aligned to 16, of any contents.
template <class T, class Shape, class Operation, ScanOrder missing = ScanOrder::none>
cudaError_t launch_scan_lookback(const T* in, T* out, std::uint64_t n, void* scratch,
                                 Operation operation) {
  if (n == 0) return cudaSuccess;
  const auto tiles = static_cast<unsigned>((n + Shape::kTile - 1) / Shape::kTile);
  using States = TileStates<T, missing>;
  const cudaError_t cleared =
      cudaMemsetAsync(scratch, 0, kTicketBytes + States::zeroed_bytes(tiles));
  if (cleared != cudaSuccess) return cleared;
  scan_lookback_kernel<T, Shape, Operation, missing>
      <<<tiles, Shape::kThreads>>>(in, out, n, static_cast<unsigned*>(scratch),
                                   States(static_cast<char*>(scratch) + kTicketBytes, tiles),
                                   operation, is_aligned(in) && is_aligned(out));
  return cudaGetLastError();
}

}  // namespace fast
