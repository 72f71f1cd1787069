#include "harness/report/source_excerpt.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

#include "harness/pair/source_path.hpp"

namespace warpcheck {
namespace {

std::optional<std::vector<std::string>> read_lines(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
  if (std::filesystem::file_size(path, error) > SourceFiles::kBytesMax || error) {
    return std::nullopt;
  }
  std::ifstream in(path);
  if (!in) return std::nullopt;
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(std::move(line));
  }
  return lines;
}

Excerpt excerpt_of(const std::string& file, const std::vector<ExcerptPlace>& places,
                   SourceFiles& files, std::uint32_t lines_around) {
  Excerpt excerpt{.file = file, .found = true, .lines = {}};
  const std::vector<std::string>* text = files.find(file);
  excerpt.found = text != nullptr;
  std::set<std::uint32_t> shown;
  for (const ExcerptPlace& place : places) {
    if (place.file != file) continue;
    shown.insert(place.line);
    if (text == nullptr) continue;
    const auto last = static_cast<std::uint32_t>(text->size());
    const std::uint32_t begin = place.line > lines_around ? place.line - lines_around : 1;
    for (std::uint32_t i = begin; i <= std::min(last, place.line + lines_around); ++i) {
      shown.insert(i);
    }
  }
  std::uint32_t previous = 0;
  for (const std::uint32_t number : shown) {
    if (previous != 0 && number != previous + 1) excerpt.lines.push_back({});
    previous = number;
    Excerpt::Line line{.number = number, .text = {}, .sides = {}};
    // An edited file may be shorter than the one that was compiled.
    if (text != nullptr && number <= text->size()) line.text = (*text)[number - 1];
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i].file == file && places[i].line == number) line.sides.push_back(i + 1);
    }
    excerpt.lines.push_back(std::move(line));
  }
  return excerpt;
}

}  // namespace

const std::vector<std::string>* SourceFiles::find(const std::string& path) {
  const auto [entry, is_new] = files_.try_emplace(path);
  if (is_new) {
    entry->second = read_lines(path);
    if (!entry->second) entry->second = read_lines(built_path(path));
  }
  return entry->second ? &*entry->second : nullptr;
}

SourceLines source_lines() {
  return [files = std::make_shared<SourceFiles>()](const std::string& file) {
    return files->find(file);
  };
}

std::vector<Excerpt> excerpts(const std::vector<ExcerptPlace>& places, SourceFiles& files,
                              std::uint32_t lines_around) {
  std::vector<Excerpt> list;
  for (const ExcerptPlace& place : places) {
    if (place.file.empty() || place.line == 0) continue;
    if (std::ranges::find(list, place.file, &Excerpt::file) != list.end()) continue;
    list.push_back(excerpt_of(place.file, places, files, lines_around));
  }
  return list;
}

}  // namespace warpcheck
