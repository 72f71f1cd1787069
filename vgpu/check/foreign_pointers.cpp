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
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "vgpu/check/checker.hpp"
#include "vgpu/check/order/clocks/bits.hpp"
#include "vgpu/check/order/running_launch_state.hpp"
#include "vgpu/check/race/race_lack.hpp"
#include "vgpu/machine/memory/rows.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::uint32_t kPointerBytes = 8;
// A use within these bytes from a pointer is one of that pointer.
constexpr std::uint64_t kObjectBytesMax = 4096;

bool is_in(std::uint64_t pointer, std::uint64_t window) { return pointer - window < kWindowBytes; }

class ForeignPointerChecker final : public Checker {
 public:
  using Checker::Checker;

  [[nodiscard]] Watched watches() const override { return {.blocks = false}; }
  [[nodiscard]] bool may_be_split() const override { return true; }

  [[nodiscard]] bool watches_accesses_of(const Program& program) const override {
    return program.hands_on_pointers;
  }

  void reset(WarpModel /*model*/) override { state_.reset(); }

  void on_sync(const Sync& sync) override {
    if (!state_.begins_at(sync)) return;
    state_->clear();
    state_->program = sync.program;
  }

  void resumes(const ResumedLaunch& resumed) override { state_.resume(resumed.launch); }

  void on_access(const Access& access) override {
    const bool is_used =
        state_->program->code[access.pc].is_read_address && !state_->foreign.empty();
    if (is_used && access.space != ptx::Space::global) use(access);
    if (access.space != ptx::Space::global && access.space != ptx::Space::shared) return;
    access.kind == AccessKind::read ? load(access) : store(access);
  }

  bool takes_row(const RowAccess& row) override {
    const Instr& instr = state_->program->code[row.pc];
    if (row.space == ptx::Space::local) return state_->foreign.empty() || !instr.is_read_address;
    if (row.kind == AccessKind::write) return !instr.hands_on && !has_stored_in(*row.allocation);
    const bool may_read = row.element_bytes == kPointerBytes && has_stored_in(*row.allocation);
    const bool may_use =
        row.space == ptx::Space::shared && instr.is_read_address && !state_->foreign.empty();
    return !may_read && !may_use;
  }

  void on_free(const Allocation& allocation) override {
    state_.for_each([&](State& state) {
      std::map<Place, Stored>& stored = state.stored;
      stored.erase(stored.lower_bound({allocation.id, 0}),
                   stored.upper_bound({allocation.id, ~0u}));
    });
  }

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

  [[nodiscard]] bool has_stored_in(const Allocation& allocation) const {
    const auto first = state_->stored.lower_bound({allocation.id, 0});
    return first != state_->stored.end() && first->first.first == allocation.id;
  }

  void store(const Access& access) {
    const bool hands_on =
        state_->program->code[access.pc].hands_on && access.value_bytes == kPointerBytes;
    if (!hands_on && state_->stored.empty()) return;
    const std::uint32_t id = access.allocation->id;
    for_each_bit(access.mask, [&](unsigned lane) {
      const std::uint32_t begin = access.offset[lane], end = begin + access.bytes;
      // What is overwritten, also in part.
      const std::uint32_t before = begin - std::min(begin, kPointerBytes - 1);
      state_->stored.erase(state_->stored.lower_bound({id, before}),
                           state_->stored.lower_bound({id, end}));
      if (!hands_on) return;
      for (std::uint32_t i = 0; i < access.elements(); ++i) {
        std::uint64_t pointer = 0;
        std::memcpy(&pointer, access.values[i] + lane * kPointerBytes, sizeof pointer);
        const bool is_of_block =
            is_in(pointer, kSharedWindow) && access.space == ptx::Space::global;
        if (!is_of_block && !is_in(pointer, kLocalWindow)) continue;
        state_->stored[{id, begin + i * kPointerBytes}] = {pointer, thread_of(access.place, lane),
                                                           access.pc};
      }
    });
  }

  void load(const Access& access) {
    if (access.element_bytes != kPointerBytes || state_->stored.empty()) return;
    for_each_bit(access.mask, [&](unsigned lane) {
      const std::uint32_t begin = access.offset[lane];
      const ThreadId who = thread_of(access.place, lane);
      for (std::uint32_t at = begin; at < begin + access.bytes; at += kPointerBytes) {
        const auto found = state_->stored.find({access.allocation->id, at});
        if (found == state_->stored.end()) continue;
        const Stored& stored = found->second;
        // The next block of the slot has the same shared memory.
        if (access.space == ptx::Space::shared && stored.owner.block != who.block) continue;
        const Owner reader = owner_of(stored.pointer, who);
        if (owner_of(stored.pointer, stored.owner) == reader) {
          state_->own.insert({reader, stored.pointer});
        } else {
          state_->foreign.try_emplace({reader, stored.pointer}, stored);
        }
      }
    });
  }

  void use(const Access& access) {
    const bool is_local = access.space == ptx::Space::local;
    for_each_bit(access.mask, [&](unsigned lane) {
      const ThreadId who = thread_of(access.place, lane);
      const std::uint64_t pointer = is_local ? kLocalWindow + offset_in_lane(access.offset[lane])
                                             : kSharedWindow + access.offset[lane];
      const Owner user = owner_of(pointer, who);
      auto next = state_->foreign.upper_bound({user, pointer});
      if (next == state_->foreign.begin()) return;
      const auto& [read, stored] = *--next;
      if (read.first != user || pointer - read.second >= kObjectBytesMax) return;
      if (!state_->own.contains(read)) report(access, lane, stored);
    });
  }

  void report(const Access& access, unsigned lane, const Stored& stored) {
    const Program& program = *access.program;
    reporter_.report({&program, access.pc, stored.pc, 0}, [&] {
      const bool is_local = access.space == ptx::Space::local;
      const ThreadId who = thread_of(access.place, lane);
      Finding finding;
      finding.kind = FindingKind::out_of_bounds;
      finding.space = space_name(access.space);
      finding.kernel = kernel_name(program.kernel);
      finding.accesses = {
          reporter_.side(role_at(program, access.pc, access.kind), program, access.pc, who),
          reporter_.side("write", program, stored.pc, stored.owner)};
      finding.message =
          is_local
              ? "(1) uses a pointer to a local variable of another thread, which (2) has "
                "stored: it leads to the local memory of (1)'s own thread"
              : "(1) uses a pointer to shared memory of another block, which (2) has stored: it "
                "leads to the shared memory of (1)'s own block";
      return finding;
    });
  }

  static Owner owner_of(std::uint64_t pointer, ThreadId who) {
    return {who.block, is_in(pointer, kSharedWindow) ? ptx::kNone : who.thread};
  }

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

}  // namespace

std::unique_ptr<Checker> make_foreign_pointers_checker(Reporter& reporter) {
  return std::make_unique<ForeignPointerChecker>(reporter);
}

}  // namespace warpcheck::vgpu
