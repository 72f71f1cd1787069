// The set of options that switches checkers on and off, and their names.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace warpcheck::vgpu {

// Which checkers are on (checkers.def).  Deadlocks and traps end a launch, so they are always
// reported.
struct CheckerSet {
#define CHECKER(name, turn, help) bool name = true;
#define OPTIONAL_CHECKER(name, turn, help) bool name = false;
#define SILENT_CHECKER(name, turn, enabled)
#include "vgpu/check/checkers.def"
#undef CHECKER
#undef OPTIONAL_CHECKER
#undef SILENT_CHECKER
  // Reports notes on code that only targets from sm_70 on allow: barriers after some threads have
  // exited.
  bool portable = false;
  // The race checker treats volatile accesses as weak ones.  By the letter they are relaxed at
  // system scope (PTX ISA 8.4.2) and do not race with each other.
  bool volatile_is_weak = false;
  // The initialisation checker also reports uses of undefined values that reach device memory only.
  bool strict_init = false;
  // Returns whether uses of values that nothing has written are reported.
  [[nodiscard]] bool finds_unwritten_values() const { return init; }
  friend bool operator==(const CheckerSet&, const CheckerSet&) = default;
};

// A checker as it appears in options, case files and reports.
struct CheckerRow {
  bool CheckerSet::*enabled = nullptr;
  std::string_view name;
  std::string_view help;  // what it finds
  bool by_default = true;
};

inline constexpr auto kCheckers = std::to_array<CheckerRow>({
#define CHECKER(name, turn, help) {&CheckerSet::name, #name, help, true},
#define OPTIONAL_CHECKER(name, turn, help) {&CheckerSet::name, #name, help, false},
#define SILENT_CHECKER(name, turn, enabled)
#include "vgpu/check/checkers.def"
#undef CHECKER
#undef OPTIONAL_CHECKER
#undef SILENT_CHECKER
});

constexpr CheckerSet no_checkers() {
  CheckerSet none;
  for (const CheckerRow& row : kCheckers) none.*row.enabled = false;
  return none;
}

// Returns "race (what it finds), bounds (...), ..." for the help text.
std::string checkers_help();

}  // namespace warpcheck::vgpu
