// The checker for barrier divergence.  It reports four kinds of misuse: threads of one block wait
// at barriers that cannot be the same one; a thread bypasses a barrier at which others wait, and
// runs on; lanes of one warp execute warp operations that cannot be the same one; a barrier is used
// in a way that no barrier allows (PTX ISA 9.0, 9.7.9.6, 9.7.13.1, 9.7.13.15).
//
// From sm_70 on, a barrier does not wait for threads that have exited, so it is legal to leave the
// kernel before a barrier, and to do nothing more.  Where the code must also run on older devices
// (CheckerSet::portable), the checker reports it as a note.  Whole warps may meet at different
// barriers by the letter of PTX, not by that of the programming guide: that is a note, too.
#include "vgpu/check/checker.hpp"
#include "vgpu/check/checkers.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {
namespace {

using Reason = BarrierDivergence::Reason;

// An operation across the lanes of a warp waits for lanes, and not for threads of the block.
constexpr std::string_view kPassedByOfWarp =
    "(1) waits for the lanes that its mask names, and one of them, (2), has passed it by: (2) has "
    "run on behind it, and never takes part";

// The texts of a finding for each reason: the roles of the two sides and the message.  `other` is
// empty for a finding with one side.
struct Text {
  std::string_view one, other, message;
};

Text text_of(Reason reason) {
  switch (reason) {
    case Reason::different_barriers:
      return {"wait", "wait", "(1) and (2) wait at different barriers"};
    case Reason::by_role:
      return {
          "wait", "wait",
          "(1) and (2) wait at different barriers: PTX lets whole warps meet so, the programming "
          "guide wants all threads of a block to take the same branch"};
    case Reason::different_iterations:
      return {"wait", "wait",
              "(1) and (2), lanes of one warp, wait at one barrier in different iterations of a "
              "loop, or in different calls"};
    case Reason::passed_by:
      return {"wait", "run",
              "(1) waits at a barrier that (2) has passed by: (2) has run on behind it, and never "
              "arrives"};
    case Reason::exited:
      return {"wait", "exit",
              "(1) waits for all threads of its block, and (2) has exited: devices before sm_70 "
              "need every thread of a warp that waits"};
    case Reason::different_counts:
      return {"wait", "wait", "(1) and (2) arrive at one barrier for different numbers of threads"};
    case Reason::different_uses:
      return {"wait", "wait", "one of (1) and (2) reduces at the barrier at which the other waits"};
    case Reason::bad_count:
      return {"wait", "", "(1) names a number of threads that the barrier cannot be for"};
    case Reason::bad_number: return {"wait", "", "(1) names a barrier that does not exist"};
    case Reason::no_object: return {"wait", "", "(1) uses an mbarrier that is not initialised"};
    case Reason::too_many_arrivals:
      return {"wait", "", "(1) arrives more often than the phase of the mbarrier waits for"};
    case Reason::not_a_member:
      return {"wait", "", "(1) takes part in an operation of its warp whose mask does not name it"};
    case Reason::elsewhere:
      return {"wait", "wait", "(1) waits for a lane of its warp that waits elsewhere, (2)"};
    case Reason::arrived_already:
      return {"wait", "",
              "(1) arrives again at the barrier of its cluster, and has not waited since"};
    case Reason::not_arrived:
      return {"wait", "", "(1) waits at the barrier of its cluster, at which it has not arrived"};
    case Reason::part_of_warpgroup:
      return {"run", "exit",
              "all threads of a warpgroup must execute (1), and one of them, (2), has executed it "
              "less often, or never"};
    case Reason::unlike_in_warpgroup:
      return {"run", "exit",
              "all threads of a warpgroup must execute (1), and one of them, (2), has executed it "
              "in another form"};
    case Reason::no_fence:
      return {"run", "",
              "(1) is the first product of its warp, and no wgmma.fence comes before it: its "
              "registers need not have the values that the thread has given them"};
  }
  return {};
}

class BarrierChecker final : public Checker {
 public:
  using Checker::Checker;
  [[nodiscard]] Watched watches() const override { return Watched::rare(); }
  void configure(const CheckerSet& set) override { notes_exits_ = set.portable; }

  void on_barrier_divergence(const BarrierDivergence& divergence) override {
    const bool is_exit = divergence.reason == Reason::exited;
    if (is_exit && !notes_exits_) return;
    const Program& program = *divergence.program;
    const auto reason = static_cast<std::uint32_t>(divergence.reason);
    // Of those that pass a barrier by, one is enough.
    const std::uint32_t other_pc = divergence.reason == Reason::passed_by ? 0 : divergence.other_pc;
    reporter_.report({&program, divergence.pc, other_pc, reason}, [&] {
      const Text text = text_of(divergence.reason);
      Finding finding;
      finding.kind = FindingKind::barrier_divergence;
      const bool is_note = is_exit || divergence.reason == Reason::by_role ||
                           divergence.reason == Reason::unlike_in_warpgroup;
      if (is_note) finding.severity = Severity::note;
      finding.kernel = kernel_name(program.kernel);
      finding.accesses = {reporter_.side(text.one, program, divergence.pc,
                                         thread_of(divergence.place, divergence.lane))};
      if (!text.other.empty()) {
        const bool is_elsewhere = divergence.other_block != ptx::kNone;
        const ThreadId other{is_elsewhere ? divergence.other_block : divergence.place.block,
                             divergence.other_warp * kWarpLanes + divergence.other_lane};
        finding.accesses.push_back(reporter_.side(text.other, program, divergence.other_pc, other));
      }
      finding.message = text.message;
      const bool is_of_warp = program.code[divergence.pc].kind == InstrKind::warp_sync;
      if (is_of_warp && divergence.reason == Reason::passed_by) finding.message = kPassedByOfWarp;
      return finding;
    });
  }

 private:
  bool notes_exits_ = false;
};

}  // namespace

std::unique_ptr<Checker> make_barrier_checker(Reporter& reporter) {
  return std::make_unique<BarrierChecker>(reporter);
}

}  // namespace warpcheck::vgpu
