// Stacks that grow, for recursion and alloca (PTX ISA 9.0, 9.7.17).
//
// Rows of registers and local memory are created as calls need them.  Local memory is limited like
// the stack of a real device (cudaLimitStackSize).  A real device also saves registers there; here
// registers have separate rows, and each call counts kCallBytes for them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"

namespace warpcheck::vgpu {

class Stacks {
 public:
  explicit Stacks(RunningLaunch& launch) : launch_(launch) {}

  // Sets up the stack of a warp that begins.
  void start(Warp& warp) {
    warp.local_bytes = launch_.program().local_bytes_max;
    warp.fragments.front().local_top = launch_.program().functions.front().local_bytes;
    if (warp.local_bytes != 0 || !warp.local_beyond.empty()) start_local(warp);
  }
  // Makes room for the fragment's frame and the parameters of its calls, and for `local_top` bytes
  // per lane.  False: the stack overflows, and the launch has ended.
  bool grow(RunningFragment& run, const Fragment& fragment, std::uint64_t local_top);
  // Lanes give back their local memory from `begin` up to `end`.
  void release(const Warp& warp, std::uint32_t begin, std::uint32_t end, std::uint32_t mask) const {
    if (begin != end) [[unlikely]]
      report_release(warp, begin, end, mask);
  }
  // Executes alloca, stacksave, stackrestore.
  Step move(RunningFragment& run, std::size_t index, const Instr& instr);

 private:
  void start_local(Warp& warp);
  void drop_pieces(Warp& warp);
  void report_release(const Warp& warp, std::uint32_t begin, std::uint32_t end,
                      std::uint32_t mask) const;
  [[nodiscard]] std::uint32_t limit() const;

  RunningLaunch& launch_;
};

}  // namespace warpcheck::vgpu
