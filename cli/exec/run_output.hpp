// What a run of a program under `exec` has brought to the host, as data that can be compared with
// other runs: copies, memory of host and device, text of device code, and the exit status.
// Everything that a program makes of its kernels' results, including files and text, depends on
// these; its own clocks, addresses and random numbers are not compared.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/exec/program_run.hpp"
#include "vgpu/check/finding.hpp"

namespace warpcheck {

struct RunOutput {
  struct Kernel {
    std::string name;        // mangled
    std::string sees_order;  // these three as in KernelRecord
    bool reads_unwritten = false;
    std::uint64_t arrivals = 0;
  };
  struct Reported {
    vgpu::Finding finding;
    std::uint64_t arrivals = 0;  // before it
  };
  struct Process {
    int id = 0;
    cudart::ExecLogContents log;
    std::vector<cudart::CallRecord> calls;  // by Arrival::call
    std::vector<Kernel> kernels;            // in the order of their first launches
    std::vector<Reported> reported;         // its findings
    // The number of arrivals before a finding stopped a launch: what comes later is its
    // consequence.  Nothing: no launch was stopped.
    [[nodiscard]] std::optional<std::uint64_t> stopped_at() const;
  };
  int status = 0;
  std::vector<Process> processes;  // in the order of their beginnings
  std::filesystem::path records_file;
  std::map<std::string, std::string> files;  // files that a repeated run has written, by name
};
RunOutput output_of(const ProgramRun& run);
// Returns whether a finding has stopped a launch.
bool is_stopped(const RunOutput& run);

// One thing in which runs may differ.
struct OutputKey {
  enum class Kind : std::uint8_t { copy, memory, prints, status };
  std::size_t process = 0;
  Kind kind = Kind::copy;
  std::uint32_t operation = 0;  // as Arrival::operation
  friend auto operator<=>(const OutputKey& a, const OutputKey& b) = default;
};

// Everything that both runs have and that is not the same, in order of time.  What comes after a
// launch that a finding has stopped (a trap, a deadlock) in either of them is left out: how far the
// other threads were, and what the program does then, follows from that.
std::vector<OutputKey> differences(const RunOutput& a, const RunOutput& b);
template <typename Key>
std::vector<Key> without(std::vector<Key> keys, const std::vector<Key>& others) {
  std::erase_if(keys,
                [&](const Key& key) { return std::ranges::find(others, key) != others.end(); });
  return keys;
}

// What the host has handed to the device and that is not the same, in order of time.
struct InputKey {
  std::size_t process = 0;
  std::size_t entry = 0;  // of the first run's log
  std::size_t other = 0;  // of the second one's
};
std::vector<InputKey> input_differences(const RunOutput& a, const RunOutput& b);

// Drops what arrived after the host had handed something else to the device: the first difference
// is the host's then, such as a random number, or memory of its heap that nothing has written.
std::vector<OutputKey> without_the_host_s(std::vector<OutputKey> keys, const RunOutput& first,
                                          const RunOutput& other);

// The entry of a key; at: its number in the log.  The run has it.
const cudart::Arrival& arrival_of(const RunOutput& run, const OutputKey& key,
                                  std::size_t* at = nullptr);

// The number of entries before the output that differs; of the exit status, all.
std::size_t place_in_log(const RunOutput& run, const OutputKey& key);

// The bytes of an entry that the run was asked to keep.
std::string kept_bytes(const RunOutput& run, std::size_t process, const cudart::Arrival& entry);

// "at byte 0 of copy 1 to the host, by cudaMemcpy of 4 bytes"; "to the device"
std::string place_in_copy(const RunOutput& run, std::size_t process, const cudart::Arrival& entry,
                          std::size_t byte, std::string_view direction);

// The first four aligned bytes that differ: "0x0000001e (30), under X 0x00000014 (20)".
//   at: set to their offset
std::string show_difference(const std::string& first, const std::string& other,
                            std::string_view first_name, std::size_t* at);

// The first line that the other text does not have: "line 2 of standard output: "a", under X "b"";
// empty if only the order differs.
std::string difference_of_texts(const std::string& first, const std::string& other,
                                std::string_view first_name);

}  // namespace warpcheck
