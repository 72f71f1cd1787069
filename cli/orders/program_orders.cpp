#include "cli/orders/program_orders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "cli/exec/code_of_kernels.hpp"
#include "cli/exec/program_experiments.hpp"
#include "cli/exec/program_file.hpp"
#include "cli/exec/program_report.hpp"
#include "cli/exec/run_output.hpp"
#include "harness/case/atomic_file.hpp"
#include "harness/case/edits_json.hpp"
#include "harness/orders/find_orders.hpp"
#include "harness/trial/schedule_search.hpp"
#include "vgpu/check/finding_groups.hpp"
#include "vgpu/cudart/memory/host_memory.hpp"
#include "vgpu/text/counted.hpp"
#include "vgpu/text/shell_word.hpp"

namespace warpcheck {
namespace {

// A run that takes longer waits for ever.
constexpr double kSecondsOfRun = 120;
constexpr std::string_view kProved = "all data and every schedule";

// What a run has shown.
struct SeenRun {
  ProgramRun run;
  ProgramReport report;
  RunOutput output;
  std::map<std::string, cudart::KernelRecord> kernels;  // by their mangled names
};

const vgpu::Finding* first_error(const ProgramReport& report) {
  const auto found = std::ranges::find(report.findings, vgpu::Severity::error,
                                       [](const auto& one) { return one.finding.severity; });
  return found == report.findings.end() ? nullptr : &found->finding;
}

// What the runs of a program without an order show.
class ProgramJudge {
 public:
  ProgramJudge(const ProgramToJudge& program, Supervisor& supervisor)
      : program_(program),
        supervisor_(supervisor),
        runner_(supervisor, program.path, {program.command.begin() + 1, program.command.end()},
                drop_in_directory(), program.directory),
        experiments_(supervisor, runner_, kSecondsOfRun, kNoLimitOfSeconds) {}

  std::vector<OrderOfProgram> run() {
    const SeenRun& plain = plain_run(0);
    const CodeOfKernels code(plain.run);
    std::vector<RanKernel> kernels;
    for (const LaunchedKernel& kernel : code.kernels()) kernels.push_back(ran(kernel, plain));
    steps_max_ = 4 * plain.report.warp_instructions() + 1'000'000;
    const std::vector<Order> orders = orders_of_kernels(kernels);
    std::vector<OrderOfProgram> judged;
    for (const Order& order : orders) {
      if (supervisor_.is_stopped()) break;
      if (program_.on_step)
        program_.on_step(fmt::format("order {} of {}, {}", judged.size() + 1, orders.size(),
                                     text_of(order.place)));
      judged.push_back(judge(order, code.kernels(), judged.size() + 1));
    }
    return judged;
  }

 private:
  static RanKernel ran(const LaunchedKernel& kernel, const SeenRun& plain) {
    RanKernel found{kernel.program, std::vector<std::uint64_t>(kernel.program->code.size(), 0)};
    for (const vgpu::CountedInstr& instr : plain.report.counted) {
      if (instr.kernel == kernel.program->kernel && instr.place < found.counts.size())
        found.counts[instr.place] += instr.counts.executions;
    }
    return found;
  }

  // turn: 0: the default schedule
  static StrategyChoice schedule_of_turn(std::uint64_t turn) {
    return turn == 0 ? StrategyChoice{"default", 0} : policy(turn - 1);
  }

  SeenRun see(const ptx::Edits& edits, std::uint64_t turn) {
    const StrategyChoice schedule = schedule_of_turn(turn);
    const bool is_plain = edits.empty();
    cudart::ExecSettings settings;
    settings.strategy = schedule.name;
    settings.seed = schedule.seed;
    settings.steps_max = steps_max_;
    settings.memory_bytes = memory_bytes_;
    settings.host_bytes = true;
    settings.edits = edits;
    settings.code = settings.profile = is_plain && turn == 0;
    settings.prove = !is_plain && turn == 0;
    std::optional<ProgramRun> run = experiments_.run(std::move(settings));
    if (!run) throw ProgramError(fmt::format("{}: {}", program_.command[0], experiments_.why()));
    SeenRun seen{.run = *std::move(run),
                 .report = ProgramReport(ExpectedFindings(), program_.path)};
    seen.report.add(seen.run);
    seen.output = output_of(seen.run);
    for (const cudart::ExecRecord& record : seen.run.records) {
      if (const auto* const kernel = std::get_if<cudart::KernelRecord>(&record.what))
        seen.kernels.emplace(kernel->name, *kernel);
    }
    return seen;
  }

