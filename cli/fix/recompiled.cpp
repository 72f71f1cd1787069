#include "cli/fix/recompiled.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "cli/kernel/nvcc.hpp"
#include "cli/kernel/temporary_files.hpp"
#include "vgpu/cudart/code/fatbinary_image.hpp"
#include "vgpu/cudart/code/registry.hpp"
#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/text/file_text.hpp"
#include "vgpu/text/replace_all.hpp"
#include "vgpu/text/trimmed.hpp"

namespace warpcheck {
namespace {

namespace fs = std::filesystem;

bool is_below(const std::string& path, const std::string& root) {
  return !root.empty() && path.size() > root.size() && path.starts_with(root) &&
         (root.back() == '/' || path[root.size()] == '/');
}

// Writes changed files below `directory` where `#include` finds them before those on disk; returns
// the main file's place.
fs::path write_changed(const SourceUnit& unit, const ChangedFiles& changed,
                       const fs::path& directory,
                       std::vector<std::pair<std::string, std::string>>& places) {
  const auto place_of = [&](const std::string& path) {
    return is_below(path, unit.source.root)
               ? directory / fs::path(path).lexically_relative(unit.source.root)
               : directory / fs::path(path).filename();
  };
  ChangedFiles files = changed;
  files.try_emplace(unit.source.path, text_of_file(unit.source.path));
  for (const auto& [path, text] : files) {
    const fs::path place = place_of(path);
    fs::create_directories(place.parent_path());
    TemporaryFiles::write(place, text);
    places.emplace_back(place.string(), path);
  }
  return place_of(unit.source.path);
}

std::string first_error(const fs::path& messages, const std::string& directory) {
  std::string text = text_of_file(messages);
  replace_all(text, directory + "/", "");
  for (const std::string_view line : split(text, '\n')) {
    if (line.find("error") != std::string_view::npos) return std::string(line);
  }
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::vector<LaunchedUnit> launched_units() {
  const std::vector<std::string> launched = cudart::launched_kernels();
  const std::set<std::string> names(launched.begin(), launched.end());
  cudart::Registry& registry = cudart::Registry::instance();
  std::vector<LaunchedUnit> units;
  for (const auto& unit : registry.units()) {
    LaunchedUnit found{.unit = unit.get(), .source = {}};
    for (const cudart::Kernel* kernel : registry.kernels_of(*unit)) {
      if (names.contains(kernel->name)) found.source.kernels.push_back(kernel->name);
    }
    if (found.source.kernels.empty()) continue;
    found.source.source = registry.source_of(*unit);
    if (unit->wrapper() != nullptr) {
      const unsigned target = cudart::newest_target_in_fatbinary(unit->wrapper());
      if (target != 0) found.source.target = fmt::format("sm_{}", target);
    }
    units.push_back(std::move(found));
  }
  return units;
}

namespace {

// Beyond input and output.  Directories of changed files come first.
std::vector<std::string> compile_options_of(const SourceUnit& unit, const fs::path& sources) {
  std::vector<std::string> options{"-w", "-I" + sources.string()};
  if (!unit.is_pair) {
    const fs::path folder = fs::path(unit.source.path).parent_path();
    // A changed header is found before the one on disk, wherever it is searched for.
    for (const std::string& option : unit.options) {
      const std::string searched = option.starts_with("-I") ? option.substr(2) : "";
      if (!is_below(searched, unit.source.root)) continue;
      options.push_back(
          "-I" + (sources / fs::path(searched).lexically_relative(unit.source.root)).string());
    }
    options.insert(options.end(), unit.options.begin(), unit.options.end());
    options.push_back("-I" + folder.string());
    return options;
  }
  options.insert(options.end(), {"-std=c++20", "-UNDEBUG",
                                 "-I" + fs::path(unit.source.path).parent_path().string()});
  if (!unit.source.root.empty()) options.push_back("-I" + unit.source.root);
  for (const auto& include : split<std::string>(unit.source.includes, ';')) {
    if (!include.empty()) options.push_back(include.starts_with("-I") ? include : "-I" + include);
  }
  for (const std::string_view option : split(unit.source.options, ' ')) {
    if (!option.empty()) options.emplace_back(option);
  }
  return options;
}

}  // namespace

namespace {

// The command up to the options of the unit.
std::vector<std::string> command_for(const SourceUnit& unit, const fs::path& sources,
                                     std::vector<std::string> command) {
  const std::string architecture = unit.target.starts_with("sm_") ? unit.target.substr(3) : "75";
  command.insert(command.begin(), nvcc_program());
  command.push_back("-arch=compute_" + architecture);
  if (unit.is_relocatable) command.push_back("-rdc=true");
  for (std::string& option : compile_options_of(unit, sources))
    command.push_back(std::move(option));
  return command;
}

bool compiles(const std::vector<std::string>& command, const TemporaryFiles& directory,
              const fs::path& sources, std::string& why) {
  const fs::path messages = directory / "messages";
  if (run_nvcc(command, messages) == 0) return true;
  why = first_error(messages, sources.string());
  if (why.empty()) why = "nvcc failed without a message";
  return false;
}

}  // namespace

std::optional<std::string> compile_unit(const SourceUnit& unit, const ChangedFiles& changed,
                                        cudart::Build build, std::string& why) {
  const TemporaryFiles directory("fix");
  std::vector<std::pair<std::string, std::string>> places;
  const fs::path sources = directory / "sources";
  const fs::path input = write_changed(unit, changed, sources, places);
  const fs::path output = directory / "kernel.ptx";
  std::vector<std::string> command =
      command_for(unit, sources, {"-ptx", build == cudart::Build::optimized ? "-lineinfo" : "-G"});
  command.insert(command.end(), {input.string(), "-o", output.string()});
  if (!compiles(command, directory, sources, why)) return std::nullopt;
  std::string ptx = text_of_file(output);
  for (const auto& [place, path] : places) replace_all(ptx, place, path);
  return ptx;
}

bool build_program(const SourceUnit& unit, const ChangedFiles& changed, const fs::path& output,
                   std::string& why) {
  const TemporaryFiles directory("fix");
  std::vector<std::pair<std::string, std::string>> places;
  const fs::path sources = directory / "sources";
  // The unchanged program names the user's own files in what it shows.
  const fs::path input =
      changed.empty() ? fs::path(unit.source.path) : write_changed(unit, changed, sources, places);
  std::vector<std::string> command = command_for(unit, sources, {"-g", "-lineinfo"});
  command.insert(command.end(), {input.string(), "-o", output.string()});
  return compiles(command, directory, sources, why);
}

UnitTexts::UnitTexts(cudart::Unit& unit, cudart::BuildTexts texts) : unit_(unit) {
  unit_.replace_texts(std::move(texts));
}

UnitTexts::~UnitTexts() { unit_.replace_texts({}); }

}  // namespace warpcheck
