// The source lines of a program as a debugger sees them: breakpoints by line and by function, and
// what a step of one thread is compared with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/machine/state.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::cudart {

// A call that nvcc has inlined in unoptimised code.  The lines of its PTX do not say so, but the
// debug information does, which the debugger reads.
struct InlinedCall {
  std::uint32_t first_line = 0, end_line = 0;  // of the PTX text: the function's code
  std::string function;                        // mangled
  std::string file;                            // of the call, as nvcc recorded it
  std::uint32_t line = 0;
};

// What a step of one thread is compared with.
struct StepKey {
  const vgpu::Program* program = nullptr;
  std::uint32_t depth = 0;  // user functions around it, called or inlined
  std::uint32_t file = ptx::kNone, line = 0;
  bool is_in_library = false;   // all of the function's code around it is in headers of libraries
  bool is_in_prologue = false;  // of a called function: its parameters have no values yet
  // Returns whether a step from there, of a line, may end here: code of libraries and prologues are
  // passed over.
  [[nodiscard]] bool may_end(const StepKey& from) const {
    return (!is_in_library || from.is_in_library) && !is_in_prologue;
  }
  // In code without lines, each instruction is one.
  [[nodiscard]] bool is_line_of(const StepKey& other) const {
    return line != 0 && program == other.program && file == other.file && line == other.line;
  }
};

// The lines of a program, which are asked for at each step of a thread.
class ProgramLines {
 public:
  explicit ProgramLines(const vgpu::Program& program, const std::vector<InlinedCall>& calls = {});
  // The source location of an instruction, and the places where its code was inlined into its
  // function, the innermost one first.  SourceLocation::function: index into inlined_functions().
  [[nodiscard]] const std::vector<ptx::SourceLocation>& chain_of(std::uint32_t pc) const {
    return chains_[pc];
  }
  [[nodiscard]] const std::vector<std::string>& inlined_functions() const { return names_; }
  // The innermost place that is not in a library's header.
  [[nodiscard]] const ptx::SourceLocation& user_place_of(std::uint32_t pc) const;
  [[nodiscard]] StepKey key_of(const vgpu::Fragment& fragment, std::uint32_t pc) const;
  // Returns the pcs at which a run of code of the line begins, also of code that is inlined there;
  // and the line, which is the next one with code in the function if it has none itself.
  //   file: a path that a recorded path is, or ends with after a "/", or the other way round
  struct Starts {
    std::vector<std::uint32_t> pcs;
    std::uint32_t line = 0;  // 0: the program has no code there
  };
  [[nodiscard]] Starts starts_of(const std::string& file, std::uint32_t line) const;
  // Returns where the kernel begins if its name contains the text, in unoptimised code behind its
  // prologue; the bodies of called functions of that name, which may lack scopes before it and
  // template arguments; and where a run of code of such a function begins that was inlined.
  [[nodiscard]] std::vector<std::uint32_t> starts_of_function(const std::string& name) const;

 private:
  [[nodiscard]] std::uint32_t body_of(std::uint32_t function) const;
  // Of the calls of inlined functions at the pc whose names are meant, the outermost one.
  [[nodiscard]] const ptx::SourceLocation* call_at(std::uint32_t pc,
                                                   const std::vector<bool>& is_meant) const;
  [[nodiscard]] bool has(std::uint32_t pc, const std::vector<bool>& files,
                         std::uint32_t line) const;
  [[nodiscard]] std::uint32_t next_line(const std::vector<bool>& files, std::uint32_t line) const;

  void insert(const std::vector<InlinedCall>& calls);
  [[nodiscard]] bool is_users(const ptx::SourceLocation& at) const {
    return at.file >= is_users_.size() || is_users_[at.file];
  }

  const vgpu::Program& program_;
  std::vector<std::vector<ptx::SourceLocation>> chains_;  // by pc
  std::vector<std::string> names_;                        // mangled
  std::vector<bool> is_users_;                            // by file
  std::vector<bool> is_in_prologue_;                      // by pc; of called functions
};

}  // namespace warpcheck::cudart
