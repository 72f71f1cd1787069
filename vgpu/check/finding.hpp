// A finding: data, no text layout (printers are elsewhere).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

enum class FindingKind : std::uint8_t {
  data_race,
  out_of_bounds,
  misaligned_access,
  uninitialized_read,
  use_after_free,
  invalid_free,
  leak,
  barrier_divergence,
  deadlock,
  trap,
  mismatch,
  schedule_dependent,  // of the harness
};
enum class Severity : std::uint8_t { error, note };

std::string_view name_of(FindingKind kind);                // "data-race"
bool find_kind(std::string_view name, FindingKind& kind);  // false: no such kind
std::string_view name_of(Severity severity);               // "error", "note"

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
  friend bool operator==(const Finding&, const Finding&) = default;
};

// The class of a finding: what shrinking keeps.  (kind, space, kernel, files and lines of its
// sides in ascending order); block, thread and object do not count.  Paths count as they are
// given: whoever compares classes between checkouts makes them relative first.
std::string class_of(const Finding& finding);
// 16 hex digits over class_of().
std::string hash_of(const Finding& finding);

}  // namespace warpcheck::vgpu
