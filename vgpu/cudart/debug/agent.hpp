// The side of a debugger inside the process that it debugs: an observer that counts steps, stops
// inside its callback, and answers questions there until it is told to go on.
//
// A position is the number of a step, counted over the whole run; at position n, step n is about to
// be executed.  While the process runs, the agent forks checkpoints of it.  A checkpoint waits for
// the debugger, which lets it fork a copy that runs on from there; the process itself never goes
// back.  So the program's output is written once, by the process itself: a copy writes to nowhere,
// and the debugger runs it no further than the process has come.
//
// The debugger (cli/debug) decides what all of this is for; messages are JSON, one a line.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "vgpu/check/finding.hpp"
#include "vgpu/cudart/debug/copies.hpp"
#include "vgpu/cudart/debug/stop_rules.hpp"
#include "vgpu/cudart/device/message_link.hpp"
#include "vgpu/machine/observer.hpp"

namespace warpcheck::cudart {

class DebugAgent final : public vgpu::Observer {
 public:
  //   path: of the debugger's socket
  //   in_copy: is called in each copy of the process, before it does anything else
  DebugAgent(std::string path, std::function<void()> in_copy);

  // A checker has found something.
  void found(const vgpu::Finding& finding);
  // The run has ended.  Returns when the debugger has no more questions.
  void end();

  [[nodiscard]] vgpu::Watched watches() const override { return {.steps = true}; }
  void on_step(const vgpu::InstrStep& step) override;
  void on_access(const vgpu::Access& access) override;
  bool takes_row(const vgpu::RowAccess& row) override {
    return !watches_accesses_ ||
           (!side_ &&
            !rules_.may_touch(*row.allocation, owner_of(*row.allocation, row.place.block)));
  }
  void on_sync(const vgpu::Sync& sync) override;
  void on_host_access(const vgpu::HostAccess& access) override;

 private:
  // What is looked for to find the accesses of a finding again.
  struct Side {
    std::string object;  // of the finding: its bytes; empty: a side
    DebugThread thread;
    std::uint32_t pc = 0;
    std::optional<StopRule> place;  // bytes that the side touches; none: not known
  };

  // Returns the block whose memory it is: blocks of a cluster access each other's shared memory.
  [[nodiscard]] std::uint32_t owner_of(const vgpu::Allocation& allocation,
                                       std::uint32_t accessing) const;
  void look_for_side(const vgpu::Access& access);
  void leave_child();
  // A program is about to run for the first time.
  void learn(const vgpu::Program& program);
  [[nodiscard]] const vgpu::Program& program_of(const nlohmann::json& number) const;
  void look();
  void consider(const vgpu::InstrStep& step);
  void make_checkpoint();
  void wait_as_checkpoint(const FilePlaces& places);
  void begin_run(const nlohmann::json& request);
  // Tells where the process stops, and answers questions until it is to go on.
  void stop(nlohmann::json message);
  void serve();
  [[nodiscard]] nlohmann::json answer_to(const nlohmann::json& question);
  [[nodiscard]] nlohmann::json key_of(const nlohmann::json& question);
  // The stop's message: the reason and the place.
  [[nodiscard]] nlohmann::json stop_for(const char* reason);
  // The process is where rules apply: it stops, or notes the place.
  void hit(const char* reason, const std::vector<const StopRule*>& rules, nlohmann::json data);
  void send(const nlohmann::json& message);
  std::uint32_t number_of(const vgpu::Program& program);

  std::string path_;
  std::function<void()> in_copy_;
  MessageLink link_;
  int process_;  // a child that the program forks is not debugged
  bool is_copy_ = false, is_off_ = false, has_ended_ = false;

  std::uint64_t position_ = 0;
  std::uint64_t look_at_ = 1;  // the position at which look() is called next
  // The user has seen this: it does not stop the run again.
  std::uint64_t seen_ = 0;           // the instruction at this position
  std::uint64_t seen_data_ = 0;      // its access
  std::uint64_t seen_findings_ = 0;  // so many findings
  vgpu::InstrStep step_;             // the latest; without a launch if none is running
  const vgpu::Program* program_ = nullptr;
  std::map<const vgpu::Program*, std::uint32_t> numbers_;  // of programs, in order of their steps
  std::uint64_t findings_ = 0;

  // What the debugger has asked for.
  std::uint64_t until_ = 0;  // stop at this position; 0: none
  // The process ends by itself after the step before until_, and tells nothing more.
  bool ends_by_itself_ = false;
  bool records_ = false;  // note the latest place where rules apply instead of stopping
  StopRules rules_;
  std::optional<Follow> follow_;
  std::optional<Side> side_;
  bool watches_accesses_ = false;
  std::uint64_t last_ = 0;                                 // the latest noted position; 0: none
  std::string last_hit_;                                   // as JSON, what was there
  std::chrono::steady_clock::time_point checkpoint_at_{};  // when the next one is due
};

}  // namespace warpcheck::cudart
