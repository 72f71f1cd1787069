#include "vgpu/ptx/shrink.hpp"

#include <algorithm>
#include <vector>

#include "vgpu/text/trimmed.hpp"

namespace warpcheck::ptx {
namespace {

using Lines = std::vector<std::string>;

// Lines [first, last], including the marks.
struct Region {
  std::size_t first, last;
  std::vector<Region> regions;  // directly inside
};

std::string join(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::vector<Region> find_regions(const Lines& lines) {
  std::vector<Region> open = {{0, lines.size(), {}}};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i] == "//+") open.push_back({i, i, {}});
    if (lines[i] != "//-" || open.size() == 1) continue;
    Region region = std::move(open.back());
    open.pop_back();
    region.last = i;
    open.back().regions.push_back(std::move(region));
  }
  return open.front().regions;
}

void flatten(const std::vector<Region>& regions, std::vector<const Region*>& all) {
  for (const Region& region : regions) {
    all.push_back(&region);
    flatten(region.regions, all);
  }
}

// Returns the lines without the region, or without the parts directly in it.
Lines without(const Lines& lines, const Region& region, bool keeps_inner) {
  Lines rest;
  auto inner = region.regions.begin();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    while (inner != region.regions.end() && inner->last < i) ++inner;
    const bool inside = i >= region.first && i <= region.last;
    const bool nested = inner != region.regions.end() && i >= inner->first;
    if (!inside || (keeps_inner && nested)) rest.push_back(lines[i]);
  }
  return rest;
}

// Finds the first smaller program that still shows the difference.  Returns false if there is none.
bool find_smaller(Lines& lines, std::size_t& budget,
                  const std::function<bool(const std::string&)>& shows) {
  const std::vector<Region> regions = find_regions(lines);
  std::vector<const Region*> all;
  flatten(regions, all);
  std::stable_sort(all.begin(), all.end(), [](const Region* a, const Region* b) {
    return a->last - a->first > b->last - b->first;
  });
  for (const Region* region : all) {
    for (const bool keeps_inner : {false, true}) {
      if (keeps_inner && region->regions.empty()) continue;
      if (budget == 0) return false;
      --budget;
      Lines rest = without(lines, *region, keeps_inner);
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
  auto lines = split<std::string>(text, '\n');
  while (find_smaller(lines, budget, shows)) {
  }
  return join(lines);
}

}  // namespace warpcheck::ptx
