// A campaign as a job array of Slurm (https://slurm.schedmd.com), one task for each node.
//
// Slurm allocates the machines, starts, watches and requeues; this file writes the batch script.  A
// task that is started again resumes, because the node's directory contains all of its state.
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
  std::string time{};                  // in the format of sbatch --time; empty: the cluster's
  std::string partition{};             // empty: the cluster's
  std::vector<std::string> options{};  // further options of sbatch: "--account=fuzzing"
  // The program, and the options after `campaign DIR --node K/N --jobs CPUS`.
  std::filesystem::path program{};
  std::vector<std::string> arguments{};
};

// The batch script, its options in #SBATCH lines.
std::string slurm_script(const SlurmJob& job);

// Writes the script to DIR/slurm.sh, creates the nodes' directories and submits it to sbatch.
// Returns the number of the job.  Throws SlurmError if sbatch is missing, or with its error.
std::string submit(const SlurmJob& job);

class SlurmError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace warpcheck::campaign
