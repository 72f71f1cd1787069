// What one execution was made of: the accesses and fences that may matter to other threads, one
// thread at a time, and where threads met.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/program/flow/order_sources.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

struct TrialThread {
  std::uint32_t launch = 0;
  WarpId warp;
  std::uint32_t lane = 0;
  friend auto operator<=>(const TrialThread&, const TrialThread&) = default;
};

// What a thread does that others may notice.
struct Event {
  enum class Effect : std::uint8_t {
    read,
    write,   // or an atomic operation that wrote
    reduce,  // an atomic operation whose old value nobody uses: those of one kind commute
    fence,   // fence.sc
  };
  TrialThread thread;
  std::uint32_t pc = 0;
  Effect effect = Effect::read;
  bool is_update = false;     // of an atomic operation: it follows the write that it read
  Reduction reduction;        // reduce
  std::uint64_t address = 0;  // one number space for the trial's global and shared memory
  std::uint32_t bytes = 0;
  // Weak memory: how many writes it left out, and how many it could have left out.
  std::uint32_t left_out = 0, depth = 0;

  [[nodiscard]] bool writes() const { return effect == Effect::write || effect == Effect::reduce; }
  // Whether it is the same instruction of the same thread at the same place.
  [[nodiscard]] bool is_same_step(const Event& other) const {
    return thread == other.thread && pc == other.pc && address == other.address &&
           bytes == other.bytes;
  }
};

struct Item {
  enum class Kind : std::uint8_t {
    launch,   // one begins: after all that was before
    meeting,  // of `members`: what each did before comes before what any of them does next
    event,
    failed_poll,  // a read of an await that found what it did not wait for: it changes nothing
  };
  Kind kind = Kind::event;
  Event event{};
  std::vector<TrialThread> members{};
  std::size_t round = 0;  // event, failed_poll: another number for each round of an await
};

struct Trace {
  std::vector<Item> items;
  std::string gap;       // not empty: why its executions cannot all be tried
  bool strayed = false;  // the order that was asked for could not be kept
};

}  // namespace warpcheck::vgpu
