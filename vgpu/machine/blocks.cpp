#include "vgpu/machine/blocks.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>

#include "vgpu/machine/block_sample.hpp"
#include "vgpu/machine/block_share.hpp"
#include "vgpu/machine/native/native_code.hpp"

namespace warpcheck::vgpu {
namespace {

// What looks at the warps of a block may cost before the block has run (look_costs.hpp): enough for
// a short polling loop.
constexpr std::uint64_t kLookAdvanceOfBlock = 1u << 13;

}  // namespace

Blocks::~Blocks() {
  for (const auto& slot : slots_) {
    if (slot->shared != nullptr) launch_.memory().release_private(slot->shared);
    if (slot->reserved_shared != nullptr) launch_.memory().release_private(slot->reserved_shared);
    for (const Warp& warp : slot->warps) {
      if (warp.local != nullptr) launch_.memory().release_private(warp.local);
      for (const Warp::LocalPiece& piece : warp.local_beyond) {
        launch_.memory().release_private(piece.allocation);
      }
    }
  }
}

void Blocks::begin_launch() {
  next_ = ended_ = 0;
  sampled_ = 0;
  admitted_.clear();
  // The last launch may have been given up, so slots may still be occupied.
  for (const auto& slot : slots_) slot->occupied = false;
}

void Blocks::admit() {
  if (launch_.request().share != nullptr) return admit_share();
  if (launch_.request().sample != nullptr) return admit_sample();
  const auto size = std::size_t{dependencies_.clusters.size()};
  const auto fits = [&] {
    return launch_.request().cooperative ||
           launch_.resident().size() + admitted_.size() * size < launch_.limits().resident_blocks;
  };
  while (next_ < launch_.block_count() && fits()) {
    admitted_.push_back(next_);
    do {
      ++next_;
    } while (size > 1 && next_ < launch_.block_count() &&
             dependencies_.clusters.first_of(next_) != next_);
  }
}

// Admits one block at a time, because another machine may have nothing to do.
void Blocks::admit_share() {
  if (!launch_.resident().empty() || !admitted_.empty()) return;
  if (const auto block = launch_.request().share->take()) admitted_.push_back(*block);
}

void Blocks::admit_sample() {
  while (launch_.resident().size() + admitted_.size() < launch_.limits().resident_blocks) {
    const auto block = next_of_sample();
    if (!block) return;
    admitted_.insert(std::ranges::lower_bound(admitted_, *block), *block);
  }
}

std::optional<std::uint32_t> Blocks::next_of_sample() {
  const BlockSample& sample = *launch_.request().sample;
  if (sampled_ < sample.blocks.size()) return sample.blocks[sampled_++];
  if (launch_.steps() >= sample.steps_budget) return std::nullopt;
  while (next_ < launch_.block_count() && std::ranges::binary_search(sample.blocks, next_)) ++next_;
  if (next_ == launch_.block_count()) return std::nullopt;
  return next_++;
}

std::uint32_t Blocks::not_begun() const {
  if (const BlockSample* const sample = launch_.request().sample) {
    return static_cast<std::uint32_t>(sample->blocks.size() - sampled_ + admitted_.size());
  }
  return launch_.block_count() - next_ +
         static_cast<std::uint32_t>(admitted_.size()) * dependencies_.clusters.size();
}

// Makes an admitted block resident, and all other blocks of its cluster with it.
Slot& Blocks::begin(std::uint32_t block) {
  const std::uint32_t first = dependencies_.clusters.first_of(block);
  admitted_.erase(std::ranges::lower_bound(admitted_, first));
  const std::uint32_t size = dependencies_.clusters.size();
  if (launch_.program().uses_clusters) {
    dependencies_.cluster_barriers.begin_cluster(first, size * launch_.threads());
  }
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    Slot& slot = dispatch(dependencies_.clusters.block_of_rank(first, rank));
    slot.cluster = first;
    slot.cluster_rank = rank;
  }
  return *launch_.slot_of(block);
}

