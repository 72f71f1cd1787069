#include "vgpu/machine/progress/snapshot.hpp"

#include <algorithm>
#include <utility>

namespace warpcheck::vgpu {

void Snapshot::save(Slot& slot, std::uint32_t first_warp, std::uint32_t warps) {
  const auto is_saved = [&](const auto& saved) { return saved->slot == &slot; };
  if (std::ranges::any_of(saved_, is_saved)) return;
  auto saved = std::make_unique<Saved>();
  saved->slot = &slot;
  saved->progress = slot;
  if (launch_.program().has_named_barriers) saved->barriers = slot.barriers;
  saved->objects = slot.objects;
  saved->first_warp = first_warp;
  for (std::uint32_t index = 0; index < warps; ++index) {
    Warp& warp = slot.warps[first_warp + index];
    saved->warps.push_back(
        {warp, warp.fragments, warp.words, warp.wides, warp.predicates, warp.undefined.take()});
  }
  saved_.push_back(std::move(saved));
}

void Snapshot::restore() {
  launch_.restore_time(progress_);
  changes_.undo(0);
  restore_blocks();
  cluster_barriers_.restore(clusters_);
}

void Snapshot::restore_blocks() {
  for (const std::unique_ptr<Saved>& saved : saved_) {
    Slot& slot = *saved->slot;
    static_cast<SlotProgress&>(slot) = saved->progress;
    if (launch_.program().has_named_barriers) slot.barriers = std::move(saved->barriers);
    slot.objects = std::move(saved->objects);
    for (std::size_t i = 0; i < saved->warps.size(); ++i) {
      Warp& warp = slot.warps[saved->first_warp + i];
      SavedWarp& copy = saved->warps[i];
      static_cast<WarpProgress&>(warp) = copy.progress;
      warp.fragments = std::move(copy.fragments);
      warp.words = std::move(copy.words);
      warp.wides = std::move(copy.wides);
      warp.predicates = std::move(copy.predicates);
      warp.undefined = std::move(copy.undefined);
    }
  }
  saved_.clear();
}

}  // namespace warpcheck::vgpu
