// warpcheck orders: which barriers, fences and strong accesses of a pair's kernels are needed.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/all_sizes/all_sizes.hpp"
#include "cli/exec/program_file.hpp"
#include "cli/exec/run_directory.hpp"
#include "cli/orders/judge_arguments.hpp"
#include "cli/orders/program_orders.hpp"
#include "harness/case/atomic_file.hpp"
#include "harness/orders/find_orders.hpp"
#include "harness/orders/orders_report.hpp"
#include "harness/pair/registry.hpp"
#include "harness/process/progress.hpp"

namespace warpcheck {
namespace {

struct OrdersArguments : JudgeArguments {
  std::vector<std::string> pairs;
  std::uint64_t runs = 20;
  bool all_sizes = false;
  std::string json, html;
  std::string cases = "orders";
};

// What the code alone says about a redundant order, and what runs of sizes that the solver suspects
// show.
void try_all_sizes(const AnyPair& pair, JudgedOrder& one, const JudgeOptions& options) {
  const PairOfAllSizes proof = prove_all_sizes(pair, one.order.edits);
  one.is_safe_at_all_sizes = proof.is_proved();
  if (proof.failure) show_need(one, *proof.failure, options);
}

// Whether the words are a program and its arguments.  The name of a pair has no slash.
bool names_program(const std::vector<std::string>& words) {
  const std::string& name = words.front();
  return Registry::global().find(name) == nullptr &&
         (name.find('/') != std::string::npos || std::filesystem::exists(name));
}

int orders_of_program(const OrdersArguments& arguments) {
  if (arguments.all_sizes)
    throw UsageError(
        "--all-sizes is for pairs: a program has the sizes of its own launches; `warpcheck new "
        "--kernel FILE.cu:KERNEL` writes a pair of a kernel");
  const ProgramFile file = find_program(arguments.pairs.front());
  require_our_runtime(file);
  const RunDirectory directory;
  return Supervisor::run([&](Supervisor& supervisor) -> int {
    Progress progress;
    const ProgramToJudge program{
        .path = file.path,
        .command = arguments.pairs,
        .directory = directory.path(),
        .runs = arguments.runs,
        .edits_directory = arguments.cases,
        .on_step = [&](const std::string& line) { progress.show([&] { return line; }); }};
    std::vector<OrderOfProgram> orders;
    try {
      orders = judge_orders_of_program(program, supervisor);
    } catch (const ProgramError& error) {
      progress.clear();
      complain(error.what());
      return kCannot;
    }
    progress.clear();
    print(program_orders_text(arguments.pairs.front(), orders));
    if (!arguments.json.empty())
      write_file_atomically(arguments.json,
                            program_orders_json(arguments.pairs, orders).dump(1) + "\n");
    if (!arguments.html.empty())
      write_file_atomically(arguments.html,
                            orders_html({program_orders_section(arguments.pairs.front(), orders)}));
    if (supervisor.is_stopped()) return kInterrupted;
    const auto redundant = std::ranges::count(orders, Need::redundant, &OrderOfProgram::need);
    return redundant != 0 ? kFindings : kNothingFound;
  });
}

int run_orders(OrdersArguments& arguments) {
  if (names_program(arguments.pairs)) {
    try {
      return orders_of_program(arguments);
    } catch (const ProgramError& error) {
      complain(error.what());
      return kCannot;
    }
  }
  arguments.judge.stop = watch_interrupts();
  std::vector<OrdersOfPair> pairs;
  Progress progress;
  bool cannot = false;
  for (const AnyPair* const pair : pairs_named(arguments.pairs)) {
    if (*arguments.judge.stop != 0) break;
    OrdersOfPair judged{.pair = pair, .orders = {}};
    try {
      require_clean(*pair, arguments.judge);
      const std::vector<Order> orders = find_orders(*pair, arguments.judge.seed);
      for (const Order& order : orders) {
        if (*arguments.judge.stop != 0) break;
        progress.show([&] {
          return fmt::format("{}: order {} of {}, {}", pair->name(), judged.orders.size() + 1,
                             orders.size(), text_of(order.place));
        });
        judged.orders.push_back(judge_order(*pair, order, arguments.judge));
        JudgedOrder& one = judged.orders.back();
        if (arguments.all_sizes && one.need == Need::redundant)
          try_all_sizes(*pair, one, arguments.judge);
        if (one.tried.failure) cannot |= !save_case(*one.tried.failure, arguments.cases);
      }
    } catch (const std::runtime_error& error) {
      progress.clear();
      complain(error.what());
      cannot = true;
      continue;
    }
    progress.clear();
    print(orders_text(judged));
    pairs.push_back(std::move(judged));
  }
  if (!arguments.json.empty())
    write_file_atomically(arguments.json, orders_json(pairs).dump(1) + "\n");
  if (!arguments.html.empty()) {
    std::vector<OrdersSection> sections;
    for (const OrdersOfPair& judged : pairs) sections.push_back(section_of(judged));
    write_file_atomically(arguments.html, orders_html(sections));
  }
  if (*arguments.judge.stop != 0) return kInterrupted;
  if (cannot) return kCannot;
  const bool has_redundant = std::ranges::any_of(pairs, [](const OrdersOfPair& judged) {
    return std::ranges::count(judged.orders, Need::redundant, &JudgedOrder::need) != 0;
  });
  return has_redundant ? kFindings : kNothingFound;
}

void add_orders_to(CLI::App& command, Run& run) {
  const auto arguments = std::make_shared<OrdersArguments>();
  command
      .add_option("PAIR", arguments->pairs,
                  "Pairs whose kernels are examined; or, after --, a program and its arguments")
      ->required()
      ->type_name("PAIR...|PROGRAM ARG...");
  command
      .add_option("--runs", arguments->runs,
                  "Runs of a program without each order, each under another schedule")
      ->check(positive_number)
      ->capture_default_str();
  command
      .add_option("--trials", arguments->judge.trials,
                  "Trials without each order, in each build, until one fails")
      ->check(positive_number)
      ->capture_default_str();
  arguments->add_to(command, "an order is redundant");
  command.add_flag("--all-sizes", arguments->all_sizes,
                   "Also ask for every size, from the code alone, whether a kernel without a "
                   "redundant order is free of races");
  command
      .add_option("--cases", arguments->cases,
                  "Directory for the cases, or changes of a program's code, that show a need")
      ->capture_default_str();
  command.add_option("--json", arguments->json, "Write every order to this file");
  command.add_option("--html", arguments->html, "Write the orders beside the source to this file");
  command.footer(
      "Takes away each barrier, wait, fence, memory order, scope, and volatile or relaxed access "
      "of\n"
      "the kernels, one source line at a time, in both builds, and says whether it is\n"
      "  needed      a trial without it fails; the case is shrunk and kept, with the change\n"
      "  redundant   proved at the named sizes: the same results for all data and schedules\n"
      "  not-known   no trial without it failed, and there is no proof\n"
      "See docs/use/orders.md.\n"
      "\n"
      "Examples:\n"
      "  warpcheck orders scan_tree\n"
      "  warpcheck orders reduce_sum --trials 2000 --html orders.html\n"
      "  warpcheck orders -- ./scan 1000\n"
      "\n"
      "Exit status: 0 no order is redundant, 1 one is, 2 bad usage, a pair that fails as it is or\n"
      "cannot be run, or a file that cannot be written, 130 interrupted (Ctrl-C, SIGTERM).");
  command.callback([&run, arguments] { run = [arguments] { return run_orders(*arguments); }; });
}

const RegisteredCommand kOrdersCommand{
    {.rank = 36,
     .name = "orders",
     .help = "Say which barriers, fences and strong accesses of kernels are needed",
     .add = add_orders_to}};

}  // namespace
}  // namespace warpcheck