// Makes a block resident in a free slot.
Slot& Blocks::dispatch(std::uint32_t block) {
  auto free_slot =
      std::find_if(slots_.begin(), slots_.end(), [](const auto& slot) { return !slot->occupied; });
  if (free_slot == slots_.end()) {
    slots_.push_back(std::make_unique<Slot>());
    slots_.back()->index = static_cast<std::uint32_t>(slots_.size() - 1);
    free_slot = std::prev(slots_.end());
  }
  Slot& slot = **free_slot;
  slot.occupied = true;
  slot.serial = ++dispatched_;
  slot.block = block;
  slot.position = launch_.request().grid.position_of(block);
  slot.phase = 0;
  slot.live_lanes = launch_.threads();
  slot.waiting_lanes = 0;
  slot.exit_pc = ptx::kNone;
  if (launch_.program().has_named_barriers) {
    for (NamedBarrier& barrier : slot.barriers) barrier.arrivals.clear();
  }
  slot.objects.clear();
  slot.tensor.reset();
  slot.yielded_warps = slot.polling_warps = 0;
  slot.turn_steps = slot.steps = 0;
  slot.looks.begin(0, kLookAdvanceOfBlock, LookAccount::kShareOfBlock);
  slot.repeats_itself = false;
  slot.watch_at = std::uint64_t{kQuantaBeforeWatch} * launch_.limits().quantum;
  slot.ready_warps = launch_.all_warps();
  const std::uint32_t shared_bytes =
      launch_.request().dynamic_shared_bytes == 0
          ? launch_.program().static_shared_bytes
          : launch_.program().dynamic_shared_offset + launch_.request().dynamic_shared_bytes;
  slot.shared = launch_.memory().renew_private(slot.shared, shared_bytes, ptx::Space::shared);
  slot.shared->symbols = launch_.program().shared_symbols;
  if (launch_.program().uses_reserved_shared) dependencies_.clusters.renew_reserved_shared(slot);

  Sync sync;
  sync.kind = Sync::Kind::block_start;
  sync.program = &launch_.program();
  sync.place = {block, 0, slot.index, 0};
  sync.shared = slot.shared;
  launch_.notify_of_block(sync);

  slot.warps.resize(std::max<std::size_t>(slot.warps.size(), launch_.warps_per_block()));
  launch_.add_resident(slot);
  for (std::uint32_t index = 0; index < launch_.warps_per_block(); ++index) {
    slot.warps[index].index = index;
    start_warp(slot, slot.warps[index]);
  }
  return slot;
}

// Clears the registers, if the program may read them before it writes them: once per launch, as no
// program may rely on more, and for each block if variables of the user are unwritten.  What an
// earlier block has left there depends on the schedule, and an unwritten variable is no schedule.
void Blocks::begin_registers(Warp& warp) const {
  const std::size_t words = launch_.program().words_max * std::size_t{kWordRowBytes};
  const std::size_t wides = launch_.program().wides_max * std::size_t{kWideRowBytes};
  if (launch_.native() == nullptr || launch_.native()->initial_rows().all) {
    warp.words.reset(words);
    warp.wides.reset(wides);
  } else {
    // Large kernels have a thousand rows, of which they read a few: what warps exchange.
    const auto clear = [](RowBank& bank, std::span<const std::uint32_t> rows, std::size_t bytes) {
      for (const std::uint32_t row : rows) std::memset(bank.data() + row * bytes, 0, bytes);
    };
    warp.words.grow(words);
    warp.wides.grow(wides);
    clear(warp.words, launch_.native()->initial_rows().words, kWordRowBytes);
    clear(warp.wides, launch_.native()->initial_rows().wides, kWideRowBytes);
  }
  warp.predicates.reset(launch_.program().predicates_max * std::size_t{4});
}

void Blocks::start_warp(Slot& slot, Warp& warp) {
  const std::uint32_t first = warp.index * kWarpLanes;
  const std::uint32_t count = std::min(kWarpLanes, launch_.threads() - first);
  warp.lanes = count == kWarpLanes ? ~0u : (1u << count) - 1;
  warp.live = warp.lanes;
  warp.accesses = 0;
  warp.stops = 0;
  warp.releases = 0;
  warp.fences = 0;
  warp.faults = 0;
  warp.quantum_left = warp.quantum_rest = 0;
  warp.quanta = warp.vain_turns = 0;
  warp.time_reads = warp.reads_before = 0;
  warp.wait_steps = 0;
  warp.waits_for_time = warp.has_paused = false;
  warp.cluster_arrived = 0;
  warp.places = Warp::Places::unknown;
  warp.fragments.begin(launch_.program().functions.front().entry, warp.lanes);
  if (warp.run != launch_.number() || !launch_.program().unwritten_registers.empty()) {
    warp.run = launch_.number();
    begin_registers(warp);
  }
  warp.undefined.clear();
  launch_.mark_unwritten(warp, warp.fragments.front(), 0);
  warp.pending_products.clear();
  if (std::exchange(warp.has_closed_products, false)) warp.closed_products = {};
  warp.group_steps.clear();
  dependencies_.stacks.start(warp);
  const WarpId id{slot.block, warp.index};
  warp.ask_at = launch_.strategy().next_access(launch_.request().index, id, 0);
  warp.ask_at_fence = launch_.strategy().next_fence(launch_.request().index, id, 0);
}

std::optional<std::uint32_t> Blocks::cancel() {
  if (admitted_.empty()) return std::nullopt;
  const std::uint32_t first = admitted_.front();
  admitted_.erase(admitted_.begin());
  ended_ += dependencies_.clusters.size();
  admit();
  return first;
}

void Blocks::end(Slot& slot) {
  Sync sync;
  sync.kind = Sync::Kind::block_end;
  sync.program = &launch_.program();
  sync.place = {slot.block, 0, slot.index, slot.phase};
  sync.shared = slot.shared;
  sync.has_ended = slot.live_lanes == 0;
  launch_.notify_of_block(sync);
  ++ended_;
  launch_.count_block();
  if (launch_.request().share != nullptr) launch_.request().share->count_end();
  slot.occupied = false;
  slot.ready_warps = 0;
  launch_.remove_resident(slot);
  dependencies_.watch.forget(slot);
  admit();
}

}  // namespace warpcheck::vgpu
