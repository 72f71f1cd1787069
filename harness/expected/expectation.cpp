#include "harness/expected/expectation.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <filesystem>

#include "vgpu/text/template_arguments.hpp"

namespace warpcheck {
namespace {

bool has_place(const vgpu::AccessSide& side) { return !side.file.empty(); }

// file and line: of a side, or of the header that it calls.
bool is_at(const Expectation& expectation, const Expectation::Place& place, const std::string& file,
           std::uint32_t line, const SourceLines& lines) {
  if (file.empty() || !matches_file(place.file, file)) return false;
  if (place.line != 0 && place.line != line) return false;
  if (place.text.empty()) return true;
  const std::vector<std::string>* text = lines(file);
  // A program may run where its sources are elsewhere: beside the expectations, for example.
  if (text == nullptr) {
    text = lines(
        (std::filesystem::path(expectation.source).parent_path() / place.file).lexically_normal());
  }
  return text != nullptr && line != 0 && line <= text->size() &&
         matches(place.text, code_of_line((*text)[line - 1]));
}

bool is_at(const Expectation& expectation, const Expectation::Place& place,
           const vgpu::AccessSide& side, const SourceLines& lines) {
  if (!place.role.empty() && place.role != side.role) return false;
  return is_at(expectation, place, side.file, side.line, lines) ||
         is_at(expectation, place, side.header, side.header_line, lines);
}

bool is_at_places(const Expectation& expectation, const vgpu::Finding& finding,
                  const SourceLines& lines) {
  const auto is_expected = [&](const vgpu::AccessSide& side) {
    return !has_place(side) ||
           std::ranges::any_of(expectation.places, [&](const Expectation::Place& place) {
             return is_at(expectation, place, side, lines);
           });
  };
  const auto is_found = [&](const Expectation::Place& place) {
    return std::ranges::any_of(finding.accesses, [&](const vgpu::AccessSide& side) {
      return is_at(expectation, place, side, lines);
    });
  };
  return std::ranges::all_of(finding.accesses, is_expected) &&
         std::ranges::all_of(expectation.places, is_found);
}

bool is_in_files(const std::vector<std::string>& patterns, const vgpu::Finding& finding) {
  const auto is_match = [&](const std::string& file) {
    return std::ranges::any_of(
        patterns, [&](const std::string& pattern) { return matches_file(pattern, file); });
  };
  std::size_t placed = 0;
  for (const vgpu::AccessSide& side : finding.accesses) {
    // The host's side may have no line; an instruction without one may be anywhere.
    if (!has_place(side) && side.ptx.empty()) continue;
    if (!has_place(side)) return false;
    if (!is_match(side.file) && (side.header.empty() || !is_match(side.header))) return false;
    ++placed;
  }
  return placed != 0;
}

}  // namespace

std::string Expectation::title() const {
  std::string text = kind ? std::string(vgpu::name_of(*kind)) : "*";
  if (!space.empty()) text += " " + space;
  if (is_note) text += " note";
  if (!kernel.empty()) text += " in kernel " + kernel;
  return text;
}

std::string code_of_line(std::string_view line) {
  std::string code;
  for (const char letter : line.substr(0, line.find("//"))) {
    const bool is_space = letter == ' ' || letter == '\t';
    if (!is_space) code += letter;
    if (is_space && !code.empty() && code.back() != ' ') code += ' ';
  }
  while (code.ends_with(' ')) code.pop_back();
  return code;
}

bool matches(std::string_view pattern, std::string_view text) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  text.remove_prefix(star);
  pattern.remove_prefix(star);
  while (true) {
    pattern.remove_prefix(1);  // the star
    const std::size_t next = pattern.find('*');
    const std::string_view part = pattern.substr(0, next);
    if (next == std::string_view::npos) return text.ends_with(part);
    // The first place is as good as any: the star behind it takes the rest.
    const std::size_t at = text.find(part);
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + part.size());
    pattern.remove_prefix(next);
  }
}

std::string path_from_here(const std::string& path) {
  std::error_code error;
  const std::string here = std::filesystem::current_path(error).string() + "/";
  const std::string normal = std::filesystem::path(path).lexically_normal().string();
  return normal.starts_with(here) ? normal.substr(here.size()) : normal;
}

bool matches_file(const std::string& pattern, const std::string& path) {
  const auto is_match = [&](const std::string& pattern, const std::string& name) {
    return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  };
  const std::string normal = std::filesystem::path(path).lexically_normal().string();
  return is_match(pattern, path) || is_match(pattern, path_from_here(path)) ||
         is_match("*/" + pattern, normal);
}

bool matches(const Expectation& expectation, const vgpu::Finding& finding,
             const SourceLines& lines) {
  const auto is_match = [](const std::string& pattern, std::string_view text) {
    return pattern.empty() || matches(pattern, text);
  };
  if (expectation.kind && *expectation.kind != finding.kind) return false;
  if (!expectation.space.empty() && expectation.space != finding.space) return false;
  if (expectation.is_note && finding.severity != vgpu::Severity::note) return false;
  if (!is_match(expectation.kernel, finding.kernel) &&
      !is_match(expectation.kernel, without_template_arguments(finding.kernel))) {
    return false;
  }
  if (!is_match(expectation.object, finding.object)) return false;
  return (expectation.places.empty() || is_at_places(expectation, finding, lines)) &&
         (expectation.files.empty() || is_in_files(expectation.files, finding));
}

}  // namespace warpcheck
