#include "vgpu/litmus/suite/verdict_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace warpcheck::litmus {
namespace {

constexpr std::size_t kTextMax = 60;
constexpr std::string_view kBegin = "// expect: ";

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// The code of a line, without comments, shortened.
std::string code_of(std::string_view line) {
  std::string code;
  for (const char letter : line.substr(0, line.find("//"))) {
    if (letter != ' ' || (!code.empty() && code.back() != ' ')) code += letter;
  }
  while (code.ends_with(' ')) code.pop_back();
  return code.size() <= kTextMax ? code : code.substr(0, kTextMax - 3) + "...";
}

// The text of a line; from its second occurrence in the program on, also which one it is.
// program begins with its expectations.
std::string place(const std::vector<std::string>& lines, std::size_t number) {
  if (number == 0 || number > lines.size()) return fmt::format("line {}", number);
  const std::string code = code_of(lines[number - 1]);
  std::size_t count = 1;
  for (std::size_t i = number - 1; i > 0 && !lines[i - 1].starts_with(kBegin); --i) {
    count += code_of(lines[i - 1]) == code ? 1 : 0;
  }
  return fmt::format("`{}`", code) + (count > 1 ? fmt::format(" #{}", count) : "");
}

std::string program_of(const std::string& row) { return row.substr(0, row.find_first_of(" :")); }

}  // namespace

std::string verdict_of(const vgpu::Finding& finding, std::string_view source) {
  const std::vector<std::string> lines = lines_of(source);
  std::set<std::string> sides;
  for (const vgpu::AccessSide& side : finding.accesses) {
    sides.insert(side.role + (side.file.empty() ? "" : " " + place(lines, side.line)));
  }
  std::string text =
      fmt::format("{} {}", vgpu::name_of(finding.severity), vgpu::name_of(finding.kind));
  if (!finding.space.empty()) text += " " + finding.space;
  return sides.empty() ? text : text + fmt::format(": {}", fmt::join(sides, ", "));
}

void VerdictTable::add(const std::string& program, const std::string& variant,
                       const std::vector<vgpu::Finding>& findings, std::string_view source) {
  Seen& seen = seen_[program];
  seen.variants.insert(variant);
  for (const vgpu::Finding& finding : findings) {
    seen.verdicts[verdict_of(finding, source)].insert(variant);
  }
  if (findings.empty()) seen.verdicts["clean"].insert(variant);
}

Rows VerdictTable::rows_of(const std::string& program, const Seen& seen) {
  Rows rows;
  for (const auto& [verdict, variants] : seen.verdicts) {
    if (variants == seen.variants) {
      rows.insert(fmt::format("{}: {}", program, verdict));
      continue;
    }
    for (const std::string& variant : variants) {
      rows.insert(fmt::format("{} {}: {}", program, variant, verdict));
    }
  }
  return rows;
}

std::vector<std::string> VerdictTable::differences(std::string_view suite, std::string_view table,
                                                   const std::set<std::string>& all) const {
  std::map<std::string, Rows> accepted;
  for (const std::string& line : lines_of(table)) {
    if (!line.starts_with('#')) accepted[program_of(line)].insert(line);
  }
  std::vector<std::string> told, programs;
  const auto compare = [&](const std::string& program, const Rows& old, const Rows& seen) {
    if (old == seen) return;
    programs.push_back(fmt::format("{}/{}", suite, program));
    for (const std::string& row : old) {
      if (!seen.contains(row)) told.push_back("  gone: " + row);
    }
    for (const std::string& row : seen) {
      if (!old.contains(row)) told.push_back("  new:  " + row);
    }
  };
  for (const auto& [program, seen] : seen_) {
    compare(program, accepted[program], rows_of(program, seen));
  }
  for (const auto& [program, rows] : accepted) {
    if (!all.contains(program)) compare(program, rows, {});
  }
  if (!programs.empty()) {
    told.push_back(fmt::format("if they are right, confirm them: ci/verdicts --accept {}",
                               fmt::join(programs, " ")));
  }
  return told;
}

void VerdictTable::write(const std::string& directory, const std::set<std::string>& all) const {
  std::filesystem::create_directories(directory);
  for (const auto& [program, seen] : seen_) {
    std::ofstream(fmt::format("{}/{}.txt", directory, program))
        << fmt::format("{}\n", fmt::join(rows_of(program, seen), "\n"));
  }
  std::ofstream(directory + "/programs") << fmt::format("{}\n", fmt::join(all, "\n"));
}

}  // namespace warpcheck::litmus
