// Stacks that grow: recursion, and alloca (PTX ISA 9.0, 9.7.17).
//
// Rows of registers and local memory are made as calls need them.  Local memory ends where the
// stack of a real device would (cudaLimitStackSize); registers, which a real device saves there,
// have rows of their own and count with kCallBytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"

namespace warpcheck::vgpu {

class Stacks {
 public:
  explicit Stacks(RunningLaunch& launch) : launch_(launch) {}

  // Of a warp that begins.
  void start(Warp& warp);
  // Makes room for the fragment's frame and the parameters of its calls, and for `local_top` bytes
  // a lane.  False: there is none, the launch is over.
  bool grow(RunningFragment& run, const Fragment& fragment, std::uint64_t local_top);
  // alloca, stacksave, stackrestore.
  Step move(RunningFragment& run, std::size_t index, const Instr& instr);

 private:
  void drop_pieces(Warp& warp);
  [[nodiscard]] std::uint32_t limit() const;

  RunningLaunch& launch_;
};

}  // namespace warpcheck::vgpu
