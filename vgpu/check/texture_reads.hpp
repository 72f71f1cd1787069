// The checker for texture and surface reads of bytes that the same launch has written.
//
// CUDA C++ Programming Guide, "Read/Write Coherency": texture and surface memory is cached, and the
// cache is not kept coherent with writes to global memory and to surfaces within a kernel call.  So
// a fetch or surface read from an address that the same kernel call has written is undefined, even
// if synchronization orders the two and even within one thread.  If nothing orders two threads, the
// race checker reports a data race besides.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "vgpu/check/checker.hpp"

namespace warpcheck::vgpu {

class TextureReadChecker final : public Checker {
 public:
  using Checker::Checker;

  [[nodiscard]] bool watches_accesses() const override { return false; }
  [[nodiscard]] bool watches_blocks() const override { return false; }
  // True only for programs that read through textures or surfaces.
  [[nodiscard]] bool watches_accesses_of(const Program& program) const override;
  void reset(WarpModel /*model*/) override { written_.clear(); }
  void on_sync(const Sync& sync) override;
  bool passes_over(const Sync& /*kernel_start*/) override { return true; }
  void on_access(Access& access) override;
  // RowAccess events are loads and stores; a texture read is never one.
  bool takes_row(const RowAccess& row) override {
    return row.space != ptx::Space::global || row.kind == AccessKind::read;
  }
  bool lends_notes(std::uint32_t /*slot*/, RowNotes& /*notes*/) override {
    return true;  // shared memory does not matter here
  }
  void on_free(const Allocation& allocation) override { written_.erase(&allocation); }

 private:
  // Which bytes of an aligned 4-byte word were written in a launch, and the last thread that wrote
  // one.
  struct Word {
    std::uint32_t pc = 0;
    std::uint32_t block = 0;
    std::uint16_t launch = 0;  // 0: no launch
    std::uint16_t thread : 12 = 0;
    std::uint16_t bytes : 4 = 0;
  };

  void record(const Access& access, std::vector<Word>& words) const;
  void report(const Access& access, unsigned lane, const Word& word);

  std::uint16_t launch_ = 0;  // restarts at 1 before it would overflow
  std::unordered_map<const Allocation*, std::vector<Word>> written_;
};

}  // namespace warpcheck::vgpu
