// Texture and surface reads of what the same launch has written.
//
// CUDA C++ Programming Guide, "Read/Write Coherency": texture and surface memory is cached, and the
// cache is not kept coherent with writes to global memory and to surfaces within a kernel call.  A
// fetch or a surface read from an address that the same kernel call has written is undefined,
// whatever orders the two, and even in one thread.  Where nothing orders two threads, this is a
// data race besides.
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
  // Only programs that read through textures or surfaces are looked at.
  [[nodiscard]] bool watches_accesses_of(const Program& program) const override;
  void reset(WarpModel /*model*/) override { written_.clear(); }
  void on_sync(const Sync& sync) override;
  void on_access(Access& access) override;
  void on_free(const Allocation& allocation) override { written_.erase(&allocation); }

 private:
  // The last write of a byte in this launch.
  struct Write {
    std::uint32_t launch = 0;  // 0: there was none
    std::uint32_t pc = 0;
    ThreadId who;
  };

  void record(const Access& access, std::vector<Write>& bytes);
  void report(const Access& access, unsigned lane, const Write& write);

  std::uint32_t launch_ = 0;
  std::unordered_map<const Allocation*, std::vector<Write>> written_;
};

}  // namespace warpcheck::vgpu
