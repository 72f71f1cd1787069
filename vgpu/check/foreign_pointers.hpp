// The checker for pointers to memory of a thread or a block that another one uses.
//
// PTX ISA 5.1: local memory belongs to a thread, shared memory to a block (or a cluster).  An
// address of it that a thread hands to another one through memory leads, there, to the other
// thread's own memory.  The use is reported, not the handing over: a thread may store such a
// pointer for itself.
//
// Only launches of programs are watched in which the code shows that an address of a local variable
// is stored to other memory, or one of a shared variable to global memory (Instr::hands_on).  A use
// counts if its address was just read from memory (Instr::is_read_address) and the thread has read
// this pointer from what another one has stored, and never from what it has stored itself.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "vgpu/check/checker.hpp"
#include "vgpu/check/order/running_launch_state.hpp"

namespace warpcheck::vgpu {

class ForeignPointerChecker final : public Checker {
 public:
  using Checker::Checker;

  [[nodiscard]] Watched watches() const override { return {.blocks = false}; }
  [[nodiscard]] bool may_be_split() const override { return true; }
  [[nodiscard]] bool watches_accesses_of(const Program& program) const override;
  void reset(WarpModel /*model*/) override { state_.reset(); }
  void on_sync(const Sync& sync) override;
  void resumes(const ResumedLaunch& resumed) override { state_.resume(resumed.launch); }
  void on_access(const Access& access) override;
  bool takes_row(const RowAccess& row) override;
  void on_free(const Allocation& allocation) override;

 private:
  // A pointer that a thread has stored.
  struct Stored {
    std::uint64_t pointer = 0;
    ThreadId owner;
    std::uint32_t pc = 0;
  };
  using Place = std::pair<std::uint32_t, std::uint32_t>;  // allocation, offset
  // Local memory: of a thread; shared memory: of a block, thread kNone.
  using Owner = std::pair<std::uint32_t, std::uint32_t>;
  // Pointers by who has read them from memory.
  using Read = std::pair<Owner, std::uint64_t>;

  [[nodiscard]] bool has_stored_in(const Allocation& allocation) const;
  void store(const Access& access);
  void load(const Access& access);
  void use(const Access& access);
  void report(const Access& access, unsigned lane, const Stored& stored);
  static Owner owner_of(std::uint64_t pointer, ThreadId who);

  struct State {
    const Program* program = nullptr;
    std::map<Place, Stored> stored;
    std::map<Read, Stored> foreign;
    std::set<Read> own;
    void clear() {
      program = nullptr;
      stored.clear();
      foreign.clear();
      own.clear();
    }
  };
  RunningLaunchState<State> state_;
};

}  // namespace warpcheck::vgpu
