// What has to hold for a kernel without findings, as questions to the solver.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "vgpu/symbolic/launch_symbols.hpp"
#include "vgpu/symbolic/lockstep_order.hpp"
#include "vgpu/symbolic/prove_kernel.hpp"
#include "vgpu/symbolic/questions.hpp"
#include "vgpu/symbolic/walk.hpp"

namespace warpcheck::vgpu::symbolic {

class Obligations {
 public:
  Obligations(Symbols& symbols, Questions& questions, LaunchSymbols& launch,
              const ptx::Function& kernel)
      : symbols_(symbols), questions_(questions), launch_(launch), kernel_(kernel) {}

  // Each access is inside its array, and aligned.
  void check_accesses(const std::vector<Access>& accesses);
  // Finds loads whose values two threads have in common if they are of one place.  (In lockstep
  // a lane may store between two loads of others, without a barrier.)
  void note_loads(const std::vector<Access>& accesses);
  // Finds counters: numbers that atomic operations only increase, by the same step, at most once
  // for each thread and instruction.  Two threads are given different numbers by one.
  void note_counters(const std::vector<Access>& accesses, const FlowGraph& graph);
  [[nodiscard]] bool has_counters() const { return !counting_.empty(); }
  // Bounds what counters in shared memory give that a thread resets in the first interval.
  //   all: accesses of the whole kernel; first: those before the first barrier
  void note_resets(const std::vector<Access>& all, const std::vector<Access>& first);
  // Bounds what counters in global memory give that begin with known numbers.
  void note_first_values(const std::vector<Access>& accesses);
  // Lanes of a warp execute its operations together.
  void check_warp_steps(const std::vector<WarpStep>& steps);
  // No assertion is false.
  void check_assertions(const std::vector<FailedAssertion>& failed);
  // Which two threads of a block are compared.
  enum class Pairs : std::uint8_t { all, of_different_warps, of_one_warp, of_one_lockstep_warp };
  // Two threads of a block that were at the same barrier meet at the same next one, and do not race
  // until then.
  void check_interval(const WalkResult& interval, Pairs pairs = Pairs::all);
  // Barriers that one thread may wait at when another one has left the kernel.
  [[nodiscard]] const std::set<std::uint32_t>& left_barriers() const { return left_barriers_; }
  // For the pairs of one warp in lockstep.
  void set_lockstep(const LockstepOrder* lockstep) { lockstep_ = lockstep; }
  // Threads of different blocks do not race.
  void check_blocks(const std::vector<Access>& accesses);

  // What was found; nothing: the kernel is proved.
  [[nodiscard]] const std::optional<KernelProof>& failure() const { return failure_; }
  [[nodiscard]] bool is_suspected() const {
    return failure_ && failure_->answer == Answer::suspected;
  }
  // Of the kinds that have been asked about, whether one cannot be excluded.
  [[nodiscard]] bool is_open(const std::string& kind) const { return open_.contains(kind); }

 private:
  enum class Apart : std::uint8_t { threads, blocks };
  // Two threads' conditions: `a` as it is, `b` with the other thread's symbols.
  struct Other {
    z3::expr_vector from, to;
  };

  Other other_thread(Apart apart);
  // A lane of the same warp, at the same step.
  Other other_lane(const WarpStep& step);
  Other with_own(const std::function<bool(const Symbol&)>& is_own);
  [[nodiscard]] z3::expr of_other(const Other& other, const z3::expr& term) const;
  [[nodiscard]] Path of_other(const Other& other, const Path& path) const;
  [[nodiscard]] z3::expr are_apart(const Other& other, Apart apart, Pairs pairs = Pairs::all);
  void check_races(const std::vector<Access>& accesses, Apart apart, Pairs pairs);
  // Whether lanes in lockstep do not race there; else what is true if they do.
  [[nodiscard]] bool are_ordered_in_lockstep(const Access& a, const Access& b, const Other& other,
                                             Path& given);
  // Whether the first thread of each block makes an access.
  [[nodiscard]] bool is_of_first_thread(const Access& access);
  // That the numbers which two threads got from one counter differ.
  void add_counters(Path& path, const Other& other, Apart apart);
  [[nodiscard]] z3::expr are_few_steps_apart(const Access& one, const z3::expr& distance,
                                             const z3::expr& threads);
  // That two threads which load from one place get the same number.
  //   goal: what is asked, besides the path
  void add_loads(Path& path, const Other& other, Apart apart, const z3::expr* goal = nullptr);
  // Whether two threads at one place of the code make the load between the same barriers.
  [[nodiscard]] bool is_of_one_interval(const Access& load, const Other& other);
  // Those whose values may be common to two threads.
  [[nodiscard]] static std::vector<Access> common_loads(const std::vector<Access>& accesses);
  // Whether offsets in products of unknowns differ, by their digits.
  bool have_different_digits(const Path& of_a, const z3::expr& x, const Path& of_b,
                             const z3::expr& y, const Path& given);
  [[nodiscard]] bool store_what_the_place_says(const Access& a, const Access& b, const Other& other,
                                               const Path& path);
  void check_race(const Access& a, const Access& b, const Other& other, Apart apart,
                  const Path& given);
  // `given` must not be possible together with the opposite of `goal`.
  void require(const Path& given, const z3::expr& goal, const std::string& kind,
               std::vector<std::uint32_t> instructions, const Other* other);
  void suspect(const Assignment& values, const std::string& kind,
               const std::vector<std::uint32_t>& instructions, const Other* other);
  void give_up(const std::string& kind, const std::string& reason,
               const ptx::SourceLocation& location);

  Symbols& symbols_;
  Questions& questions_;
  LaunchSymbols& launch_;
  const ptx::Function& kernel_;
  const LockstepOrder* lockstep_ = nullptr;
  // Plain loads of single integers: of the whole kernel, of arrays that nothing is stored to, and
  // of the interval that is looked at.
  std::vector<Access> loads_, constant_loads_, loads_of_interval_;
  bool relates_loads_ = false;
  std::vector<Access> counting_;  // operations of counters, in the walk of the whole kernel
  // Of a counter's object: how often a thread may increase it; absent: nobody knows.
  std::map<std::uint32_t, Integer> increases_of_thread_;
  std::vector<Access> counted_;  // those, and the same ones of what is looked at
  std::optional<KernelProof> failure_;
  std::set<std::string> open_;
  std::set<std::uint32_t> left_barriers_;
};

}  // namespace warpcheck::vgpu::symbolic
