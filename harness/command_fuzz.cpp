// warpcheck fuzz: coverage-guided search of one pair (fuzz/).
#include <memory>

#include "fuzz/fuzz.hpp"
#include "harness/cli.hpp"

namespace warpcheck {

void add_fuzz_command(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("fuzz", "Coverage-guided search of one pair");
  struct Arguments {
    FuzzOptions fuzz;
    std::string pair;
  };
  const auto arguments = std::make_shared<Arguments>();
  FuzzOptions& fuzz = arguments->fuzz;
  command->add_option("PAIR", arguments->pair, "Which pair")->required();
  command->add_option("--seconds", fuzz.seconds, "At most; 0: until it is interrupted")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--jobs", fuzz.jobs, "Processes")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--corpus", fuzz.corpus, "Directory of saved inputs");
  command->add_option("--cases", fuzz.cases, "Directory for the cases of failures")
      ->capture_default_str();
  command->add_option("--json", fuzz.json, "Write the findings to this file");
  command->callback([&run, arguments] {
    run = [arguments] {
      arguments->fuzz.pair = pairs_named({arguments->pair}).front();
      return fuzz_pair(arguments->fuzz);
    };
  });
}

}  // namespace warpcheck
