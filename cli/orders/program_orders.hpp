// Which orders of a program's kernels are needed: copies of the program run without each
// (cli/exec/program_experiments.hpp).
//
// Needed: a run without it shows a finding, or brings other data to the host.  Redundant: no run
// does, and the changed code itself proves that neither data nor the order of threads decide what
// it does; then one run without a finding stands for all, at the sizes of the program's launches
// (docs/use/proofs.md, "By the code alone").
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/exec/program_run.hpp"
#include "cli/exec/supervisor.hpp"
#include "harness/case/case.hpp"
#include "harness/input/json.hpp"
#include "harness/orders/judge_orders.hpp"
#include "harness/orders/orders_report.hpp"

namespace warpcheck {

struct ProgramToJudge {
  std::string path;                  // of its file
  std::vector<std::string> command;  // as the user named it, with its arguments
  std::filesystem::path directory;   // of a RunDirectory
  std::uint64_t runs = 20;           // without each order, each under another schedule
  std::string edits_directory;       // for the changes that show a need
  std::function<void(const std::string&)> on_step = {};
};

struct OrderOfProgram {
  Order order;
  Need need = Need::unknown;
  std::uint64_t runs = 0;
  std::string shows;    // needed: what a run without it shows
  std::string command;  // needed: that shows it again
  std::string proof;    // redundant: for which sizes
  std::string why_not;  // unknown: what prevents a proof
};

// Throws ProgramError for a program that cannot be run, or fails as it is; fewer orders:
// interrupted.
[[nodiscard]] std::vector<OrderOfProgram> judge_orders_of_program(const ProgramToJudge& program,
                                                                  Supervisor& supervisor);

[[nodiscard]] std::string program_orders_text(const std::string& title,
                                              const std::vector<OrderOfProgram>& orders);
// orders: outlive the section
[[nodiscard]] OrdersSection program_orders_section(const std::string& title,
                                                   const std::vector<OrderOfProgram>& orders);
[[nodiscard]] Json program_orders_json(const std::vector<std::string>& command,
                                       const std::vector<OrderOfProgram>& orders);

}  // namespace warpcheck
