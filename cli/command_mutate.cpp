// warpcheck mutate: which changes of a pair's kernels its own generators and claims would not
// notice.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/orders/judge_arguments.hpp"
#include "harness/case/atomic_file.hpp"
#include "harness/orders/mutants.hpp"
#include "harness/process/progress.hpp"
#include "harness/search/check.hpp"
#include "harness/trial/experiment_engine.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck {
namespace {

struct MutateArguments : JudgeArguments {
  std::vector<std::string> pairs;
  std::string build = "optimized";
  int trials = CheckOptions{}.trials;
  std::string json;
};

enum class Fate : std::uint8_t { killed, survived, equivalent, cannot_run };

std::string_view name_of(Fate fate) {
  static constexpr std::array kNames{std::string_view("killed"), std::string_view("survived"),
                                     std::string_view("equivalent"),
                                     std::string_view("cannot-run")};
  return kNames[static_cast<std::size_t>(fate)];
}

struct JudgedMutant {
  Mutant mutant;
  Fate fate = Fate::survived;
  std::string by;                        // killed: the claim
  std::vector<vgpu::FindingKind> kinds;  // killed: what it found
  std::uint64_t trials = 0;
  std::string reason;  // equivalent: the proof; survived: why there is none; cannot run: why
};

struct MutantsOfPair {
  const AnyPair* pair = nullptr;
  std::vector<JudgedMutant> mutants;
};

cudart::Build build_named(const std::string& name) {
  return name == "optimized" ? cudart::Build::optimized : cudart::Build::unoptimized;
}

CheckOptions check_options(const MutateArguments& arguments) {
  CheckOptions options;
  options.seed = arguments.judge.seed;
  options.trials = arguments.trials;
  options.settings.front().build = build_named(arguments.build);
  options.shrink_failures = false;
  options.stop = arguments.judge.stop;
  return options;
}

// Runs the pair's claims as `check` does.
void try_claims(const AnyPair& pair, const MutateArguments& arguments, JudgedMutant& judged) {
  ExperimentEngine engine(virtual_gpu(), judged.mutant.edits);
  std::vector<std::string> claims{""};
  for (const PropertyEntry& property : pair.properties()) claims.push_back(property.name);
  for (const std::string& claim : claims) {
    TrialRunner runner(engine);
    const CheckOutcome outcome = check_claim(pair, claim, check_options(arguments), runner);
    judged.trials += outcome.trials;
    for (const Report& report : outcome.failures) {
      if (report.verdict.refusals.empty()) continue;
      judged.fate = Fate::cannot_run;
      judged.reason = report.verdict.refusals.front();
      return;
    }
    if (outcome.kinds.empty()) continue;
    judged.fate = Fate::killed;
    judged.by = claim_title(pair, claim);
    judged.kinds = outcome.kinds;
    return;
  }
}

// A mutant without an order has every execution of the kernel, and perhaps others; other mutants
// are equivalent if both equal the reference.
JudgedMutant judge_mutant(const AnyPair& pair, Mutant mutant, const MutateArguments& arguments) {
  JudgedMutant judged;
  judged.mutant = std::move(mutant);
  try_claims(pair, arguments, judged);
  if (judged.fate != Fate::survived || *arguments.judge.stop != 0) return judged;
  ChangeProof proof =
      prove_change(pair, judged.mutant.edits, {build_named(arguments.build)}, arguments.judge);
  const bool is_order = judged.mutant.kind == MutantKind::order;
  if (is_order ? proof.has_same_results : proof.equals_reference) {
    judged.fate = Fate::equivalent;
    judged.reason = std::move(proof.points);
  } else {
    judged.reason = proof.has_same_results ? "no certificate of equality with the reference"
                                           : std::move(proof.obstacle);
  }
  return judged;
}

std::size_t count_of(const MutantsOfPair& judged, Fate fate) {
  return static_cast<std::size_t>(std::ranges::count(judged.mutants, fate, &JudgedMutant::fate));
}

std::string mutant_text(const JudgedMutant& one) {
  std::string text = fmt::format("  {:<10}  {}  {}\n", name_of(one.fate), text_of(one.mutant.place),
                                 one.mutant.change);
  const auto add = [&](const std::string& line) { text += "              " + line + "\n"; };
  switch (one.fate) {
    case Fate::killed:
      add(fmt::format("{} by {}, after {}", show_kinds(one.kinds), one.by,
                      counted(one.trials, "trial")));
      break;
    case Fate::survived:
      add(fmt::format("{} of all claims without a finding", counted(one.trials, "trial")));
      if (!one.reason.empty()) add("not proved equivalent: " + one.reason);
      break;
    case Fate::equivalent: add(fmt::format("proved at {}", one.reason)); break;
    case Fate::cannot_run: add(one.reason); break;
  }
  return text;
}

std::string mutants_text(const MutantsOfPair& judged) {
  std::string text =
      fmt::format("{}: {}: {} killed, {} survived, {} equivalent", judged.pair->name(),
                  counted(judged.mutants.size(), "mutant"), count_of(judged, Fate::killed),
                  count_of(judged, Fate::survived), count_of(judged, Fate::equivalent));
  if (const std::size_t count = count_of(judged, Fate::cannot_run); count != 0)
    text += fmt::format(", {} cannot run", count);
  text += "\n";
  for (const Fate fate : {Fate::survived, Fate::cannot_run, Fate::equivalent, Fate::killed}) {
    for (const JudgedMutant& one : judged.mutants) {
      if (one.fate == fate) text += mutant_text(one);
    }
  }
  return text;
}

Json mutants_json(const std::vector<MutantsOfPair>& pairs) {
  Json list = Json::array();
  for (const MutantsOfPair& judged : pairs) {
    Json mutants = Json::array();
    for (const JudgedMutant& one : judged.mutants) {
      Json places = Json::array();
      for (const SourceLine& line : one.mutant.place)
        places.push_back({{"file", line.file}, {"line", line.line}});
      Json kinds = Json::array();
      for (const vgpu::FindingKind kind : one.kinds) kinds.push_back(vgpu::name_of(kind));
      mutants.push_back({{"kind", name_of(one.mutant.kind)},
                         {"places", std::move(places)},
                         {"change", one.mutant.change},
                         {"verdict", name_of(one.fate)},
                         {"claim", one.by},
                         {"kinds", std::move(kinds)},
                         {"trials", one.trials},
                         {"reason", one.reason}});
    }
    list.push_back({{"pair", judged.pair->name()}, {"mutants", std::move(mutants)}});
  }
  return Json{{"schema", "warpcheck-mutants/1"}, {"command", "mutate"}, {"pairs", std::move(list)}};
}

int run_mutate(MutateArguments& arguments) {
  arguments.judge.stop = watch_interrupts();
  std::vector<MutantsOfPair> pairs;
  Progress progress;
  bool cannot = false, survived = false;
  for (const AnyPair* const pair : pairs_named(arguments.pairs)) {
    if (*arguments.judge.stop != 0) break;
    MutantsOfPair judged{.pair = pair, .mutants = {}};
    try {
      require_clean(*pair, arguments.judge);
      const std::vector<Mutant> mutants =
          find_mutants(*pair, build_named(arguments.build), arguments.judge.seed);
      for (const Mutant& mutant : mutants) {
        if (*arguments.judge.stop != 0) break;
        progress.show([&] {
          return fmt::format("{}: mutant {} of {}, {}", pair->name(), judged.mutants.size() + 1,
                             mutants.size(), text_of(mutant.place));
        });
        judged.mutants.push_back(judge_mutant(*pair, mutant, arguments));
      }
    } catch (const std::runtime_error& error) {
      progress.clear();
      complain(error.what());
      cannot = true;
      continue;
    }
    progress.clear();
    print(mutants_text(judged));
    survived |= count_of(judged, Fate::survived) != 0;
    cannot |= count_of(judged, Fate::cannot_run) != 0;
    pairs.push_back(std::move(judged));
  }
  if (!arguments.json.empty())
    write_file_atomically(arguments.json, mutants_json(pairs).dump(1) + "\n");
  if (*arguments.judge.stop != 0) return kInterrupted;
  if (cannot) return kCannot;
  return survived ? kFindings : kNothingFound;
}

void add_mutate_to(CLI::App& command, Run& run) {
  const auto arguments = std::make_shared<MutateArguments>();
  arguments->judge.trials = static_cast<std::uint64_t>(CheckOptions{}.trials);
  command.add_option("PAIR", arguments->pairs, "Pairs whose kernels are mutated")->required();
  command.add_option("--trials", arguments->trials, "Trials of each claim, as of `check`")
      ->check(positive_number)
      ->capture_default_str();
  arguments->add_to(command, "a mutant is equivalent");
  command.add_option("--build", arguments->build, "Device code: as shipped, or nvcc -G")
      ->check(CLI::IsMember({"optimized", "unoptimized"}))
      ->capture_default_str();
  command.add_option("--json", arguments->json, "Write every mutant to this file");
  command.footer(
      "Changes the kernels in one place at a time and runs the pair's own check: its generators,\n"
      "its comparison with the reference and its properties.  Each order is taken away, a bound\n"
      "is compared with < instead of <= or with a number one more or less, an index is one more\n"
      "or less, an atomic operation becomes a load and a store.  A mutant that survives is a\n"
      "defect that the pair would not notice.  See docs/use/orders.md.\n"
      "\n"
      "Examples:\n"
      "  warpcheck mutate scan_tree\n"
      "  warpcheck mutate histogram_shared --trials 500 --json mutants.json\n"
      "\n"
      "Exit status: 0 every mutant is killed or equivalent, 1 one survived, 2 bad usage, a pair\n"
      "that fails as it is, a mutant that cannot run, or a file that cannot be written, 130\n"
      "interrupted (Ctrl-C, SIGTERM).");
  command.callback([&run, arguments] { run = [arguments] { return run_mutate(*arguments); }; });
}

const RegisteredCommand kMutateCommand{
    {.rank = 37,
     .name = "mutate",
     .help = "Say which changes of a pair's kernels its claims would not notice",
     .add = add_mutate_to}};

}  // namespace
}  // namespace warpcheck
