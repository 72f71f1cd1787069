// Tells which values end a loop that polls.
//
// A thread that waits for a counter or a stage (`while (load(count) < target);`) may go on as soon
// as one write has brought a value that ends its loop.  In this execution it may look much later,
// when other threads have gone on and have written the word again.  What those have released by
// then is nothing that the thread can rely on.  So the order between them must be that of the first
// write that ends the loop (SyncVariables).
//
// A thread that uses the value after the loop (it takes all that a counter announces) goes on
// differently with another value, so it is ordered after the write that it has read.
//
// Whether a value ends the loop follows from the code between the load and its loop's branch.  That
// code is computed with a copy of the registers, if it only computes and pauses.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "vgpu/machine/access.hpp"
#include "vgpu/machine/state.hpp"

namespace warpcheck::vgpu {

class PollExits {
 public:
  void reset() { *this = {}; }
  // Returns whether an atomic operation of the program may be such a load (polls()).
  [[nodiscard]] static bool may_poll_by_atomics(const Program& program);
  // Returns whether the access is a strong load, or an atomic operation that changes nothing, whose
  // value decides whether its loop ends, and nothing else.
  bool polls(const Access& access);
  // For such an access: returns whether the lane would leave its loop if it found `value`; nothing
  // if it would do more than compute before it leaves, or polls again.
  std::optional<bool> ends(const Access& access, unsigned lane, std::uint64_t value);

 private:
  // The innermost loop around an access that polls; or the code behind an access that nvcc has put
  // in front of its loop.
  struct Poll {
    bool is_one = false;
    bool is_in_loop = false;
    std::uint32_t begin = 0, last = 0;                   // pcs
    std::uint32_t words = 0, wides = 0, predicates = 0;  // bytes of the banks that it uses
  };
  using Polls = std::vector<std::unique_ptr<const Poll>>;  // by pc; null: not known yet
  const Poll& poll_of(const Access& access);
  [[nodiscard]] static Poll find(const Program& program, std::uint32_t pc);

  std::map<const Program*, Polls> polls_;
  const Program* latest_ = nullptr;
  Polls* of_latest_ = nullptr;
  RowBank words_, wides_, predicates_;  // of ends()
};

}  // namespace warpcheck::vgpu
