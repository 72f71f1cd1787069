#include "cli/kernel/probe.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "cli/cli.hpp"
#include "harness/pair/device.hpp"
#include "harness/trial/engine.hpp"
#include "vgpu/machine/observer.hpp"

namespace warpcheck {
namespace {

// Of all arrays together; pages that nothing touches take no memory.
constexpr std::uint64_t kBytesOfArrays = std::uint64_t{1} << 30;
constexpr std::size_t kFilledElements = 2048;
// Warp instructions of a run; fewer once several have reached that, so that a kernel which seldom
// ends is probed in a minute.
constexpr std::uint64_t kStepsMax = 3'000'000, kStepsMin = 300'000;
constexpr std::uint64_t kStepsOfEndlessMax = 60'000'000;
constexpr std::size_t kThreadsKept = 64;  // of those that accessed an array's last element

class TouchWatch final : public vgpu::Observer {
 public:
  TouchWatch(const KernelDescription& kernel, Extents& extents)
      : kernel_(kernel), extents_(extents) {}

  // Once the arrays exist.
  void set_arrays(const std::vector<void*>& arrays) {
    for (void* const array : arrays) bases_.push_back(reinterpret_cast<std::uint64_t>(array));
  }

  [[nodiscard]] vgpu::Watched watches() const override {
    vgpu::Watched watched;
    watched.rows = true;
    watched.launches = watched.blocks = watched.memory = false;
    return watched;
  }
  void on_rows(const vgpu::Program&, std::span<const vgpu::RowAccess> rows) override {
    extents_.rows += rows.size();
    for (const vgpu::RowAccess& row : rows) add(row);
  }
  void on_fault(const vgpu::Fault& fault) override {
    if (fault.kind != vgpu::Fault::Kind::out_of_bounds) return;
    (fault.space == ptx::Space::shared ? extents_.leaves_shared : extents_.leaves_arrays) = true;
  }
  void on_deadlock(const vgpu::Deadlock&) override { extents_.ends = false; }
  void on_step_limit(const vgpu::StepLimit&) override { extents_.ends = false; }

 private:
  void add(const vgpu::RowAccess& row) {
    std::uint64_t begin = UINT64_MAX, end = 0;
    for (unsigned lane = 0; lane < vgpu::kWarpLanes; ++lane) {
      if ((row.mask >> lane & 1) != 0) {
        begin = std::min(begin, std::uint64_t{row.offset_of(lane)});
        end = std::max(end, std::uint64_t{row.offset_of(lane)} + row.bytes);
      }
    }
    const vgpu::Allocation& allocation = *row.allocation;
    if (row.space == ptx::Space::shared) {
      for (const vgpu::Symbol& symbol : allocation.symbols) {
        if (symbol.bytes == 0 && end > symbol.offset) {
          extents_.shared_bytes =
              std::max(extents_.shared_bytes, static_cast<std::int64_t>(end - symbol.offset));
        }
      }
      return;
    }
    if (row.space != ptx::Space::global) return;
    const auto found = std::ranges::find(bases_, allocation.object().address);
    if (found == bases_.end()) return;
    const auto array = static_cast<std::size_t>(found - bases_.begin());
    const std::uint64_t element = kernel_.arrays[array].element_bytes;
    const auto first = static_cast<std::int64_t>(allocation.offset_in_object(begin) / element);
    const auto last = static_cast<std::int64_t>((allocation.offset_in_object(end) - 1) / element);
    add_span(row, extents_.reach[array].spans, first, last);
    if (last >= extents_.elements[array] - 1) {
      add_last(row, array, static_cast<std::uint32_t>(element));
    }
    if (row.kind != vgpu::AccessKind::read) extents_.written[array] = true;
  }

  static void add_span(const vgpu::RowAccess& row, std::map<std::uint32_t, Reach::Span>& spans,
                       std::int64_t first, std::int64_t last) {
    Reach::Span& span = spans.try_emplace(row.pc, Reach::Span{first, last}).first->second;
    span.first = std::min(span.first, first);
    span.last = std::max(span.last, last);
    const auto lowest = static_cast<unsigned>(std::countr_zero(row.mask));
    const auto highest = static_cast<unsigned>(std::bit_width(row.mask) - 1);
    span.is_atomic |= row.kind == vgpu::AccessKind::atomic;
    span.descends |= row.offset_of(highest) < row.offset_of(lowest);
  }

