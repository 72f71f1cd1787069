// A finding: data, no text layout (printers are elsewhere).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

enum class FindingKind : std::uint8_t {
#define FINDING_KIND(enumerator, name, checker) enumerator,
#include "vgpu/check/finding_kinds.def"
#undef FINDING_KIND
};
enum class Severity : std::uint8_t { error, note };

// How far apart in the hierarchy of threads the two sides of a race are; wider ones are greater.
enum class Relation : std::uint8_t { none, lanes, warps, blocks, launches, host };

// What would have ordered two sides, or is missing otherwise: what advice is chosen by.
enum class Lack : std::uint8_t {
  unknown,
  warp_barrier,       // between lanes of one warp
  block_barrier,      // between warps of one block
  cluster_barrier,    // between blocks of one cluster
  order_of_blocks,    // between blocks of one launch
  order_of_launches,  // their streams are not synchronised
  wait_of_host,       // for a launch
  grid_wait,          // of a kernel that may begin before the one before it has completed
  atomicity,          // one side is atomic, the other one is not
  atomic_update,      // several threads read, change and write one place (x += y)
  equal_sizes,        // atomic, but of different sizes
  scope,              // of a side: it does not include the other's block
  flag_scope,         // of the accesses to a flag
  release,            // before a flag was written
  release_scope,      // of that release
  host_release,       // at system scope, before the kernel gave the host a signal
  acquire,            // after a flag was read
  handover,           // strong accesses hand on data, and nothing orders it
  copy_wait,          // for an asynchronous copy, by its thread
  copy_handover,      // by its thread, on to the other side
  proxy_fence,        // before a bulk copy
  participation,      // of a lane that another one reads from
  output,             // of the kernel: a call of the runtime failed
};

std::string_view name_of(FindingKind kind);                     // "data-race"
bool find_kind(std::string_view name, FindingKind& kind);       // false: no such kind
std::string_view name_of(Severity severity);                    // "error", "note"
std::string_view name_of(Relation relation);                    // "blocks"; "" for none
std::string_view name_of(Lack lack);                            // "block-barrier"; "" for unknown
bool find_relation(std::string_view name, Relation& relation);  // false: no such one
bool find_lack(std::string_view name, Lack& lack);

// "scan<int>" of a mangled kernel name; a name that is not mangled stays as it is.
std::string kernel_name(std::string_view mangled);

// One side of a finding.  A race has two.
struct AccessSide {
  std::string role;  // "read", "write", "atomic", "wait", "exit", "host copy", "branch" ...
  Dim3 block{0, 0, 0};
  Dim3 thread{0, 0, 0};
  std::string file;  // as nvcc recorded it; empty: unknown
  std::uint32_t line = 0;
  std::string ptx;  // mnemonic; empty for the host
  // The innermost place, where `file` and `line` are those of the call of a library's header that
  // it lies in; empty: they are the innermost place themselves.
  std::string header{};
  std::uint32_t header_line = 0;
  std::uint32_t instruction = 0;  // its index in the kernel's code; of the host 0
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
  // Why, as data (docs/reports.md): what hints, folding and printers ask instead of the message.
  std::string variable;                // the object without the element: "share"; may be empty
  Relation relation = Relation::none;  // of the two sides: the widest that was met
  std::vector<Relation> also_between;  // of other threads at the same lines, widest first
  Lack lack = Lack::unknown;
  std::string cause;  // a sentence: what went wrong before and led to this; mostly empty
  friend bool operator==(const Finding&, const Finding&) = default;
};

// The class of a finding: what shrinking keeps.  (kind, space, kernel, files and lines of its
// sides in ascending order, of sides without a line the instruction instead; of an api-error also
// the call and its message); block, thread and object do not count.  Paths count as they are given:
// a comparison of classes between checkouts makes them relative first.
std::string class_of(const Finding& finding);
// 16 hex digits over class_of().
std::string hash_of(const Finding& finding);

}  // namespace warpcheck::vgpu
