#include "vgpu/differential/shrink.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace warpcheck::vgpu {
namespace {

using Lines = std::vector<std::string>;

// Lines [first, last], the marks included.
struct Part {
  std::size_t first, last;
  std::vector<Part> parts;  // directly inside
};

Lines split(const std::string& text) {
  Lines lines;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    lines.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return lines;
}

std::string join(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::vector<Part> find_parts(const Lines& lines) {
  std::vector<Part> open = {{0, lines.size(), {}}};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i] == "//+") open.push_back({i, i, {}});
    if (lines[i] != "//-" || open.size() == 1) continue;
    Part part = std::move(open.back());
    open.pop_back();
    part.last = i;
    open.back().parts.push_back(std::move(part));
  }
  return open.front().parts;
}

void flatten(const std::vector<Part>& parts, std::vector<const Part*>& all) {
  for (const Part& part : parts) {
    all.push_back(&part);
    flatten(part.parts, all);
  }
}

// Without the part, or without what is directly in it.
Lines without(const Lines& lines, const Part& part, bool keeps_inner) {
  Lines rest;
  auto inner = part.parts.begin();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    while (inner != part.parts.end() && inner->last < i) ++inner;
    const bool inside = i >= part.first && i <= part.last;
    const bool nested = inner != part.parts.end() && i >= inner->first;
    if (!inside || (keeps_inner && nested)) rest.push_back(lines[i]);
  }
  return rest;
}

// The first smaller program that still shows it, or nothing.
bool find_smaller(Lines& lines, std::size_t& budget,
                  const std::function<bool(const std::string&)>& shows) {
  const std::vector<Part> parts = find_parts(lines);
  std::vector<const Part*> all;
  flatten(parts, all);
  std::stable_sort(all.begin(), all.end(), [](const Part* a, const Part* b) {
    return a->last - a->first > b->last - b->first;
  });
  for (const Part* part : all) {
    for (const bool keeps_inner : {false, true}) {
      if (keeps_inner && part->parts.empty()) continue;
      if (budget == 0) return false;
      --budget;
      Lines rest = without(lines, *part, keeps_inner);
      if (!shows(join(rest))) continue;
      lines = std::move(rest);
      return true;
    }
  }
  return false;
}

}  // namespace

std::string shrink(std::string text, std::size_t budget,
                   const std::function<bool(const std::string&)>& shows) {
  Lines lines = split(text);
  while (find_smaller(lines, budget, shows)) {
  }
  return join(lines);
}

}  // namespace warpcheck::vgpu
