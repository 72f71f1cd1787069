// A debugging session: runs a case or a program under the debugger, forwards and backwards.
//
// Two processes: the front end, which has this class and is a terminal prompt or a server of the
// Debug Adapter Protocol, and the debuggee, whose agent (vgpu/cudart/debug) stops inside an
// observer and answers.  A run is deterministic, so a position, the number of a warp instruction of
// the whole run, names a state: at position n, instruction n is about to be executed.  The agent
// forks checkpoints while it runs; going back to a position runs the nearest one forward to it.
//
// A thread is CUDA's: a block and a thread.  Its warp executes the instructions; the lanes that are
// at an instruction together are "active" in a Stop.
//
// Use from one thread; only pause() may be called from another one, or from a signal handler.
// Every function throws DebugError with one line if it cannot do what it is asked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/check/finding.hpp"
#include "vgpu/program/dim3.hpp"

namespace warpcheck::debug {

class DebugError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Target {
  std::string case_file;             // empty: a program
  std::vector<std::string> program;  // the program and its arguments
  // Of a case: "optimized", "unoptimized", or empty: that of the case.
  std::string build;
  // Of a program: its schedule, as `exec` has it.
  std::string strategy = "default";
  std::uint64_t seed = 1;
  // Receives what the debuggee writes to its standard output ("stdout") and error ("stderr"), once,
  // while a function of the session runs.  Empty: it writes to those of this process.
  std::function<void(std::string_view stream, std::string_view text)> output;
};

struct Thread {
  Dim3 block{0, 0, 0}, thread{0, 0, 0};
  friend bool operator==(const Thread&, const Thread&) = default;
};

enum class Space : std::uint8_t { global, shared, local, constant, parameter };

// Where bytes are.  The offset is: global, constant: the device's address (that of generic pointers
// too); shared: bytes from the begin of the thread's block's shared memory; local: bytes in the
// thread's local memory; parameter: bytes in the parameters of the launch.
struct Place {
  Space space = Space::global;
  std::uint64_t offset = 0;
  Thread thread;  // shared, local
};

// A place in the code.
struct CodeLocation {
  std::string file;  // as nvcc recorded it; empty: not known
  std::uint32_t line = 0, column = 0;
  std::string function;        // of the device, demangled; empty: an inlined one without a name
  std::string linkage_name;    // mangled; that of the kernel or function that contains the code
  std::uint32_t pc = 0;        // index of the instruction in the decoded kernel
  std::uint32_t ptx_line = 0;  // in KernelText::ptx
  std::string instruction;     // "st.shared.u32 [%r2], %r16"
};

// A frame of a thread's stack, the innermost one first.  Code that nvcc inlined has frames of its
// own, without registers of their own: `physical` frames share one call.
struct Frame {
  CodeLocation at;
  bool is_inlined = false;       // an inlined function's; the next frame has its call
  std::uint32_t physical = 0;    // number of the called function's frame, 0 is the innermost
  std::uint64_t local_base = 0;  // of its local variables, an offset in Space::local
};

// "Ring<int, 4>::push", "scaled (inlined)"
inline std::string frame_name(const Frame& frame) {
  const std::string& function = frame.at.function;
  if (!frame.is_inlined) return function;
  return (function.empty() ? "a function" : function) + " (inlined)";
}

struct Register {
  std::string name;                  // as PTX names it: "%r1"
  std::string type;                  // "u32", "pred", "f32", "b64"
  std::uint32_t bytes = 4;           // of its value
  std::uint64_t bits = 0;            // its value; pred: 0 or 1
  std::uint64_t undefined_bits = 0;  // one bit each; not 0: computed from what was never written
};

// Bytes, from the beginning as far as they can be read.
struct Memory {
  std::vector<std::byte> bytes;
  std::vector<std::uint8_t> unwritten;  // beside bytes: the bits of each that nobody has written
  std::string why_short;                // not empty: why there are fewer bytes than were asked for
};

// A variable that PTX names: at module scope, in shared memory, a function's local depot, or a
// parameter of a kernel.
struct Symbol {
  std::string name;  // as PTX has it
  Place place;
  std::uint64_t bytes = 0;  // 0: not known (extern __shared__)
};

enum class StopReason : std::uint8_t {
  entry,            // before the first instruction
  step,             // the step that was asked for is complete
  position,         // go_to() has arrived
  breakpoint,       // Stop::breakpoints
  data_breakpoint,  // Stop::breakpoints, Stop::data: the access is about to happen
  finding,          // Stop::finding, a finding that is made by the instruction at the position
  pause,
  end,  // behind the last instruction: the case or the program has ended
};

// The access at which a data breakpoint stops.
struct DataAccess {
  std::string kind;                 // "reads", "writes", "updates" (an atomic), "the host writes"
  std::string object;               // "share[5]"
  Thread thread{};                  // the first of those that access the range
  std::vector<std::byte> before{};  // the bytes of the range, before; empty: not known
  std::optional<std::vector<std::byte>> after{};  // after a write; none: not known in advance
  std::vector<std::uint8_t> unwritten{};          // beside before: bits that nobody has written
};

struct FoundFinding {
  std::size_t index = 0;  // from 0, in the order in which they are made
  vgpu::Finding finding;
  std::uint64_t position = 0;                   // of the instruction that shows it
  std::vector<std::uint64_t> side_positions{};  // beside finding.accesses; 0: not known
};

struct Stop {
  StopReason reason = StopReason::entry;
  std::uint64_t position = 0;
  std::uint64_t position_max = 0;  // the furthest position seen
  bool is_at_beginning = false;    // going back arrived at the beginning of the run
  // The instruction that is about to be executed.  Not valid at the end, nor at the entry.
  bool has_location = false;
  std::uint32_t launch = 0;  // from 0
  std::string kernel;        // short and demangled
  Dim3 grid{0, 0, 0}, block{0, 0, 0};
  Thread focus;
  std::uint32_t warp = 0;      // in its block
  std::uint32_t together = 0;  // lanes that are at the instruction together
  std::uint32_t active = 0;    // of them, those whose guard is true
  CodeLocation at;             // the user's line
  std::vector<int> breakpoints;
  std::optional<DataAccess> data;
  std::optional<FoundFinding> finding;
  int exit_status = 0;  // end: of a program; of a case, 0: nothing found
  std::string note;     // what else the user should know; may be empty
};

enum class StepKind : std::uint8_t {
  instruction,  // of the focus thread
  line_into,    // to another line, also in a called function
  line_over,    // to another line of this function, or of its caller
  out,          // to the caller; backwards: to the call
};
enum class Direction : std::uint8_t { forward, backward };

struct Breakpoint {
  enum class Kind : std::uint8_t { line, function, finding, data, instruction };
  Kind kind = Kind::line;
  std::string file{};  // line: a path that the recorded path is, or ends with after a "/"
  std::uint32_t line = 0;
  // function: a text that a kernel's name contains, for its first instruction of each warp; or the
  // name of a function that is called or inlined.  instruction: the kernel's name,
  // KernelText::name.
  std::string kernel{};
  std::uint32_t pc = 0;  // instruction: an index in KernelText::instructions
  // data: bytes from `place`.  Local memory: of that thread.  Shared: of that block.
  Place place{};
  std::uint32_t bytes = 4;
  bool reads = false, writes = true;
  // Asked in the front end for each active thread at a candidate stop, which may query the session,
  // and whose focus is that thread; true: stop there.  Empty: always.
  std::function<bool(const Stop& stop)> condition{};
  std::uint64_t ignore = 0;   // so many hits are passed by
  bool is_temporary = false;  // removed at its first stop
  bool is_enabled = true;
};

struct BreakpointState {
  int number = 0;
  Breakpoint breakpoint;
  std::uint64_t hits = 0;  // going forward
  // Lines where code is known; false: no loaded kernel has code there yet.
  bool is_verified = false;
  std::uint32_t actual_line = 0;  // line: the first at or after it that has code
};

struct LaneState {
  enum class Kind : std::uint8_t {
    ready,
    at_barrier,
    at_warp_operation,
    at_cluster_barrier,
    exited
  };
  Kind kind = Kind::ready;
  std::uint32_t barrier = 0;  // at_barrier: its number
  CodeLocation at{};          // not for exited
};

// Lanes of a warp in the same state at the same place.
struct LaneGroup {
  std::uint32_t lanes = 0;
  LaneState state;
};

struct WarpState {
  std::uint32_t warp = 0;   // in its block
  std::uint32_t lanes = 0;  // that exist
  std::vector<LaneGroup> groups{};
};

// A block that is resident: it has begun and not ended.
struct BlockState {
  Dim3 block{0, 0, 0};
  std::uint32_t barriers_passed = 0;
  std::vector<WarpState> warps{};
};

// The kernel that runs.
struct KernelText {
  std::string name;       // mangled
  std::string ptx;        // the whole text of its module, with its DWARF if it was built with -G
  bool is_debug = false;  // built with -G
  std::vector<std::string> files;  // source files of its code
  // Instructions of all its functions, by pc.
  struct Instruction {
    CodeLocation at;
    std::uint32_t function = 0;  // number of the function
  };
  std::vector<Instruction> instructions;
};

class DebugSession {
 public:
  // Starts the debuggee and runs it up to the first launch's first instruction.
  static std::unique_ptr<DebugSession> start(Target target);
  ~DebugSession();  // ends all processes of the debuggee
  DebugSession(const DebugSession&) = delete;
  DebugSession& operator=(const DebugSession&) = delete;

