// Runs random PTX programs on the machine in all its modes, which must not matter, on the reference
// interpreter, and on a real GPU.  See docs/develop/conformance.md.
//
//   ptx_differential [--programs N] [--seed S] [--engine vgpu|gpu|both] [--save DIRECTORY]
//   ptx_differential --replay FILE [--engine ...]
//   ptx_differential --events [--programs N] [--seed S]
//
//   --events       compares, instead of results, all events of the interpreter and of machine code,
//                  also of programs most of whose values are the same in all lanes
//   --engine       vgpu: the machine and the reference; gpu: the machine and a GPU; both: all
//   --optimized    on the GPU also as its assembler optimises them
//   --save         a program that differs is shrunk and written there as SEED.ptx
//   --shrinks N    how many smaller programs are tried for it
//   --saves N      how many programs are shrunk and written; default 10
//   --print        prints the programs instead of running them
//   --target SM    what the programs may use; default 90
//   --known        only what the reference knows
//   --approximate  also instructions whose results may differ
//   --missing      names the forms that no program held
//
// Exit 0: all agree, 1: some differ, 2: bad usage, a bad file, or no GPU.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>

#include "vgpu/differential/compare.hpp"
#include "vgpu/differential/coverage.hpp"
#include "vgpu/differential/events/same_events_testing.hpp"
#include "vgpu/differential/events/uniform_program.hpp"
#include "vgpu/differential/random/random_program.hpp"
#include "vgpu/ptx/shrink.hpp"

namespace {

using namespace warpcheck::vgpu;  // NOLINT(google-build-using-namespace)

struct Settings {
  std::uint64_t programs = 1000, seed = 0;
  std::string engine = "vgpu";
  std::filesystem::path save, replay;
  std::size_t shrinks = 500, saves = 10;
  bool optimized = false, prints = false, names_missing = false, events = false;
  ProgramOptions options;
};

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(fmt::format("cannot read {}", path.string()));
  return {std::istreambuf_iterator<char>(file), {}};
}

std::filesystem::path write(const std::filesystem::path& directory, const std::string& name,
                            const std::string& text) {
  std::filesystem::create_directories(directory);
  std::filesystem::path path = directory / (name + ".ptx");
  std::ofstream(path) << text;
  return path;
}

// Writes the smallest program found with the same difference.
void save(const Settings& settings, const std::string& name, const std::string& text,
          const Comparison& shown, const Engines& engines) {
  if (settings.save.empty()) return;
  const std::string small =
      warpcheck::ptx::shrink(text, settings.shrinks, [&](const std::string& candidate) {
        return compare(candidate, name, engines).parties == shown.parties;
      });
  const std::filesystem::path path = write(settings.save, name, small);
  fmt::print("  {}\n  replay: ptx_differential --engine {} --replay {}\n",
             compare(small, name, engines).difference, settings.engine, path.string());
}

int run(const Settings& settings) {
  std::optional<Gpu> gpu;
  Engines engines;
  engines.reference = settings.engine != "gpu";
  engines.optimized = settings.optimized;
  if (settings.engine != "vgpu") {
    gpu.emplace();
    engines.gpu = &*gpu;
    fmt::print("compared with {}\n", gpu->description());
  }
  if (!settings.replay.empty()) {
    const std::string name = settings.replay.string();
    const std::string text = read_file(settings.replay);
    const Comparison found = compare(text, name, engines);
    fmt::print("{}\n", found.difference.empty() ? name + ": agrees" : found.difference);
    if (!found.difference.empty()) {
      save(settings, settings.replay.stem().string(), text, found, engines);
    }
    return found.difference.empty() ? 0 : 1;
  }
  FormCoverage coverage(settings.options);
  std::uint64_t differing = 0, unknown = 0;
  for (std::uint64_t seed = settings.seed; seed < settings.seed + settings.programs; ++seed) {
    const std::string text = random_program(seed, settings.options);
    const std::string name = fmt::format("seed-{}", seed);
    coverage.add(text);
    const Comparison found = compare(text, name, engines);
    if (!found.unknown.empty() && unknown++ == 0 && settings.options.known) {
      fmt::print("{}: the reference does not know {}\n", name, found.unknown);
    }
    if (found.difference.empty()) continue;
    ++differing;
    fmt::print("{}\n", found.difference);
    if (differing <= settings.saves) save(settings, name, text, found, engines);
  }
  fmt::print("{} programs, {} differ, {} without a reference; they hold {}", settings.programs,
             differing, engines.reference ? unknown : settings.programs,
             coverage.summary(settings.names_missing));
  return differing == 0 ? 0 : 1;
}

// Returns the number of events; saves the smallest program found that differs if this one does.
std::size_t compare_events(const Settings& settings, std::uint64_t seed, const std::string& name,
                           const std::string& text, const EventShape& shape, bool& differs) {
  const EventComparison found = events_both_ways(text, seed, shape);
  differs = !found.difference.empty();
  if (!differs) return found.events;
  fmt::print("{}: {}\n", name, found.difference);
  if (settings.save.empty()) return found.events;
  const std::string small =
      warpcheck::ptx::shrink(text, settings.shrinks, [&](const std::string& candidate) {
        try {
          return !events_both_ways(candidate, seed, shape).difference.empty();
        } catch (const std::exception&) {  // a missing label
          return false;
        }
      });
  write(settings.save, name, small);
  return found.events;
}

// Runs two programs for each seed.
int compare_all_events(const Settings& settings) {
  std::uint64_t differing = 0, events = 0;
  for (std::uint64_t seed = settings.seed; seed < settings.seed + settings.programs; ++seed) {
    bool differs = false;
    events += compare_events(settings, seed, fmt::format("seed-{}", seed),
                             random_program(seed, settings.options), {}, differs);
    differing += differs ? 1 : 0;
    const std::string uniform = uniform_program(seed);
    events += compare_events(settings, seed, fmt::format("uniform-{}", seed), uniform,
                             uniform_shape(uniform, seed), differs);
    differing += differs ? 1 : 0;
  }
  fmt::print("{} programs, {} differ; {} events\n", 2 * settings.programs, differing, events);
  return differing == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) try {
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 12);  // a driver's assembler may crash
  Settings settings;
  CLI::App app("Random PTX programs on the virtual GPU, on a reference, and on a real GPU.");
  app.add_option("--programs", settings.programs);
  app.add_option("--seed", settings.seed);
  app.add_option("--engine", settings.engine)->check(CLI::IsMember({"vgpu", "gpu", "both"}));
  app.add_flag("--optimized", settings.optimized);
  app.add_option("--save", settings.save);
  app.add_option("--shrinks", settings.shrinks);
  app.add_option("--saves", settings.saves);
  app.add_option("--replay", settings.replay);
  app.add_flag("--events", settings.events);
  app.add_option("--target", settings.options.target);
  app.add_flag("--approximate", settings.options.approximate);
  app.add_flag("--known", settings.options.known);
  app.add_flag("--print", settings.prints);
  app.add_flag("--missing", settings.names_missing);
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (settings.events) return compare_all_events(settings);
  if (!settings.prints) return run(settings);
  for (std::uint64_t seed = settings.seed; seed < settings.seed + settings.programs; ++seed) {
    fmt::print("{}", random_program(seed, settings.options));
  }
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "ptx_differential: {}\n", error.what());
  return 2;
}
