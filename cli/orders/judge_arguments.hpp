// What `orders` and `mutate` ask alike: the seed of trials, how much is proved, by how many
// processes, and how kernels run.
#pragma once

#include <algorithm>
#include <string>
#include <thread>

#include "cli/cli.hpp"
#include "harness/orders/judge_orders.hpp"

namespace warpcheck {

struct JudgeArguments {
  JudgeOptions judge;
  CompileOption compile;

  JudgeArguments() { judge.jobs = std::max(1u, std::thread::hardware_concurrency()); }

  //   proved: "an order is redundant"
  void add_to(CLI::App& command, const std::string& proved) {
    command.add_option("--seed", judge.seed, "Seed of the trials")->capture_default_str();
    command
        .add_option("--points", judge.points,
                    "Most sizes and blocks of a proof that " + proved + "; 0: no proof")
        ->capture_default_str();
    command.add_option("--jobs", judge.jobs, "Processes of a proof")
        ->check(positive_number)
        ->capture_default_str();
    compile.add_to(command);
  }
};

}  // namespace warpcheck
