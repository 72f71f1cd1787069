// The frames in which machine code runs (native_code.hpp): one for each warp whose lanes are
// together, and one for the other fragments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "vgpu/machine/access/accesses.hpp"
#include "vgpu/machine/native/native_code.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"
#include "vgpu/machine/warp/scalars.hpp"

namespace warpcheck::vgpu {

class NativeFrames {
 public:
  static constexpr std::uint32_t kWarpsMax = 32;  // per block

  //   loop: executes what machine code leaves to the interpreter
  NativeFrames(RunningLaunch& launch, Accesses& accesses, const Scalars& scalars,
               FragmentLoop& loop)
      : launch_(launch),
        accesses_(accesses),
        scalars_(scalars),
        loop_(loop),
        batches_(launch, accesses) {}

  // The frame of machine code for a warp whose lanes are together.  Valid for the launch, as long
  // as the memory that it points to does not move.
  struct OfWarp {
    [[nodiscard]] bool is_of(std::uint64_t its_launch, const Slot& slot, const Warp& warp,
                             const Fragment& fragment) const {
      return launch == its_launch && &run->warp == &warp && frame.shared == shared_of(slot) &&
             has_rows_of(warp) && word_base == fragment.word_base &&
             wide_base == fragment.wide_base && predicate_base == fragment.predicate_base &&
             run->local_base == fragment.local_base;
    }
    // Returns whether the rows of its warp have not moved.
    [[nodiscard]] bool has_rows_of(const Warp& warp) const {
      return words == warp.words.data() && wides == warp.wides.data() &&
             predicates == warp.predicates.data();
    }
    std::uint64_t launch = 0;  // RunningLaunch::number
    const std::byte *words = nullptr, *wides = nullptr, *predicates = nullptr;
    std::uint32_t word_base = 0, wide_base = 0, predicate_base = 0;  // those of the fragment
    std::optional<RunningFragment> run;
    NativeFrame frame;
  };
  OfWarp& of_warp(Slot& slot, Warp& warp, const Fragment& fragment) {
    const std::size_t at = std::size_t{slot.index} * kWarpsMax + warp.index;
    if (at < of_warps_.size() && of_warps_[at]->is_of(launch_.number(), slot, warp, fragment))
        [[likely]]
      return *of_warps_[at];
    return begin_warp(slot, warp, fragment);
  }
  // Returns the frame of a fragment, valid until the next call.
  [[gnu::always_inline]] NativeFrame& of_fragment(RunningFragment& run) {
    if (frame_is_of_ != launch_.number()) [[unlikely]] {
      frame_is_of_ = launch_.number();
      begin_launch(frame_);
    }
    begin_block(frame_, run);
    begin_observed(frame_);
    return frame_;
  }
  // Sets what depends on the observers, which may change while the block runs, for a warp whose
  // lanes are together; and the record to which rows are appended.
  [[gnu::always_inline]] void begin_noted(NativeFrame& frame, const RunningFragment& run) {
    const Observers& observers = launch_.observers();
    const std::vector<Observer*>& watching = observers.of_accesses;
    const bool are_known = frame.observers == &observers && frame.recorded_for == watching.data() &&
                           frame.recorded_for_count == watching.size();
    if (are_known) [[likely]]
      return;
    begin_observed(frame);
    begin_record(frame, run);
  }

 private:
  static std::byte* shared_of(const Slot& slot) {
    return slot.shared != nullptr ? slot.shared->data : nullptr;
  }
  OfWarp& begin_warp(Slot& slot, Warp& warp, const Fragment& fragment);
  void begin_launch(NativeFrame& frame) const;
  void begin_block(NativeFrame& frame, RunningFragment& run) const;
  [[gnu::always_inline]] void begin_observed(NativeFrame& frame) const {
    const Observers& observers = launch_.observers();
    frame.wants_edges = (observers.want_edges ? NativeFrame::kReportEdges : 0) |
                        (observers.tally != nullptr ? NativeFrame::kTallyEdges : 0);
    frame.is_watched = observers.watch_accesses() ? 1 : 0;
    frame.tally = observers.tally;
    frame.tally_of_rows = observers.tally_of_rows();
  }
  void begin_record(NativeFrame& frame, const RunningFragment& run);

  RunningLaunch& launch_;
  Accesses& accesses_;
  const Scalars& scalars_;
  FragmentLoop& loop_;
  RowBatches batches_;
  NativeFrame frame_;                              // of fragments
  std::uint64_t frame_is_of_ = 0;                  // the launch of its constant parts
  std::vector<std::unique_ptr<OfWarp>> of_warps_;  // kWarpsMax per slot
};

}  // namespace warpcheck::vgpu