  // Of the program as it is.
  const SeenRun& plain_run(std::uint64_t turn) {
    const auto known = plain_.find(turn);
    if (known != plain_.end()) return known->second;
    SeenRun seen = see({}, turn);
    if (!seen.report.refusals.empty())
      throw ProgramError(
          fmt::format("{} cannot be run: {}", program_.command[0], seen.report.refusals[0]));
    if (const vgpu::Finding* const finding = first_error(seen.report))
      throw ProgramError(
          fmt::format("{} fails as it is: {}", program_.command[0], vgpu::headline_of(*finding)));
    if (seen.run.signal != 0)
      throw ProgramError(
          fmt::format("{} is killed by signal {}", program_.command[0], seen.run.signal));
    return plain_.emplace(turn, std::move(seen)).first->second;
  }

  // What a run without an order shows; empty: nothing.
  std::string shown_by(const SeenRun& without, std::uint64_t turn) {
    if (const vgpu::Finding* const finding = first_error(without.report))
      return vgpu::headline_of(*finding);
    const SeenRun& plain = plain_run(turn);
    if (without.run.status != plain.run.status)
      return fmt::format("exit status {} in place of {}", without.run.status, plain.run.status);
    const bool differs = !differences(plain.output, without.output).empty();
    return differs ? "other data at the host" : "";
  }

  OrderOfProgram judge(const Order& order, const std::vector<LaunchedKernel>& kernels,
                       std::size_t number) {
    OrderOfProgram judged{.order = order};
    std::map<std::string, std::string> proved;
    for (std::uint64_t turn = 0; turn < program_.runs && !supervisor_.is_stopped(); ++turn) {
      const SeenRun seen = see(order.edits, turn);
      if (!seen.report.refusals.empty()) {
        judged.why_not = seen.report.refusals.front();
        return judged;
      }
      ++judged.runs;
      judged.shows = shown_by(seen, turn);
      if (!judged.shows.empty()) {
        judged.need = Need::needed;
        judged.command = keep(order, turn, number);
        return judged;
      }
      if (turn == 0) proved = seen.report.proved;
    }
    prove(judged, kernels, proved);
    return judged;
  }

  // Writes the change; returns the command that runs the program with it.
  std::string keep(const Order& order, std::uint64_t turn, std::size_t number) const {
    const std::filesystem::path name = std::filesystem::path(program_.path).filename();
    const std::string file =
        fmt::format("{}/{}-{}.json", program_.edits_directory, name.string(), number);
    std::filesystem::create_directories(program_.edits_directory);
    write_file_atomically(file, to_json(order.edits).dump(1) + "\n");
    const StrategyChoice schedule = schedule_of_turn(turn);
    std::string command = fmt::format("warpcheck exec --edits {}", shell_word(file));
    if (turn != 0) command += fmt::format(" --strategy {} --seed {}", schedule.name, schedule.seed);
    command += " --";
    for (const std::string& word : program_.command) command += " " + shell_word(word);
    return command;
  }

  static bool contains(const vgpu::Program& kernel, const ptx::Edits& edits) {
    return std::ranges::any_of(kernel.functions, [&](const vgpu::FunctionCode& function) {
      return function.text != nullptr &&
             std::ranges::any_of(edits, [&](const ptx::ProgramEdit& edit) {
               return std::get<ptx::InstructionPlace>(edit.place).function == function.text->name;
             });
    });
  }

