// The case file: one case and what it is known to show, as JSON text.
//
//   { "warpcheck_case": 1,
//     "pair": "scan", "property": "...",           property only where the case is of one
//     "input": { ... },                             typed values, floats to the bit
//     "schedule": [ {"launch": 0, "block": 0, "warp": 0, "access": 2, "held": "0x00000002",
//                    "next_block": 0, "next_warp": 0} ],
//     "settings": {"build": "optimized", "warp_model": "independent", "checkers": ["race", ...],
//                  "steps_max": 20000000, "quantum": 4096, "resident_blocks": 32},
//     "ptx_hash": "0123456789abcdef",
//     "expected": {"kinds": ["data-race"], "classes": ["0123456789abcdef"]},
//     "tape": "00ff..." }
//
// A decision has "access", "stop" or "release", the index of its point; one at the start of a
// launch is {"launch": 0, "start": "ascending", "next_block": 3, "next_warp": 1}.  "schedule" may
// also be {"strategy": "random", "seed": 7}.  Everything that replay needs is a typed value; the
// tape is a hint (a fuzzer's corpus entry) and may be missing, as may "property" and "expected".
#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "harness/case/case.hpp"
#include "harness/pair/registry.hpp"
#include "harness/trial/verdict.hpp"

namespace warpcheck {

inline constexpr std::uint64_t kCaseFormatVersion = 1;

// A case file that cannot be read or written.  what() is one line that names the file.
class CaseFileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct CaseRecord {
  Case a_case;
  std::uint64_t ptx_hash = 0;            // of the device code it was recorded with; 0: not known
  std::vector<vgpu::FindingKind> kinds;  // expected, ascending
  std::vector<std::string> classes;      // hashes of the expected places, ascending
};

// What `verdict` makes a file expect.
[[nodiscard]] CaseRecord record_of(const Case& a_case, const Verdict& verdict);

[[nodiscard]] std::string case_text(const CaseRecord& record);
// `name`: how messages call it.  Throws CaseFileError.
[[nodiscard]] CaseRecord parse_case(std::string_view text, const std::string& name,
                                    Registry& registry);

// Throws CaseFileError.
[[nodiscard]] CaseRecord read_case(const std::filesystem::path& path, Registry& registry);
// Writes a new file and renames it into place, so that no reader and no crash sees half of one.
// Makes the directory.  Where the path is a link, its target is written; what is no file of its own
// (a device, a pipe, /dev/stdout) is written to as it is.  Throws CaseFileError.
void write_case(const std::filesystem::path& path, const CaseRecord& record);
// The same, unless the file that is there says the same but for its tape: a failure that is found
// again by other choices leaves its case alone.
void keep_case(const std::filesystem::path& path, const CaseRecord& record);
// The same as write_case() for any text; a device or pipe is written to as it is.
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

// "3f9a.case": from the failure's class and the settings, so that finding it again finds its file.
[[nodiscard]] std::string case_file_name(const Case& a_case, const Verdict& verdict);

// Decisions as JSON, as in the case file.
[[nodiscard]] Json to_json(const vgpu::Schedule& schedule);

}  // namespace warpcheck
