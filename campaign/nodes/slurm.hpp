// A campaign as a job array of Slurm (https://slurm.schedmd.com): a task for each node.
//
// Slurm finds the machines, starts, watches and requeues; this writes the script that it runs.  A
// task takes the place of its number again however often it is started, since all that its node
// knows is in the node's directory.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace warpcheck::campaign {

struct SlurmJob {
  std::filesystem::path campaign{};    // its directory, on a folder that all machines share
  unsigned tasks = 1;                  // nodes 1 ... tasks
  unsigned cpus = 1;                   // of each
  std::string time{};                  // as sbatch --time takes it; empty: the cluster's
  std::string partition{};             // empty: the cluster's
  std::vector<std::string> options{};  // more of sbatch's: "--account=fuzzing"
  // The program and what follows `campaign DIR --node K/N --jobs CPUS`.
  std::filesystem::path program{};
  std::vector<std::string> arguments{};
};

// The batch script, its options in #SBATCH lines.
std::string slurm_script(const SlurmJob& job);

// Writes the script to DIR/slurm.sh, makes the nodes' directories and hands it to sbatch.  Returns
// the number of the job.  Throws SlurmError: sbatch is not there, or said why not.
std::string submit(const SlurmJob& job);

class SlurmError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace warpcheck::campaign
