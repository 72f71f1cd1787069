#include "cli/report_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "cli/cli.hpp"
#include "cli/version.hpp"
#include "harness/case/case_file.hpp"
#include "harness/input/json.hpp"

namespace warpcheck {
namespace {

struct Format {
  const char* option;
  std::string ReportOptions::*file;
  const char* help;
  const char* help_for_programs;  // nullptr: for pairs only
};

constexpr const char* kJsonHelp = "Write the findings to this file, as JSON";
constexpr const char* kJunitHelp = "Write the verdicts to this file, as JUnit XML";
constexpr const char* kSarifHelp = "Write the findings to this file, as SARIF 2.1.0";

constexpr std::array<Format, 5> kFormats{{
    {"--json", &ReportOptions::json, kJsonHelp, kJsonHelp},
    {"--html", &ReportOptions::html,
     "Write one page to this file: verdicts, findings with their source and a picture of the "
     "interleaving, coverage",
     "Write one page to this file: the verdict, findings with their source, the kernels that ran"},
    {"--junit", &ReportOptions::junit, kJunitHelp, kJunitHelp},
    {"--sarif", &ReportOptions::sarif, kSarifHelp, kSarifHelp},
    {"--lcov", &ReportOptions::lcov,
     "Write the coverage of the kernels' source lines to this file, as an lcov tracefile", nullptr},
}};

void add(CLI::App& command, const Format& format, std::string& file, const char* help) {
  command.add_option(format.option, file, help)->type_name("FILE")->group("Reports");
}

std::string text_of(const Format& format, const RunReport& run) {
  const auto file = format.file;
  if (file == &ReportOptions::json) {
    return report_json(run).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  if (file == &ReportOptions::html) return report_html(run);
  if (file == &ReportOptions::junit) return report_junit(run);
  if (file == &ReportOptions::sarif) return report_sarif(run, version());
  return report_lcov(run.coverage.value_or(LineCoverage{}));
}

}  // namespace

void ReportOptions::add_to(CLI::App& command) {
  for (const Format& format : kFormats) add(command, format, this->*format.file, format.help);
}

void ReportOptions::add_for_programs_to(CLI::App& command) {
  for_programs = true;
  for (const Format& format : kFormats) {
    if (format.help_for_programs == nullptr) continue;
    add(command, format, this->*format.file, format.help_for_programs);
  }
}

void ReportOptions::check() const {
  std::set<std::string> files;
  for (const Format& format : kFormats) {
    const std::string& file = this->*format.file;
    if (file.empty()) continue;
    std::error_code error;
    if (std::filesystem::is_directory(file, error)) {
      throw UsageError(fmt::format("{} {}: a directory; name a file", format.option, file));
    }
    if (!files.insert(std::filesystem::path(file).lexically_normal().string()).second) {
      throw UsageError(
          fmt::format("{} {}: another report is written to this file", format.option, file));
    }
  }
}

ReportOptions ReportOptions::rewritable() const {
  ReportOptions options = *this;
  for (const Format& format : kFormats) {
    std::string& file = options.*format.file;
    std::error_code error;
    const auto status = std::filesystem::status(file, error);
    const std::string whole = std::filesystem::absolute(file, error).string();
    const bool is_special =
        std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
    if (is_special || whole.starts_with("/dev/") || whole.starts_with("/proc/")) file.clear();
  }
  return options;
}

bool ReportOptions::wants_any() const {
  return std::ranges::any_of(kFormats, [&](const Format& f) { return !(this->*f.file).empty(); });
}

void ReportOptions::write(RunReport& run, Engine& engine) const {
  if (wants_pictures() && run.pictures.empty()) {
    for (const Report& report : run.reports) run.pictures.push_back(interleavings(report, engine));
  }
  std::string errors;
  for (const Format& format : kFormats) {
    const std::string& file = this->*format.file;
    if (file.empty()) continue;
    try {
      write_file_atomically(file, text_of(format, run));
    } catch (const CaseFileError& error) {
      errors += fmt::format("{}{}", errors.empty() ? "" : "; ", error.what());
    }
  }
  if (!errors.empty()) throw CaseFileError(errors);
}

}  // namespace warpcheck
