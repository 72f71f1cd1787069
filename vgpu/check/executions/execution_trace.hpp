// The trace of one execution: the accesses and fences that may matter to other threads, each by one
// thread, and the meetings of threads.
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

// An action of a thread that other threads may notice.
struct Event {
  enum class Effect : std::uint8_t {
    read,
    write,   // or an atomic operation that wrote
    reduce,  // an atomic operation whose old value is unused: those of one kind commute
    fence,   // fence.sc
  };
  TrialThread thread;
  std::uint32_t pc = 0;
  Effect effect = Effect::read;
  bool is_update = false;     // by an atomic operation: it directly follows the write that it read
  Reduction reduction;        // valid for reduce
  std::uint64_t address = 0;  // unique over the trial's global and shared memory
  std::uint32_t bytes = 0;
  // Weak memory: how many of the latest writes it left out, and how many it could have left out.
  std::uint32_t left_out = 0, depth = 0;

  [[nodiscard]] bool writes() const { return effect == Effect::write || effect == Effect::reduce; }
  // Returns whether both are the same instruction of the same thread at the same address.
  [[nodiscard]] bool is_same_step(const Event& other) const {
    return thread == other.thread && pc == other.pc && address == other.address &&
           bytes == other.bytes;
  }
};

struct Item {
  enum class Kind : std::uint8_t {
    launch,   // a launch begins, after everything before it
    meeting,  // what each of `members` did before comes before what any of them does next
    event,
    failed_poll,  // a read in an await that did not find the awaited value; it changes nothing
  };
  Kind kind = Kind::event;
  Event event{};
  std::vector<TrialThread> members{};
  std::size_t round = 0;  // event, failed_poll: differs for each round of an await
};

struct ExecutionTrace {
  std::vector<Item> items;
  std::string gap;       // not empty: why not all executions can be tried
  bool strayed = false;  // the requested order could not be kept
};

}  // namespace warpcheck::vgpu
