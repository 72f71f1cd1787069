// Finds where numbers go wrong: the first NaN and the first infinity of finite operands,
// conversions that lose the value, indices of 32 bits that wrap, NaNs that a maximum or a
// comparison drops, and values that flushing to zero or a narrower format make zero.
//
// No rule of CUDA forbids any of them (IEEE 754 and PTX ISA 9.7.3 define each result), so the
// checker is off unless it is asked for, and it asks for more than the event: that somebody sees
// the value.  A special value is marked where it is made (tags.hpp), and followed through
// registers, memory and kernels.  It is a finding when the host reads it, or an address is made of
// it.  One that is selected away, or divided away (1 / inf), is none.  Neither are those that a
// program means: a NaN or an infinity that comes from the host or from a literal has no mark, and
// an operation hands it on without one.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "vgpu/check/checker.hpp"
#include "vgpu/check/numerics/origins.hpp"
#include "vgpu/check/numerics/tags.hpp"
#include "vgpu/check/numerics/value_plan.hpp"
#include "vgpu/check/shadow/host_shared_memory.hpp"
#include "vgpu/machine/step_filter.hpp"

namespace warpcheck::vgpu {

class NumericsChecker final : public Checker, public StepFilter {
 public:
  using Checker::Checker;
  void reset(WarpModel model) override;
  [[nodiscard]] Watched watches() const override { return {.trial_end = true, .steps = true}; }
  void resumes(const ResumedLaunch& resumed) override { origins_.begin_launch(resumed.launch); }
  void begins_beside(std::span<const std::uint32_t> suspended) override {
    is_beside_ = !suspended.empty();
  }
  void on_sync(const Sync& sync) override;
  const std::uint8_t* steps_of(const Program& program) override;
  void on_step(const InstrStep& step) override;
  void on_step_end(const InstrStep& step) override;
  [[nodiscard]] bool takes_row(const RowAccess& row) override;
  void on_access(const Access& access) override;
  void on_host_access(const HostAccess& access) override;
  void on_operand(const OperandAccess& access) override;
  void on_device_copy(const DeviceCopy& copy) override { memory_.copy(copy); }
  void on_allocate(const Allocation& allocation) override {
    memory_.clear(allocation);
    shared_.allocated(allocation);
  }
  void on_free(const Allocation& allocation) override;
  void on_trial_end(std::span<const Allocation* const> left) override;

 private:
  // A source of the instruction that is executed, as it was before.
  struct Source {
    const std::byte* row = nullptr;
    const RowTags* tags = nullptr;
    Ref ref{};
  };
  using Sources = std::array<Source, 3>;
  struct SavedSource {
    alignas(64) std::array<std::byte, kWideRowBytes> row{};
    RowTags tags{};
  };
  struct Waiting {
    std::uint32_t pc = 0, lanes = 0;
    LaneBanks registers{};
  };
  struct WarpState {
    TaggedRegisters tags;
    std::uint64_t block = 0;       // the serial number of the block that it belongs to
    std::vector<Waiting> waiting;  // lanes that wait at a shuffle for others
  };

  // Steps.
  WarpState& state_of(const InstrStep& step);
  const ValuePlan& plan_of(const InstrStep& step);
  void follow_tags(bool follows);
  [[nodiscard]] Sources sources_of(const InstrStep& step) const;
  void save_sources(const InstrStep& step);
  void execute(const InstrStep& step, const ValuePlan& plan);
  void set_results(const InstrStep& step, const ValuePlan& plan, const RowTags& tags);

  // Floats.
  void compute(const InstrStep& step, const ValuePlan& plan);
  Tag tag_of_result(const InstrStep& step, const ValuePlan& plan, const Sources& sources,
                    unsigned lane);
  void find_swallowed(const InstrStep& step, const ValuePlan& plan);
  void keep_undefined(const Sources& sources, std::uint32_t lanes, RowTags& tags);
  void find_flushed(const InstrStep& step, const ValuePlan& plan);
  void take_extreme(const InstrStep& step, const ValuePlan& plan);
  void round_to_integer(const InstrStep& step, const ValuePlan& plan);
  void compare(const InstrStep& step, const ValuePlan& plan);
  void multiply_matrices(const InstrStep& step, const ValuePlan& plan);
  void report_ignored(const InstrStep& step, Tag tag, unsigned lane, std::string_view how);
  void report_underflow(const InstrStep& step, unsigned lane, const std::string& what);
  void report_ignored_in_one_line();

