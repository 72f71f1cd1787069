// A finding: the result of a check as data.  Printers lay out its text elsewhere.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/program/dim3.hpp"

namespace warpcheck::vgpu {

enum class FindingKind : std::uint8_t {
#define FINDING_KIND(enumerator, name, checker) enumerator,
#include "vgpu/check/finding_kinds.def"
#undef FINDING_KIND
};
enum class Severity : std::uint8_t { error, note };

// How far apart in the thread hierarchy the two sides of a race are.  A greater value is a wider
// relation.
enum class Relation : std::uint8_t { none, lanes, warps, blocks, launches, host };

// What is missing between the two sides: the synchronization that would have ordered them, or
// another requirement.  Reports choose their advice by it.
enum class Lack : std::uint8_t {
  unknown,
  warp_barrier,       // between lanes of one warp
  block_barrier,      // between warps of one block
  cluster_barrier,    // between blocks of one cluster
  order_of_blocks,    // between blocks of one launch
  order_of_launches,  // no stream, event, edge or wait leads from one to the other
  wait_of_host,       // the host does not wait for a launch
  grid_wait,          // in a kernel that may begin before the previous one has completed
  atomicity,          // one side is atomic, the other one is not
  atomic_update,      // several threads read, change and write one location (x += y)
  equal_sizes,        // both are atomic, but of different sizes
  scope,              // the scope of one side does not include the other side's block
  flag_scope,         // the scope of the accesses to a flag
  release,            // before the write of a flag
  release_scope,      // of that release
  host_release,       // at system scope, before the kernel signalled the host
  acquire,            // after the read of a flag
  handover,           // strong accesses hand data on, but no synchronization orders them
  copy_wait,          // the thread does not wait for its asynchronous copy
  copy_handover,      // the thread does not hand the copied data on to the other side
  phase_wait,         // for the phase of the mbarrier that counts a copy
  lock_fences,        // where a lock of relaxed atomics is taken and given back
  proxy_fence,        // before a bulk copy
  participation,      // of a lane whose register another lane reads
  separate_memory,    // of the source and the target of a copy
  coherent_read,      // (2) need not see what the same launch writes
  output,             // the kernel's output: a runtime call failed
  other_device,       // the result of a real device, which is another one
  order_of_grids,     // one of which device code has launched
  arrival_of_blocks,  // at a barrier of the grid
  peer_access,        // of the device to another one's memory
  copy_to_host,       // of device memory that the host uses by its address
};

std::string_view name_of(FindingKind kind);                     // "data-race"
bool find_kind(std::string_view name, FindingKind& kind);       // false: no such kind
std::string_view name_of(Severity severity);                    // "error", "note"
std::string_view name_of(Relation relation);                    // "blocks"; "" for none
std::string_view name_of(Lack lack);                            // "block-barrier"; "" for unknown
bool find_relation(std::string_view name, Relation& relation);  // false: no such one
bool find_lack(std::string_view name, Lack& lack);

// Returns "scan<int>" for a mangled kernel name, and any other name unchanged.
std::string kernel_name(std::string_view mangled);
// Returns a name of a kernel for text: of a long one, inner or all template arguments are left out,
// "cub::DeviceScanKernel<...>".
std::string short_kernel_name(std::string_view name);

// A line of source code.
struct SourceLine {
  std::string file;  // empty: unknown
  std::uint32_t line = 0;
  friend auto operator<=>(const SourceLine&, const SourceLine&) = default;
};

// One side of a finding.  A race has two sides.
struct AccessSide {
  std::string role;  // "read", "write", "atomic", "wait", "exit", "host copy", "branch" ...
  Dim3 block{0, 0, 0};
  Dim3 thread{0, 0, 0};
  std::string file;  // as nvcc recorded it; empty: unknown
  std::uint32_t line = 0;
  std::string ptx;  // mnemonic; empty for the host
  // The innermost place, if `file` and `line` name the call of a library header that contains this
  // place.  Empty: `file` and `line` already name the innermost place.
  std::string header{};
  std::uint32_t header_line = 0;
  std::uint32_t instruction = 0;  // its index in the kernel's code; 0 for the host
  // "main+0x2f": of host code without line information.  Not in classes, because code moves when a
  // program is built again; but in one report it tells calls apart.
  std::string host_code{};
  // The calls that lead to `file` and `line`, if that is in a function that was inlined or has a
  // copy for each call: innermost first, without lines of library headers.  Not in classes, because
  // a defect of a function is one defect, wherever it is called.
  std::vector<SourceLine> callers{};
  // By which calls else the same line was found, in ascending order: of each, the innermost line
  // that differs from `callers`.
  std::vector<SourceLine> other_callers{};

  // Replaces the name of each file by rename(name).
  template <typename Rename>
  void rename_files(const Rename& rename) {
    for (std::string* const name : {&file, &header}) {
      if (!name->empty()) *name = rename(*name);
    }
    for (SourceLine& line_of_call : callers) line_of_call.file = rename(line_of_call.file);
    for (SourceLine& line_of_call : other_callers) line_of_call.file = rename(line_of_call.file);
  }
  friend bool operator==(const AccessSide&, const AccessSide&) = default;
};

struct Finding {
  FindingKind kind = FindingKind::data_race;
  std::string space;  // "shared", "global", "local", "constant", "param" or ""
  Severity severity = Severity::error;
  std::string kernel;  // demangled name without parameters
  std::string object;  // "share[31], 4 bytes"
  std::vector<AccessSide> accesses;
  std::string message;      // one sentence: "no barrier orders (1) and (2)"
  std::uint64_t count = 1;  // how often in this trial
  // Why the finding exists, as data (docs/use/reports.md).  Hints, folding and printers use these
  // fields and not the message.
  std::string variable;                // the object without the element: "share"; may be empty
  Relation relation = Relation::none;  // between the two sides: the widest one seen
  std::vector<Relation> also_between;  // between other threads at the same lines, widest first
  Lack lack = Lack::unknown;
  std::string cause;  // a sentence: an earlier error that led to this finding; mostly empty
  friend bool operator==(const Finding&, const Finding&) = default;
};

// Adds the callers of a finding of the same class, which is not kept, to those of `kept`.
void add_other_callers(const Finding& same, Finding& kept);

// Returns the class of a finding, which shrinking keeps: kind, space, kernel, and the files and
// lines of its sides in ascending order.  A side without a line contributes its instruction
// instead.  The class of an api-error also contains the call and its message.  Block, thread and
// object do not count.  Paths count as they are given, so a comparison between checkouts makes them
// relative first.
std::string class_of(const Finding& finding);
// Returns 16 hex digits: the hash of class_of().
std::string hash_of(const Finding& finding);

}  // namespace warpcheck::vgpu
