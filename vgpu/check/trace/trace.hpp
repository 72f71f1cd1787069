// Observes launches and writes what ran to a file: an instruction a line, with the registers and
// memory of chosen lanes, the parting and meeting of lanes, barriers, decisions of the schedule,
// and findings where they occur.
//
// The steps of a launch are numbered whatever the filters show, so that the numbers of two traces
// of one run are the same.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vgpu/check/finding.hpp"
#include "vgpu/check/trace/trace_options.hpp"
#include "vgpu/check/trace/trace_printer.hpp"
#include "vgpu/machine/observer.hpp"
#include "vgpu/program/instr_text.hpp"

namespace warpcheck::vgpu {

class Trace final : public Observer {
 public:
  // path: of the file, which TraceFile::begin() has made; empty: standard output
  Trace(const TraceOptions& options, std::string path);

  // Shows the values of the threads of this finding, too.
  void show_threads_of(const Finding& finding);
  // A checker has found something, at the step that is being executed.
  void found(const Finding& finding);
  // The schedule makes a decision.
  void decided(const Decision& decision);
  // Writes the mark of the end.
  void end();
  // Returns why the file could not be written, an errno; 0: it could.
  [[nodiscard]] int error() const { return file_.error(); }

  [[nodiscard]] Watched watches() const override { return {.memory = false, .steps = true}; }
  [[nodiscard]] bool watches_accesses_of(const Program& program) const override {
    return !file_.is_full() && shows_kernel(options_, program.kernel);
  }
  void on_step(const InstrStep& step) override;
  void on_step_end(const InstrStep& step) override;
  void on_access(const Access& access) override;
  void on_sync(const Sync& sync) override;
  void on_meeting(const Meeting& meeting) override;
  void on_print(const Print& print) override;

 private:
  // The instruction that is being executed.
  struct Open {
    TraceStep step;
    InstrStep instr;
    std::uint32_t shown = 0;  // lanes
    std::vector<InstrText::Operand> operands;
    bool is_visible = false;
  };
  // An access, for the steps of a finding's sides.
  struct Recent {
    std::uint64_t number = 0, time = 0;
    WarpId warp;
    std::uint32_t pc = 0, mask = 0;
    std::vector<std::string> objects;  // by set bit of the mask
  };
  struct Thread {
    Dim3 block, thread;
  };

  [[nodiscard]] bool shows(const InstrStep& step);
  [[nodiscard]] std::uint32_t shown_lanes(const InstrStep& step) const;
  InstrText& text_of(const Program& program);
  void note_lanes(const InstrStep& step);
  void note_branch(const InstrStep& step);
  void leave_lanes(const WarpId& warp, std::uint32_t lanes);
  void add_event(TraceEvent::Kind kind, const WarpId& warp, std::string text);
  void note_kernel(const std::string& name, const Program& program);
  void close(bool is_done);
  template <typename Print>
  bool write(Print print);
  [[nodiscard]] TraceFinding of(const Finding& finding) const;
  [[nodiscard]] TraceFinding::Side side_of(const Finding& finding, const AccessSide& side) const;

  TraceOptions options_;
  TraceFile file_;
  std::unique_ptr<TracePrinter> printer_;
  std::map<const Program*, InstrText> texts_;
  std::map<std::pair<const Program*, std::uint32_t>, bool> line_shown_;
  std::vector<Thread> threads_;  // whose values are shown
  TraceTotals totals_;
  bool is_launch_shown_ = false;  // the running launch; false: none runs
  std::uint64_t number_ = 0;      // of the latest step in its launch
  Dim3 grid_, block_;
  std::optional<Open> open_;
  std::vector<TraceFinding> found_;  // during the open step
  // By warp: sets of lanes that were together at their latest step.
  std::map<WarpId, std::vector<std::uint32_t>> groups_;
  std::deque<Recent> recent_;
  bool has_ended_ = false;
};

}  // namespace warpcheck::vgpu