  // proved: of each kernel of the run without the order, by its code
  static void prove(OrderOfProgram& judged, const std::vector<LaunchedKernel>& kernels,
                    const std::map<std::string, std::string>& proved) {
    if (!judged.order.beside.empty()) {
      judged.need = Need::redundant;
      judged.proof =
          fmt::format("all sizes: the barrier at {} orders the same", judged.order.beside);
      return;
    }
    std::set<std::uint32_t> blocks;
    for (const LaunchedKernel& kernel : kernels) {
      if (!contains(*kernel.program, judged.order.edits)) continue;
      const auto found = proved.find(kernel.program->kernel);
      judged.why_not = found == proved.end() ? "its code was not examined" : found->second;
      if (judged.why_not != kProved) return;
      blocks.insert(kernel.threads);
    }
    judged.why_not.clear();
    judged.need = Need::redundant;
    std::string sizes;
    for (const std::uint32_t threads : blocks)
      sizes += fmt::format("{}{}", sizes.empty() ? "" : ", ", threads);
    judged.proof =
        fmt::format("the sizes of the launches of this run, blocks of {} threads", sizes);
  }

  const ProgramToJudge& program_;
  Supervisor& supervisor_;
  ProgramRunner runner_;
  ProgramExperiments experiments_;
  const std::uint64_t memory_bytes_ = cudart::device_memory_of_host();
  std::uint64_t steps_max_ = vgpu::kNoLimit;
  std::map<std::uint64_t, SeenRun> plain_;  // by turn
};

std::string reason_of_program(const OrderOfProgram& one) {
  const std::string runs = counted(one.runs, "run");
  if (one.need == Need::needed) return fmt::format("{}, after {}", one.shows, runs);
  if (one.need == Need::redundant)
    return fmt::format("without it the same results for all data and schedules; {}", one.proof);
  return fmt::format("{} without a finding; no proof: {}", runs, one.why_not);
}

}  // namespace

std::vector<OrderOfProgram> judge_orders_of_program(const ProgramToJudge& program,
                                                    Supervisor& supervisor) {
  return ProgramJudge(program, supervisor).run();
}

std::string program_orders_text(const std::string& title,
                                const std::vector<OrderOfProgram>& orders) {
  const auto count = [&](Need need) {
    return std::ranges::count(orders, need, &OrderOfProgram::need);
  };
  std::string text = fmt::format("{}: {}: {} needed, {} redundant, {} not known\n", title,
                                 counted(orders.size(), "order"), count(Need::needed),
                                 count(Need::redundant), count(Need::unknown));
  for (const OrderOfProgram& one : orders) {
    text += fmt::format("  {:<9}  {}  {}\n", name_of(one.need), text_of(one.order.place),
                        change_text(one.order));
    text += fmt::format("             executed {}, {} of the steps\n",
                        counted(one.order.executed, "time"), share_text(one.order));
    text += fmt::format("             {}\n", reason_of_program(one));
    if (!one.command.empty()) text += fmt::format("             {}\n", one.command);
  }
  return text;
}

OrdersSection program_orders_section(const std::string& title,
                                     const std::vector<OrderOfProgram>& orders) {
  OrdersSection section{.title = title, .orders = {}};
  for (const OrderOfProgram& one : orders)
    section.orders.push_back({&one.order, one.need, reason_of_program(one)});
  return section;
}

Json program_orders_json(const std::vector<std::string>& command,
                         const std::vector<OrderOfProgram>& orders) {
  Json list = Json::array();
  for (const OrderOfProgram& one : orders) {
    Json json = order_json(one.order);
    json["verdict"] = name_of(one.need);
    json["runs"] = one.runs;
    if (one.need == Need::needed) {
      json["finding"] = one.shows;
      json["command"] = one.command;
    }
    if (one.need == Need::redundant) json["proof"] = one.proof;
    if (!one.why_not.empty()) json["no_proof"] = one.why_not;
    list.push_back(std::move(json));
  }
  return {{"schema", "warpcheck-orders/1"},
          {"command", "orders"},
          {"program", command},
          {"orders", std::move(list)}};
}

}  // namespace warpcheck
