// Runs of a program that differ in settings, from one start of it
// (vgpu/cudart/exec/experiments.hpp). They print nothing, read nothing and change no files, so a
// command may make them without being asked to run the program again.
#pragma once

#include <sys/types.h>

#include <limits>
#include <optional>
#include <string>

#include "cli/exec/program_run.hpp"
#include "cli/exec/supervisor.hpp"

namespace warpcheck {

// Why there are no more runs, if all together took too long.
inline constexpr const char* kTakesTooLong =
    "the program takes too long besides what its kernels do to be repeated";

inline constexpr double kNoLimitOfSeconds = std::numeric_limits<double>::infinity();

// The settings of a run without what its copies do not write: traces, counts, proofs, logs of data.
[[nodiscard]] cudart::ExecSettings settings_of_experiment(cudart::ExecSettings of_run);

class ProgramExperiments {
 public:
  // Runs that take longer end all experiments.
  //   runner: not owned
  //   seconds_max: of one run; seconds_of_all: processor time of all together
  ProgramExperiments(Supervisor& supervisor, ProgramRunner& runner, double seconds_max,
                     double seconds_of_all);
  ~ProgramExperiments();  // ends the process
  ProgramExperiments(const ProgramExperiments&) = delete;
  ProgramExperiments& operator=(const ProgramExperiments&) = delete;

  // Nothing: there are no more runs, and why() says why not.
  std::optional<ProgramRun> run(cudart::ExecSettings settings);
  [[nodiscard]] const std::string& why() const { return why_; }
  [[nodiscard]] bool took_too_long() const { return seconds_ > seconds_of_all_; }

 private:
  bool start(const cudart::ExecSettings& settings);
  // The next line from the process; nothing: it has ended, is late, or nothing more should begin.
  std::optional<std::string> answer();
  std::optional<ProgramRun> give_up(std::string why);

  Supervisor& supervisor_;
  ProgramRunner& runner_;
  double seconds_max_, seconds_of_all_;
  double seconds_ = 0;  // of all so far
  pid_t process_ = 0;   // 0: not started
  int socket_ = -1;
  int runs_ = 0;
  std::string why_;
};

}  // namespace warpcheck
