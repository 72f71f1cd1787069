#include "cli/look/profile_arguments.hpp"

#include <fmt/format.h>

#include "cli/cli.hpp"
#include "harness/case/case_file.hpp"
#include "harness/input/json.hpp"
#include "harness/report/memory_profile.hpp"

namespace warpcheck {
namespace {

constexpr std::size_t kLinesMax = 20;  // in the terminal

}  // namespace

void ProfileArguments::add_to(CLI::App& command) {
  option_ = command
                .add_option("--profile", file_,
                            "Count what each line of the kernels does to memory: sectors, bank "
                            "conflicts, contended atomics; print the lines that lose most, and "
                            "write all to FILE.json")
                ->expected(0, 1)
                ->type_name("[FILE.json]");
}

void ProfileArguments::check() const {
  if (file_.empty() || file_.ends_with(".json")) return;
  throw UsageError(
      fmt::format("--profile {}: the file to write must end with .json; other arguments stand "
                  "before --profile, or after another option",
                  file_));
}

std::string ProfileArguments::write(const MemoryProfile& profile, bool is_cut) const {
  if (!file_.empty()) write_file_atomically(file_, profile_json(profile).dump(1) + "\n");
  SourceFiles files;
  std::string text = profile_text(profile, files, kLinesMax);
  if (text.empty()) {
    return is_cut ? "profile: nothing was counted until the program was killed\n"
                  : "profile: no kernel has accessed memory\n";
  }
  text.insert(0, is_cut ? "profile, counted until the program was killed: lines that lose most "
                          "come first\n"
                        : "profile: lines that lose most come first\n");
  if (!file_.empty()) text += fmt::format("profile of all lines: {}\n", file_);
  return text;
}

}  // namespace warpcheck