  void add_last(const vgpu::RowAccess& row, std::size_t array, std::uint32_t element_bytes) {
    std::int64_t& elements = extents_.elements[array];
    std::set<std::uint64_t>& threads = extents_.reach[array].last_threads;
    for (std::uint32_t lanes = row.mask; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
      const std::uint64_t last =
          row.allocation->offset_in_object(row.offset_of(lane) + std::uint64_t{row.bytes} - 1);
      const auto needed = static_cast<std::int64_t>(last / element_bytes) + 1;
      if (needed < elements) continue;
      if (needed > elements) threads.clear();
      elements = needed;
      if (threads.size() < kThreadsKept) {
        threads.insert(std::uint64_t{row.place.block} << 32 |
                       (row.place.warp * vgpu::kWarpLanes + lane));
      }
    }
  }

  const KernelDescription& kernel_;
  Extents& extents_;
  std::vector<std::uint64_t> bases_;
};

// The first `size` elements ascend; those after them are as large as the last one.
void draw_ascending(const KernelDescription& kernel, std::size_t array, std::size_t size,
                    Draw& draw, KernelInput& drawn) {
  for (Column& column : drawn.arrays[array]) resize(column, size);
  draw_contents_of(kernel, array, draw, drawn);
  for (Column& column : drawn.arrays[array]) {
    std::visit(
        [](auto& values) {
          const auto last = values.back();
          values.resize(kFilledElements, last);
        },
        column);
  }
}

// The contents of the arrays.
KernelInput filled_input(const KernelDescription& kernel, KernelInput input,
                         const std::vector<Fill>& fill, std::uint64_t seed) {
  for (std::vector<Column>& columns : input.arrays) {
    for (Column& column : columns) resize(column, kFilledElements);
  }
  for (std::size_t i = 0; i < kernel.arrays.size(); ++i) {
    const ArrayParameter& array = kernel.arrays[i];
    if (fill[i] == Fill::zeros) continue;
    // Of each array, whatever the others are filled with.
    Tape tape = Tape::of_seed(seed * kernel.arrays.size() + i);
    Draw draw(tape);
    if (fill[i] == Fill::highest && array.values) {
      for (Column& column : input.arrays[i]) {
        std::visit(
            [&]<class T>(std::vector<T>& values) {
              std::ranges::fill(values, static_cast<T>(array.values->high));
            },
            column);
      }
    } else if (array.order == ArrayParameter::Order::ascending) {
      // How many elements are used is not known here.
      draw_ascending(kernel, i, std::size_t{2} << seed % 11, draw, input);
    } else if (array.order == ArrayParameter::Order::distinct && !array.values) {
      // As many numbers as there are elements: the first n of them are below n.
      for (Column& column : input.arrays[i]) {
        std::visit([](auto& values) { std::iota(values.begin(), values.end(), 0); }, column);
      }
    } else {
      draw_contents_of(kernel, i, draw, input);
    }
  }
  return input;
}

std::vector<DeviceArray<std::byte>> filled_arrays(const KernelDescription& kernel,
                                                  const KernelInput& input,
                                                  const std::vector<Fill>& fill,
                                                  std::uint64_t seed) {
  const KernelInput filled = filled_input(kernel, input, fill, seed);
  std::vector<DeviceArray<std::byte>> arrays;
  for (std::size_t i = 0; i < kernel.arrays.size(); ++i) {
    const std::uint64_t most = kBytesOfArrays / kernel.arrays.size();
    // A whole number of elements, so that the last one is whole.
    const std::uint64_t bytes =
        std::max<std::uint64_t>(most / kernel.arrays[i].element_bytes, kFilledElements) *
        kernel.arrays[i].element_bytes;
    arrays.emplace_back(static_cast<std::size_t>(bytes));
    const std::vector<std::byte> first = bytes_of(kernel.arrays[i], filled.arrays[i]);
    check(cudaMemcpy(arrays.back().data(), first.data(), first.size(), cudaMemcpyHostToDevice));
  }
  return arrays;
}

// Of an array of integers; nothing: it has no elements.
std::optional<std::int64_t> last_value(const ArrayParameter& array, const void* pointer,
                                       std::int64_t elements) {
  if (elements == 0 || array.columns.size() != 1) return std::nullopt;
  const ElementType type = array.columns.front().element;
  const std::uint32_t bytes = bytes_of(type);
  if (!is_integer(type) || bytes < 4) return std::nullopt;
  std::int64_t value = 0;  // little-endian; sizes are not negative
  check(cudaMemcpy(&value,
                   static_cast<const std::byte*>(pointer) +
                       static_cast<std::uint64_t>(elements - 1) * array.element_bytes,
                   bytes, cudaMemcpyDeviceToHost));
  return value;
}

}  // namespace

void widen(Extents& extents, const Extents& other) {
  for (std::size_t i = 0; i < extents.elements.size(); ++i) {
    extents.elements[i] = std::max(extents.elements[i], other.elements[i]);
    if (other.written[i]) extents.written[i] = true;
  }
  extents.shared_bytes = std::max(extents.shared_bytes, other.shared_bytes);
  extents.leaves_arrays |= other.leaves_arrays;
  extents.leaves_shared |= other.leaves_shared;
  extents.ends &= other.ends;
  extents.rows += other.rows;
}

void widen_reach(Extents& extents, const Extents& other) {
  for (std::size_t i = 0; i < extents.reach.size(); ++i) {
    Reach& reach = extents.reach[i];
    Reach more = other.reach[i];
    for (const auto& [pc, span] : more.spans) {
      Reach::Span& known = reach.spans.try_emplace(pc, span).first->second;
      known = {.first = std::min(known.first, span.first),
               .last = std::max(known.last, span.last),
               .descends = known.descends || span.descends,
               .is_atomic = span.is_atomic};
    }
    if (other.elements[i] > extents.elements[i]) {
      reach.last_threads = std::move(more.last_threads);
      reach.last_value = more.last_value;
    } else if (other.elements[i] == extents.elements[i]) {
      reach.last_threads.merge(more.last_threads);
    }
  }
}

Prober::Prober(const KernelPair& pair, std::uint64_t static_shared_bytes) : pair_(pair) {
  constexpr std::uint64_t kSharedBytes = 48 << 10;
  if (static_shared_bytes < kSharedBytes) {
    free_shared_bytes_ = static_cast<std::uint32_t>((kSharedBytes - static_shared_bytes) & ~15ULL);
  }
}

Extents Prober::run(const KernelDescription& kernel, const KernelInput& input,
                    const std::vector<Fill>& fill, std::uint64_t seed, Builds builds) {
  ++runs_;
  if (kernel.optimized.empty()) return run_in(Build::unoptimized, kernel, input, fill, seed);
  Extents extents = run_in(Build::optimized, kernel, input, fill, seed);
  if (builds == Builds::shipped || kernel.unoptimized.empty()) return extents;
  Extents unoptimized = run_in(Build::unoptimized, kernel, input, fill, seed);
  widen(extents, unoptimized);
  extents.reach = std::move(unoptimized.reach);
  return extents;
}

Extents Prober::run_in(Build build, const KernelDescription& kernel, const KernelInput& input,
                       const std::vector<Fill>& fill, std::uint64_t seed) {
  Extents extents;
  extents.elements.resize(kernel.arrays.size());
  extents.written.resize(kernel.arrays.size());
  extents.reach.resize(kernel.arrays.size());
  KernelInput generous = input;
  if (kernel.launch.shared_bytes.text() == "0") generous.launch.shared_bytes = free_shared_bytes_;
  TouchWatch watch(kernel, extents);
  TrialSettings settings;
  settings.build = build;
  settings.checkers = vgpu::no_checkers();
  settings.limits.steps_max = steps_of_endless_ < kStepsOfEndlessMax ? kStepsMax : kStepsMin;
  settings.extra_observer = &watch;
  std::string failure;
  const TrialResult result = virtual_gpu().run(settings, [&] {
    try {
      const auto arrays = filled_arrays(kernel, input, fill, seed);
      std::vector<void*> pointers;
      for (const auto& array : arrays) pointers.push_back(const_cast<std::byte*>(array.data()));
      watch.set_arrays(pointers);
      pair_.launch(generous, pointers);
      for (std::size_t i = 0; i < arrays.size(); ++i) {
        extents.reach[i].last_value =
            last_value(kernel.arrays[i], pointers[i], extents.elements[i]);
      }
    } catch (const CudaError& error) {
      failure = error.what();
    }
  });
  if (!extents.ends) steps_of_endless_ += settings.limits.steps_max;
  if (!result.refusals.empty()) {
    throw UsageError(fmt::format("{} cannot be run: {}", kernel.name, result.refusals.front()));
  }
  if (!failure.empty() && extents.ends && result.findings.empty()) {
    throw UsageError(fmt::format("{} cannot be launched: {}", kernel.name, failure));
  }
  return extents;
}

}  // namespace warpcheck