  // Where the debuggee is stopped.
  [[nodiscard]] const Stop& stop() const;
  // Chooses another thread; of another warp than the one that is about to run, too.
  void set_focus(const Thread& thread);

  // Run until the next stop, and return it.
  const Stop& continue_forward();  // from the entry: a breakpoint there is one, too
  const Stop& reverse_continue();  // to the latest stop before; to the entry if there is none
  const Stop& step(StepKind kind, Direction direction);  // of the focus thread
  const Stop& go_to(std::uint64_t position);
  const Stop& go_to_finding(std::size_t index, unsigned side);  // side: 1 or 2
  // Makes the running function stop soon; does nothing if none runs.
  void pause() noexcept;

  int add_breakpoint(Breakpoint breakpoint);  // returns its number, from 1
  void remove_breakpoint(int number);
  void enable_breakpoint(int number, bool is_enabled);
  void set_condition(int number, std::function<bool(const Stop&)> condition);
  void set_ignore(int number, std::uint64_t hits);
  [[nodiscard]] std::vector<BreakpointState> breakpoints();

  // Of the state at the stop.  A thread must be resident: its block has begun and not ended.
  [[nodiscard]] std::vector<Frame> frames(const Thread& thread);
  [[nodiscard]] std::vector<Register> registers(const Thread& thread, std::uint32_t physical = 0);
  // No such register: none.
  [[nodiscard]] std::optional<Register> register_of(const Thread& thread, std::string_view name,
                                                    std::uint32_t physical = 0);
  [[nodiscard]] Memory memory(const Place& place, std::uint64_t bytes);
  // The space and place that a generic address of a thread names; none: no memory is there.
  [[nodiscard]] Place resolve(const Thread& thread, std::uint64_t generic_address);
  // The function of the device that a pointer to functions names, demangled; empty: it names none.
  [[nodiscard]] std::string function_at(std::uint64_t address);
  // A name of PTX as it is seen from a frame; none: there is no such variable.
  [[nodiscard]] std::optional<Symbol> symbol(std::string_view name, const Thread& thread,
                                             std::uint32_t physical = 0);
  [[nodiscard]] std::vector<BlockState> blocks();
  [[nodiscard]] std::vector<FoundFinding> findings();  // up to the furthest position seen
  // The running kernel's; valid until the session goes on.
  [[nodiscard]] const KernelText& kernel_text();
  [[nodiscard]] std::vector<std::string> source_files();  // of the kernels seen so far
  // What memory the checkpoints take, and how many there are: "7 checkpoints, 12 MiB".
  [[nodiscard]] std::string checkpoints();

 private:
  struct Impl;
  explicit DebugSession(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace warpcheck::debug
