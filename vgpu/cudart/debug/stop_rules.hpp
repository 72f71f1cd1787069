// Where a debugged run stops: breakpoints in the code, at data, and steps of one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "vgpu/cudart/debug/program_lines.hpp"
#include "vgpu/cudart/debug/thread_state.hpp"
#include "vgpu/machine/access.hpp"

namespace warpcheck::cudart {

// A breakpoint, as the debugger sends it.
struct StopRule {
  enum class Kind : std::uint8_t { line, function, finding, data, instruction };
  int number = 0;
  Kind kind = Kind::line;
  bool is_conditional = false;  // the debugger decides at each hit
  std::string file;             // line
  std::uint32_t line = 0;
  std::string kernel;    // function: its name; instruction: the kernel's mangled name
  std::uint32_t pc = 0;  // instruction
  // data; shared: of the block, local: of the thread
  ptx::Space space = ptx::Space::global;
  DebugThread thread;
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
  bool reads = false, writes = true;
};

// A step of one thread, followed while the program runs.
struct Follow {
  enum class Kind : std::uint8_t { instruction, line_into, line_over, out };
  Kind kind = Kind::instruction;
  DebugThread thread;
  StepKey from;
  // Going back: the position at which the latest step before began; 0: none was seen.
  std::uint64_t last = 0;
  // That is where the thread was seen first, so the step may have begun earlier.
  bool is_last_first = false;
  std::optional<StepKey> before;  // of the thread's previous instruction
  bool has_left = false;          // going forward: the thread leaves the kernel

  // The thread is about to execute an instruction.  Returns whether the step ends there, going
  // forward.
  [[nodiscard]] bool ends_at(const StepKey& key) const;
  // The same going back: notes where lines and calls begin.
  void pass(const StepKey& key, std::uint64_t position);
};

class StopRules {
 public:
  void set(const nlohmann::json& rules);
  // A program runs now.
  void enter(const vgpu::Program& program);
  [[nodiscard]] bool has_marks(std::uint32_t pc) const { return marks_->is_marked[pc] != 0; }
  // Returns the rules that apply at the pc.
  [[nodiscard]] std::vector<const StopRule*> at(std::uint32_t pc) const;
  [[nodiscard]] std::vector<const StopRule*> of_findings() const;
  [[nodiscard]] bool watches_data() const { return watches_data_; }
  // Returns whether an access to the allocation may concern a rule.
  //   owner: the block whose shared or local memory it is
  [[nodiscard]] bool may_touch(const vgpu::Allocation& allocation, std::uint32_t owner) const;
  // Returns the lanes whose access concerns a rule.
  [[nodiscard]] static std::uint32_t touching(const StopRule& rule, const vgpu::Access& access,
                                              std::uint32_t owner);
  // Where a lane's access begins, as rules have it.
  [[nodiscard]] static std::uint64_t offset_of(const vgpu::Access& access, unsigned lane);
  // The bytes of a lane's access as a rule, and a rule as the debugger sends it.
  [[nodiscard]] static nlohmann::json place_of(const vgpu::Access& access, unsigned lane,
                                               std::uint32_t owner);
  [[nodiscard]] static StopRule rule_of(const nlohmann::json& text);
  [[nodiscard]] const std::vector<StopRule>& all() const { return rules_; }
  // The lines with code that the line rules have in the programs so far: {number: line}.
  [[nodiscard]] const std::map<int, std::uint32_t>& lines() const { return lines_; }
  const ProgramLines& lines_of(const vgpu::Program& program);
  // Returns whether lines_of() knows what is inlined in the program, or nobody has said.
  [[nodiscard]] bool knows(const vgpu::Program& program) const {
    return programs_.contains(&program);
  }
  void set_inlined(const vgpu::Program& program, const std::vector<InlinedCall>& calls) {
    programs_[&program] = std::make_unique<ProgramLines>(program, calls);
  }

 private:
  std::vector<StopRule> rules_;
  std::string text_;  // of rules_
  const vgpu::Program* program_ = nullptr;
  // Where rules apply in a program.
  struct Marks {
    std::vector<std::uint8_t> is_marked;                   // by pc
    std::map<std::uint32_t, std::vector<std::size_t>> at;  // by pc: indices into rules_
  };
  std::map<const vgpu::Program*, Marks> marks_of_;  // of the programs that have run under the rules
  const Marks* marks_ = nullptr;                    // of program_
  std::map<int, std::uint32_t> lines_;
  bool watches_data_ = false;
  std::map<const vgpu::Program*, std::unique_ptr<ProgramLines>> programs_;
};

}  // namespace warpcheck::cudart
