// The case file: one case and its expected findings, as JSON text.
//
//   { "warpcheck_case": 1,
//     "pair": "scan", "property": "...",           property only where the case is of one
//     "kernel": { ... },                            only for a kernel without host code: its PTX,
//                                                   parameters and lengths (kernel_description.hpp)
//     "input": { ... },                             typed values, floats to the bit
//     "schedule": [ {"launch": 0, "block": 0, "warp": 0, "access": 2, "held": "0x00000002",
//                    "next_block": 0, "next_warp": 0} ],
//     "settings": {"build": "optimized", "warp_model": "independent", "checkers": ["race", ...],
//                  "steps_max": 20000000, "quantum": 4096, "resident_blocks": 32,
//                  "edits": [ ... ]},           only of an experiment: changes of the device code
//                                               (edits_json.hpp)
//     "ptx_hash": "0123456789abcdef",
//     "expected": {"kinds": ["data-race"], "classes": ["0123456789abcdef"]},
//     "tape": "00ff..." }
//
// A decision has "access", "stop" or "release", the index of its point; one at the start of a
// launch is {"launch": 0, "start": "ascending", "next_block": 3, "next_warp": 1}.  "schedule" may
// also be {"strategy": "random", "seed": 7}.  Everything that replay needs is a typed value.  The
// tape is a hint (a fuzzer's corpus entry).  "tape", "property" and "expected" may be missing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/case/atomic_file.hpp"
#include "harness/case/case.hpp"
#include "harness/case/verdict.hpp"
#include "harness/pair/registry.hpp"

namespace warpcheck {

inline constexpr std::uint64_t kCaseFormatVersion = 1;

struct CaseRecord {
  Case a_case;
  std::uint64_t ptx_hash = 0;            // hash of the device code of the recording; 0: not known
  std::vector<vgpu::FindingKind> kinds;  // expected, ascending
  std::vector<std::string> classes;      // hashes of the expected places, ascending
};

// The record of a case with the findings of `verdict` as its expectation.
[[nodiscard]] CaseRecord record_of(const Case& a_case, const Verdict& verdict);

[[nodiscard]] std::string case_text(const CaseRecord& record);
// `name`: the name of the text in messages.  Throws CaseFileError.
[[nodiscard]] CaseRecord parse_case(std::string_view text, const std::string& name,
                                    Registry& registry);

// Throws CaseFileError.
[[nodiscard]] CaseRecord read_case(const std::filesystem::path& path, Registry& registry);
// Writes as write_file_atomically() does.  Throws CaseFileError.
void write_case(const std::filesystem::path& path, const CaseRecord& record);

// The path of the case of a failure in a directory.
struct CasePlace {
  std::filesystem::path path;
  bool is_taken = false;  // whether the file there has the same failure
};
// Tries case_file_name(); if that file has another failure, or is no case, the name gets more
// digits, and in the end a number.
[[nodiscard]] CasePlace case_place(const std::filesystem::path& directory, const Case& a_case,
                                   const Verdict& verdict);
// Writes the case of a failure and returns its path.  An existing case of the same failure is
// replaced, unless the new one differs in its tape alone.  The case of another failure is never
// overwritten.  Throws CaseFileError.
std::filesystem::path keep_case(const std::filesystem::path& directory, const Case& a_case,
                                const Verdict& verdict);

// "3f9a.case": derived from the failure's class and the settings, so that the same failure always
// has the same name. digits: at most 16
[[nodiscard]] std::string case_file_name(const Case& a_case, const Verdict& verdict,
                                         unsigned digits = 4);

// Decisions as JSON, as in the case file.
[[nodiscard]] Json to_json(const vgpu::Schedule& schedule);

}  // namespace warpcheck
