// Detects output that depends on the schedule: runs under different schedules are compared by the
// data that reached the host (copies, memory of host and device, text of device code) and by their
// exit status.  Everything that a program makes of its kernels' results, including files and text,
// depends on these; its own clocks, addresses and random numbers are not compared.
//
// If a run differs from the first one, both run once more.  What differs between the two runs of
// the same schedule is left out, because it does not come from the schedule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/exec/program_run.hpp"
#include "vgpu/check/finding.hpp"

namespace warpcheck {

// The data of a run that reached the host.
struct RunOutput {
  struct Process {
    int id = 0;
    cudart::ExecLogContents log;
    std::vector<std::string> calls;    // by Arrival::call
    std::vector<std::string> kernels;  // mangled, in the order of their first launches
  };
  int status = 0;
  std::vector<Process> processes;  // in the order of their beginnings
  bool order_shows = false;        // a kernel without a defect may show the order
  std::filesystem::path records_file;
  std::map<std::string, std::string> files;  // files that a repeated run has written, by name
};
RunOutput output_of(const ProgramRun& run);

// One thing in which runs may differ.
struct OutputKey {
  enum class Kind : std::uint8_t { copy, memory, prints, status };
  std::size_t process = 0;
  Kind kind = Kind::copy;
  std::uint32_t operation = 0;  // for copy and memory
  friend auto operator<=>(const OutputKey& a, const OutputKey& b) = default;
};

// Everything that both runs have and that is not the same, in order of time.
std::vector<OutputKey> differences(const RunOutput& a, const RunOutput& b);

// The runs of a program so far; `repeat` runs it again, without output to the user.
class OutputComparison {
 public:
  // run: from 1; kept: operations whose bytes are kept.  The standard output goes to a file.
  using Repeat = std::function<ProgramRun(int run, const std::vector<std::uint32_t>& kept,
                                          const std::filesystem::path& standard_output)>;
  struct Found {
    vgpu::Finding finding;
    int run = 1;  // the one that differs from the first
  };

  // directory: for files.
  OutputComparison(std::filesystem::path directory, Repeat repeat)
      : directory_(std::move(directory)), repeat_(std::move(repeat)) {}

  void add(const ProgramRun& run) { runs_.push_back(output_of(run)); }

  // first: the name of the first run's schedule, "the default schedule".
  std::optional<Found> find(std::string_view first);
  // After find() has found nothing: runs differed, but so did runs of the same schedule.
  [[nodiscard]] bool is_unsteady() const { return unsteady_; }

 private:
  RunOutput repeat(int run, const std::vector<std::uint32_t>& kept);
  [[nodiscard]] std::filesystem::path text_of(int run) const;
  vgpu::Finding describe(const OutputKey& key, const RunOutput& first, const RunOutput& other,
                         int run, std::string_view first_name) const;

  std::filesystem::path directory_;
  Repeat repeat_;
  std::vector<RunOutput> runs_;
  bool unsteady_ = false;
};

}  // namespace warpcheck
