// The protocol between `warpcheck exec` and a plain program: the program gets its settings in one
// environment variable, and appends its findings to a file as they occur.
//
// The file has one JSON object per line, each appended by one write.  So several processes can
// share it, and a process that is killed loses none of its earlier findings.
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
#include "vgpu/check/counters/memory_counts.hpp"
#include "vgpu/check/finding.hpp"
#include "vgpu/cudart/device/suppositions.hpp"
#include "vgpu/machine/machine.hpp"
#include "vgpu/ptx/edit/program_edit.hpp"
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
  // The limit of one launch.  By default there is none: the sizes of this program were not chosen
  // for testing, so it may run as long as it can still end.
  std::uint64_t steps_max = vgpu::kNoLimit;
  unsigned devices = 1;                             // number of devices
  std::uint64_t memory_bytes = vgpu::kMemoryBytes;  // of each device
  unsigned jobs = 1;                                // threads for a launch
  bool sparse = false;                              // TrialSettings::sparse
  std::uint64_t steps_budget = 0;                   // TrialSettings::steps_budget
  vgpu::Compile compile = vgpu::Compile::when_it_pays;
  // in managed and page-locked memory; otherwise zeros
  bool fresh_pattern = false;
  unsigned device = 0;      // compute capability, 90 for sm_90; 0: that of the program's newest PTX
  bool leaks = false;       // whether allocations left at exit are a finding
  bool host_bytes = false;  // whether to log data that reaches the host (exec_log.hpp)
  bool host_inputs = false;  // whether to log what the host hands to the device as well
  // Fill memory of the host's heap with this byte, by the C library's malloc(); 0: it is left
  // alone.
  unsigned heap = 0;
  // The file of a trace, which the command has made, and its options (vgpu::to_text()); both empty:
  // there is none.
  std::string trace_file{}, trace{};
  // The file of `warpcheck`, whose launch worker each launch is compared with; empty: none.
  std::string launch_worker{};
  std::string debugger{};  // the socket of `warpcheck debug`; empty: there is none
  bool profile = false;    // whether to count what instructions do to memory
  bool prove = false;      // whether to examine the code of kernels (KernelRecord::proved)
  // Experiments with the device code: changes of it, and files with PTX that stand in for units
  // (ExecSession::stand_in_texts); with the host's: what is supposed of it.
  ptx::Edits edits{};
  std::vector<std::string> texts{};
  Suppositions supposed{};
  // The socket from which this process gets the settings of its copies (experiments.hpp); -1: none.
  int experiments = -1;
  bool host_lines = false;  // whether copies will name lines of host code
  // Whether findings are recorded once, when the process ends regularly, and not as they are found.
  bool findings_at_end = false;
  // Whether to write the PTX of launched kernels beside the records (KernelRecord::code).
  bool code = false;
  // The operations whose logged bytes are kept in files beside the records.
  std::vector<std::uint32_t> kept_bytes{};
  // Follow the order of threads, without checks, and record as a `schedule-dependent` finding why
  // it reaches this byte of what this operation brings to the host.  kNone: do not.
  std::uint32_t ordered_operation = ptx::kNone;
  std::uint64_t ordered_byte = 0;
};

// The program has loaded the runtime library, before main.
struct StartRecord {
  std::string program;  // its path
};
// A finding, or a known one with a new count; later records with the same number replace earlier
// ones.
struct FindingRecord {
  std::size_t number = 0;  // within its process
  vgpu::Finding finding;
  std::uint64_t arrivals = 0;  // entries of the log at that time
};
// A kernel is launched for the first time.
struct KernelRecord {
  std::string name;  // mangled
  // Where it can observe the order of threads, "scan.cu:12 atom.global.add.u32"; empty: nowhere.
  // See order_of_arrival.hpp.
  std::string sees_order;
  // Whether it may read a register that it has not written, or whether that is not known.
  bool reads_unwritten = false;
  std::uint64_t arrivals = 0;  // entries of the log at that time
  // What its code alone proves for a run without a finding; empty: it was not examined.
  std::string proved{};
  std::string file{};      // the source of its first line that is no library's; empty: not known
  std::string target{};    // "sm_75", of its PTX
  bool stands_in = false;  // its code is one of ExecSettings::texts
  // With ExecSettings::code: the file with the PTX of its module; empty: it was linked of several.
  std::string code{};
  std::uint32_t threads = 0;  // of a block of the first launch
};
// An API function moves bytes to the host, or from the host to the device, for the first time;
// Arrival::call is the number of this record among those of its process.  Calls that move bytes to
// the device have a record for each place.
struct CallRecord {
  std::string name;
  std::string file{};  // empty: not known, or not asked for
  std::uint32_t line = 0;
};
struct RefusalRecord {
  std::string reason;
};
// Something that was not checked, and the reason, although it may be wrong.
struct NotCheckedRecord {
  std::string what;
};
// What instructions of the process did to memory, as far as that is saved; in counts_path().
struct CountsRecord {
  std::vector<vgpu::CountedInstr> instrs;
};
// The process ended regularly: it returned from main, or called exit().
struct EndRecord {
  std::uint64_t launches = 0;
  std::vector<std::string> kernels;  // mangled names, each once
};

struct ExecRecord {
  int process = 0;
  std::variant<StartRecord, FindingRecord, KernelRecord, CallRecord, RefusalRecord,
               NotCheckedRecord, CountsRecord, EndRecord>
      what;
};

std::string to_text(const ExecSettings& settings);
// Returns nothing if to_text() does not write such a text.
std::optional<ExecSettings> parse_exec_settings(std::string_view text);

// Returns one line, including its end.
std::string to_text(const ExecRecord& record);

// A line that to_text() does not write. what(): "wrote 'LINE': REASON".
class ExecRecordError : public std::runtime_error {
 public:
  ExecRecordError(std::string_view line, std::string_view reason);
};
// line: with or without its end.  Throws ExecRecordError.
ExecRecord parse_exec_record(std::string_view line);

}  // namespace warpcheck::cudart
