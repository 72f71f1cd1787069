// What a plain program under `warpcheck exec` is told, and what it tells: settings in one
// environment variable, findings in a file that it appends to as they happen.
//
// The file has one JSON object a line, each appended by one write, so that several processes share
// it and a process that is killed has lost nothing that it found before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "vgpu/check/checkers.hpp"
#include "vgpu/check/finding.hpp"
#include "vgpu/machine/machine.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::cudart {

// The environment variable; a JSON object with the members of ExecSettings.
inline constexpr const char* kExecVariable = "WARPCHECK_EXEC";

struct ExecSettings {
  std::string records;  // the file to append to
  vgpu::CheckerSet checkers{};
  vgpu::WarpModel warp_model = vgpu::WarpModel::independent;
  std::string strategy = "default";  // one of vgpu::strategies()
  std::uint64_t seed = 0;
  // Of one launch.  Nobody chose this program's sizes: it runs as long as it can end.
  std::uint64_t steps_max = vgpu::kNoLimit;
  unsigned devices = 1;                             // how many there are
  std::uint64_t memory_bytes = vgpu::kMemoryBytes;  // of each device
  unsigned jobs = 1;                                // threads for a launch
  bool fresh_pattern = false;                       // in managed and page-locked memory; else zeros
  unsigned device = 0;      // compute capability, 90 for sm_90; 0: of the newest PTX in the program
  bool leaks = false;       // whether what is still allocated at exit is a finding
  bool host_bytes = false;  // log what comes to the host (exec_log.hpp)
  // By operation: of which entries of the log the bytes are kept, in files beside the records.
  std::vector<std::uint32_t> kept_bytes{};
};

// The program loaded the runtime library, before main.
struct StartRecord {
  std::string program;  // its path
};
// A finding, or a known one again with a new count; later records of a number replace earlier ones.
struct FindingRecord {
  std::size_t number = 0;  // of its process
  vgpu::Finding finding;
};
// A kernel is launched for the first time.
struct KernelRecord {
  std::string name;          // mangled
  bool order_shows = false;  // see order_of_arrival.hpp
};
// An API function that brings bytes to the host is called for the first time: Arrival::call says
// the number of this record among those of its process.
struct CallRecord {
  std::string name;
};
struct RefusalRecord {
  std::string reason;
};
// Something that nobody has looked at, and why, although it could have been wrong.
struct NotCheckedRecord {
  std::string what;
};
// The process ended by itself: returned from main, or called exit().
struct EndRecord {
  std::uint64_t launches = 0;
  std::vector<std::string> kernels;  // mangled names, each once
};

struct ExecRecord {
  int process = 0;
  std::variant<StartRecord, FindingRecord, KernelRecord, CallRecord, RefusalRecord,
               NotCheckedRecord, EndRecord>
      what;
};

std::string to_text(const ExecSettings& settings);
// Nothing when the text is not what to_text() writes.
std::optional<ExecSettings> parse_exec_settings(std::string_view text);

// One line, with its end.
std::string to_text(const ExecRecord& record);

// A line that to_text() does not write.  what(): "wrote 'LINE': REASON".
class ExecRecordError : public std::runtime_error {
 public:
  ExecRecordError(std::string_view line, std::string_view reason);
};
// line: with or without its end.  Throws ExecRecordError.
ExecRecord parse_exec_record(std::string_view line);

}  // namespace warpcheck::cudart
