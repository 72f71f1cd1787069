#include "cli/fix/recompiled.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "cli/cli.hpp"
#include "cli/kernel/kernel_text.hpp"
#include "cli/kernel/temporary_files.hpp"
#include "vgpu/cudart/code/fatbinary_image.hpp"
#include "vgpu/cudart/code/registry.hpp"
#include "vgpu/cudart/device/virtual_device.hpp"

namespace warpcheck {
namespace {

namespace fs = std::filesystem;

std::string text_of_file(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// Runs a program whose messages go to a file; returns whether it succeeded.
bool run_quietly(const std::vector<std::string>& command, const fs::path& messages) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, messages.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t process = 0;
  const int error =
      ::posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw UsageError(
        fmt::format("cannot start {}: {}; patches are verified with the compiler's own code: put "
                    "the CUDA Toolkit's nvcc on PATH",
                    command.front(), std::strerror(error)));
  }
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void replace_everywhere(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

std::vector<std::string> split_at(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::istringstream words{std::string(text)};
  for (std::string word; std::getline(words, word, separator);) {
    if (!word.empty()) parts.push_back(word);
  }
  return parts;
}

bool is_below(const std::string& path, const std::string& root) {
  return !root.empty() && path.size() > root.size() && path.starts_with(root) &&
         (root.back() == '/' || path[root.size()] == '/');
}

// Writes changed files below `directory` where `#include` finds them before those on disk; returns
// the main file's place.
fs::path write_changed(const LaunchedUnit& unit, const ChangedFiles& changed,
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
    std::ofstream(place, std::ios::binary) << text;
    places.emplace_back(place.string(), path);
  }
  return place_of(unit.source.path);
}

// The part of a name of internal linkage that nvcc derives from the file and its path,
// "_GLOBAL__N__24de3722_16_scan_cu_8c96d262", of the file that is called `file` in it; empty: no
// such name is there.
std::string file_mark_in(std::string_view text, std::string_view prefix, const std::string& file) {
  constexpr std::size_t kHashDigits = 8;
  const std::string middle = fmt::format("_{}_{}_", file.size(), file);
  for (std::size_t at = text.find(prefix); at != std::string_view::npos;
       at = text.find(prefix, at + 1)) {
    const std::size_t hash_end = at + prefix.size() + kHashDigits;
    if (hash_end > text.size() || text.substr(hash_end, middle.size()) != middle) continue;
    return std::string(text.substr(at, prefix.size() + middle.size() + 2 * kHashDigits));
  }
  return {};
}

// Gives names of internal linkage the path of the unit's own file, by which the host knows them.
void restore_file_marks(const LaunchedUnit& unit, std::string& ptx) {
  std::string file = fs::path(unit.source.path).filename().string();
  for (char& c : file) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  std::string known;
  for (const std::string& name : unit.unit->names) known += name + "\n";
  for (const std::string_view prefix : {"_GLOBAL__N__", "_INTERNAL_"}) {
    const std::string theirs = file_mark_in(known, prefix, file);
    const std::string ours = file_mark_in(ptx, prefix, file);
    if (!theirs.empty() && !ours.empty()) replace_everywhere(ptx, ours, theirs);
  }
}

std::string first_error(const fs::path& messages, const std::string& directory) {
  std::string text = text_of_file(messages);
  replace_everywhere(text, directory + "/", "");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("error") != std::string::npos) return line;
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
    LaunchedUnit found{.unit = unit.get(), .source = {}, .kernels = {}, .target = {}};
    for (const cudart::Kernel* kernel : registry.kernels_of(*unit)) {
      if (names.contains(kernel->name)) found.kernels.push_back(kernel->name);
    }
    if (found.kernels.empty()) continue;
    found.source = registry.source_of(*unit);
    if (unit->wrapper() != nullptr) {
      const unsigned target = cudart::newest_target_in_fatbinary(unit->wrapper());
      if (target != 0) found.target = fmt::format("sm_{}", target);
    }
    units.push_back(std::move(found));
  }
  return units;
}

std::optional<std::string> compile_unit(const LaunchedUnit& unit, const ChangedFiles& changed,
                                        cudart::Build build, std::string& why) {
  const TemporaryFiles directory("fix");
  std::vector<std::pair<std::string, std::string>> places;
  const fs::path sources = directory / "sources";
  const fs::path input = write_changed(unit, changed, sources, places);
  const fs::path output = directory / "kernel.ptx";
  const fs::path messages = directory / "messages";
  const std::string architecture = unit.target.starts_with("sm_") ? unit.target.substr(3) : "75";
  std::vector<std::string> command{nvcc_program(),
                                   "-ptx",
                                   build == cudart::Build::optimized ? "-lineinfo" : "-G",
                                   "-arch=compute_" + architecture,
                                   "-std=c++20",
                                   "-UNDEBUG",
                                   "-w",
                                   "-I" + sources.string(),
                                   "-I" + fs::path(unit.source.path).parent_path().string()};
  if (!unit.source.root.empty()) command.push_back("-I" + unit.source.root);
  for (const std::string& include : split_at(unit.source.includes, ';')) {
    command.push_back(include.starts_with("-I") ? include : "-I" + include);
  }
  for (const std::string& option : split_at(unit.source.options, ' ')) command.push_back(option);
  command.insert(command.end(), {input.string(), "-o", output.string()});
  if (!run_quietly(command, messages)) {
    why = first_error(messages, sources.string());
    return std::nullopt;
  }
  std::string ptx = text_of_file(output);
  for (const auto& [place, path] : places) replace_everywhere(ptx, place, path);
  restore_file_marks(unit, ptx);
  return ptx;
}

UnitTexts::UnitTexts(cudart::Unit& unit, cudart::BuildTexts texts) : unit_(unit) {
  unit_.replace_texts(std::move(texts));
}

UnitTexts::~UnitTexts() { unit_.replace_texts({}); }

}  // namespace warpcheck
