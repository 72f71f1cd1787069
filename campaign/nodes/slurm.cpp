#include "campaign/nodes/slurm.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>

#include "campaign/nodes/node_status.hpp"
#include "harness/case/atomic_file.hpp"
#include "vgpu/text/shell_word.hpp"

namespace warpcheck::campaign {
namespace fs = std::filesystem;

std::string slurm_script(const SlurmJob& job) {
  const auto option = [](const std::string& text) { return fmt::format("#SBATCH {}\n", text); };
  // Slurm writes a task's output where the task keeps everything; %a is its number.
  const fs::path log = nodes_directory(job.campaign) / "%a" / "slurm.log";
  std::string script = "#!/bin/sh\n";
  script += option("--job-name=" + shell_word("warpcheck " + job.campaign.filename().string()));
  script += option(fmt::format("--array=1-{}", job.tasks));
  script += option("--output=" + shell_word(log.string()));
  script += option("--open-mode=append");
  script += option("--requeue");
  script += option(fmt::format("--cpus-per-task={}", job.cpus));
  if (!job.time.empty()) script += option("--time=" + job.time);
  if (!job.partition.empty()) script += option("--partition=" + job.partition);
  for (const std::string& more : job.options) script += option(more);
  std::string command = fmt::format("{} campaign {} --node \"$SLURM_ARRAY_TASK_ID/{}\" --jobs {}",
                                    shell_word(job.program.string()),
                                    shell_word(job.campaign.string()), job.tasks, job.cpus);
  for (const std::string& argument : job.arguments) command += " " + shell_word(argument);
  return script + fmt::format(R"(
# Status 1 is "findings", which is no failure of the task.  A search that was killed, for want of
# memory for instance, resumes.
status=137
while [ "$status" -eq 137 ]; do
  {}
  status=$?
done
[ "$status" -eq 1 ] || exit "$status"
)",
                              command);
}

std::string submit(const SlurmJob& job) {
  for (unsigned task = 1; task <= job.tasks; ++task) {
    make_directory(node_directory(job.campaign, task));
  }
  const fs::path script = job.campaign / "slurm.sh";
  write_file_atomically(script, slurm_script(job));
  const std::string command = fmt::format("sbatch --parsable {} 2>&1", shell_word(script.string()));
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) throw SlurmError("sbatch cannot be started");
  std::string answer;
  std::array<char, 512> part{};
  while (std::fgets(part.data(), part.size(), pipe) != nullptr) answer += part.data();
  while (!answer.empty() && answer.back() == '\n') answer.pop_back();
  const int status = ::pclose(pipe);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
    throw SlurmError(fmt::format(
        "sbatch was not found: is Slurm installed here?  Without it, start `{} campaign {} "
        "--node K/{}` yourself for K from 1 to {}",
        job.program.filename().string(), job.campaign.string(), job.tasks, job.tasks));
  }
  if (status != 0) throw SlurmError(fmt::format("sbatch {}: {}", script.string(), answer));
  return answer.substr(0, answer.find(';'));  // JOB or JOB;CLUSTER
}

}  // namespace warpcheck::campaign
