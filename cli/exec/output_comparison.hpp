// Detects output that depends on the schedule: runs under different schedules are compared by what
// they brought to the host (run_output.hpp).
//
// If a run differs from the first one, both run once more.  What differs between the two runs of
// the same schedule is left out, because it does not come from the schedule.  So is what comes
// after a difference in what the host hands to the device.
//
// A difference is an error if no kernel can observe the order of threads (order_of_arrival.hpp), or
// if a value that nothing has written decides; else it is a note.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/exec/run_output.hpp"
#include "vgpu/check/finding.hpp"

namespace warpcheck {

// The runs of a program so far; `repeat` runs it again, without output to the user.
class OutputComparison {
 public:
  // run: from 1; kept: operations whose bytes are kept.  The standard output goes to a file.  What
  // the host hands to the device is logged.
  using Repeat = std::function<ProgramRun(int run, const std::vector<std::uint32_t>& kept,
                                          const std::filesystem::path& standard_output)>;
  // Runs it again and follows the order of threads to a byte of what an operation brings to the
  // host (ExecSettings::ordered_operation).
  using Follow = std::function<ProgramRun(int run, std::uint32_t operation, std::uint64_t byte)>;
  struct Found {
    vgpu::Finding finding;
    int run = 1;  // the one that differs from the first
  };

  // directory: for files.
  OutputComparison(std::filesystem::path directory, Repeat repeat)
      : directory_(std::move(directory)), repeat_(std::move(repeat)) {}

  // Without it, no line is named.
  void follow_with(Follow follow) { follow_ = std::move(follow); }

  void add(RunOutput run) { runs_.push_back(std::move(run)); }
  // run: from 1, as for replace() and leave_out(), which change what is compared
  [[nodiscard]] const RunOutput& at(int run) const { return runs_.at(std::size_t(run) - 1); }
  void replace(int run, RunOutput by) { runs_.at(std::size_t(run) - 1) = std::move(by); }
  void leave_out(int run) { replace(run, runs_.front()); }

  // first: the name of the first run's schedule, "the default schedule".
  std::optional<Found> find(std::string_view first);
  // After find() has found nothing: runs differed, but so did runs of the same schedule.
  [[nodiscard]] bool is_unsteady() const { return unsteady_; }

 private:
  RunOutput repeat(int run, const std::vector<std::uint32_t>& kept);
  // Why the order reaches a byte; no sides: it is not known.
  [[nodiscard]] vgpu::Finding order_of(const OutputKey& key, std::size_t byte, int run) const;
  [[nodiscard]] std::filesystem::path text_of(int run) const;
  vgpu::Finding describe(const OutputKey& key, const RunOutput& first, const RunOutput& other,
                         int run, std::string_view first_name);
  std::string spread_of(const OutputKey& key, std::size_t byte, const RunOutput& first,
                        const RunOutput& other);

  std::filesystem::path directory_;
  Repeat repeat_;
  Follow follow_;
  std::vector<RunOutput> runs_;
  bool unsteady_ = false;
};

}  // namespace warpcheck