  // Moves.
  void move(const InstrStep& step, const ValuePlan& plan);
  void select(const InstrStep& step, const ValuePlan& plan);
  static bool keeps(const Instr& instr, const ValuePlan& plan, const ValueOrigin& origin);
  Tag logarithm_of_zero(const InstrStep& step, unsigned lane);
  Tag inverse_of_zero(const InstrStep& step, const Source& source, unsigned lane);
  Tag outside_domain(const InstrStep& step, const ValuePlan& plan, unsigned lane, bool is_infinite);
  Tag beyond_bound(const InstrStep& step, const ValuePlan& plan, unsigned lane);
  Tag too_large_for_half(const InstrStep& step, const Source& source, unsigned lane);
  Tag divided_by_zero(const InstrStep& step, const Sources& sources, unsigned lane);
  RowTags made_by_move(const InstrStep& step, const ValuePlan& plan, const Sources& sources);
  void note_asked(const InstrStep& step);
  void shuffle(const InstrStep& step);

  // Integers.
  static bool cannot_wrap(const InstrStep& step);
  static std::int64_t divided_downwards(const InstrStep& step, const Sources& sources,
                                        std::int64_t truth, unsigned lane);
  void add_integers(const InstrStep& step, const ValuePlan& plan);
  void widen(const InstrStep& step, const ValuePlan& plan);
  void round_bfloat_up(const InstrStep& step, const ValuePlan& plan);
  void take_integer_extreme(const InstrStep& step, const ValuePlan& plan);
  [[nodiscard]] bool is_integer(const RowTags& tags, unsigned lane);
  void compare_integers(const InstrStep& step, const ValuePlan& plan);
  void use_address(const InstrStep& step);

  // Memory.
  std::uint32_t first_element(const Access& access);
  std::int64_t truth_of_loaded(Tag tag);
  void load(const Access& access);
  void store(const Access& access);
  [[nodiscard]] bool stores_special(const Access& access, std::uint32_t element,
                                    unsigned lane) const;
  void copy(const Access& access);
  void update(const InstrStep& step, const ValuePlan& plan);
  void update_element(const InstrStep& step, const ValuePlan& plan, unsigned lane);
  void find_old(const InstrStep& step, unsigned lane, RowTags& tags);
  void compare_float_bits(const InstrStep& step, unsigned lane);
  [[nodiscard]] Tag tag_in(const Allocation& allocation, Tag tag, const Access& access,
                           unsigned lane, std::uint32_t offset);
  void report_seen(const Allocation& allocation, std::uint32_t offset, std::uint32_t bytes,
                   std::string_view by);
  void report_shared(const Allocation& allocation);
  void print(const InstrStep& step);
  void forget_written_by_host();
  [[nodiscard]] Finding finding_of(const ValueOrigin& origin) const;

  ValueOrigins origins_;
  TaggedMemory memory_;
  HostSharedMemory shared_;
  // NaNs that are dropped, by the program and the two instructions.  Where that is in the line that
  // makes them, it may be the code of the toolkit that looks for them, and they are reported only
  // if the host does not see them.
  struct Ignored {
    Tag tag = 0;
    Finding finding;
    bool is_in_one_line = false;
    std::uint64_t times = 0;
  };
  std::map<std::tuple<const Program*, std::uint32_t, std::uint32_t>, Ignored> ignored_;
  struct Planned {
    std::string kernel;  // another program may have the address of one that was unloaded
    std::vector<ValuePlan> plans;
    std::vector<std::uint8_t> steps;  // steps_of()

    void need_steps(bool of_all);
  };
  Planned& planned_of(const Program& program);
  std::unordered_map<const Program*, Planned> plans_;
  std::unordered_map<const Warp*, WarpState> warps_;
  std::uint32_t launches_ = 0;
  bool is_beside_ = false;  // the next launch begins while others are suspended
  // There may be tags, so all steps are needed; before, those that may make a first one.
  bool follows_tags_ = false;

  // The instruction that is executed, if it accesses memory.
  std::optional<InstrStep> step_;
  const ValuePlan* plan_ = nullptr;
  WarpState* warp_ = nullptr;
  const Warp* warp_key_ = nullptr;
  const Program* planned_ = nullptr;
  const std::vector<ValuePlan>* plans_now_ = nullptr;
  bool is_saved_ = false;
  bool is_done_ = false;  // the instruction makes no tag
  std::array<SavedSource, 3> saved_;
  std::array<RowTags, kElementsMax> loaded_;
  bool has_loaded_ = false;        // some of these have tags
  std::uint32_t local_bytes_ = 0;  // of local memory that the instruction has accessed
  // What a copy has read: the tags of each two bytes, by lane.
  std::array<std::array<Tag, 8>, kWarpLanes> copied_{};
  std::optional<Access> updated_;  // what the atomic changes
};

}  // namespace warpcheck::vgpu
