#include "cli/fix/rewrites/insertion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace warpcheck {
namespace {

using Kind = SourceNode::Kind;

void add_gap(std::vector<Gap>& gaps, const Gap& gap) {
  if (std::ranges::find(gaps, gap) == gaps.end()) gaps.push_back(gap);
}

Patch text_at(const Place& place, std::size_t at, std::string text, std::string what) {
  Patch made;
  made.files[*place.file] = {{.at = at, .removed = 0, .text = std::move(text)}};
  made.what.push_back(std::move(what));
  return made;
}

// The beginning of the lines of `#pragma unroll` and its like that belong to what begins there.
std::size_t begin_of_pragmas(const std::string& text, std::size_t line) {
  while (line > 0) {
    const std::size_t before = line == 1 ? 0 : text.rfind('\n', line - 2) + 1;
    if (!trimmed(std::string_view(text).substr(before, line - before)).starts_with("#pragma"))
      break;
    line = before;
  }
  return line;
}

// A line of its own where the statement begins its line, else in the line.
Patch before(const Place& place, std::size_t node, std::string_view text, std::string_view words) {
  const SourceTree& tree = *place.tree;
  const std::size_t at = tree[node].begin;
  const std::string_view indent = tree.indentation_at(at);
  const bool begins_line =
      at == 0 || at - indent.size() == 0 || tree.text()[at - indent.size() - 1] == '\n';
  const std::string what = fmt::format("{} before line {}", words, tree.line_of(at));
  if (!begins_line) return text_at(place, at, fmt::format("{} ", text), what);
  return text_at(place, begin_of_pragmas(tree.text(), at - indent.size()),
                 fmt::format("{}{}\n", indent, text), what);
}

Patch after(const Place& place, std::size_t node, std::string_view text, std::string_view words) {
  const SourceTree& tree = *place.tree;
  const std::size_t end = tree[node].end;
  const std::size_t line_end = std::min(tree.code().find('\n', end), tree.code().size());
  const std::string_view rest = std::string_view(tree.code()).substr(end, line_end - end);
  const std::string what = fmt::format("{} after line {}", words, tree.line_of(end - 1));
  if (!trimmed(rest).empty()) return text_at(place, end, fmt::format(" {}", text), what);
  return text_at(place, line_end,
                 fmt::format("\n{}{}", tree.indentation_at(tree[node].begin), text), what);
}

}  // namespace

std::size_t index_in(const SourceNode& block, std::size_t child) {
  return static_cast<std::size_t>(std::ranges::find(block.children, child) -
                                  block.children.begin());
}

std::vector<Gap> gaps_around(const Place& place) {
  std::vector<Gap> gaps;
  const SourceTree& tree = *place.tree;
  for (std::size_t at = place.node; tree[at].kind != Kind::function; at = tree[at].parent) {
    const std::size_t parent = tree[at].parent;
    if (tree[parent].kind == Kind::block) {
      const std::size_t index = index_in(tree[parent], at);
      add_gap(gaps, {parent, index});
      add_gap(gaps, {parent, index + 1});
    }
    const bool is_body = tree[at].kind == Kind::block && tree[parent].kind == Kind::loop;
    if (is_body) {
      add_gap(gaps, {at, 0});
      add_gap(gaps, {at, tree[at].children.size()});
    }
  }
  return gaps;
}

std::optional<Gap> gap_beside(const Place& place, bool behind) {
  const SourceTree& tree = *place.tree;
  const std::size_t parent = tree[place.node].parent;
  if (tree[parent].kind != Kind::block) return std::nullopt;
  return Gap{parent, index_in(tree[parent], place.node) + (behind ? 1 : 0)};
}

std::optional<Patch> insertion(const Place& place, const Gap& gap, std::string_view text,
                               std::string_view words) {
  const SourceNode& block = (*place.tree)[gap.block];
  if (block.children.empty()) return std::nullopt;
  if (words.empty()) words = text;
  if (gap.index == 0) return before(place, block.children[0], text, words);
  return after(place, block.children[gap.index - 1], text, words);
}

TextEdit without(const SourceTree& tree, std::size_t node) {
  const std::size_t begin = tree[node].begin - tree.indentation_at(tree[node].begin).size();
  const std::string& text = tree.text();
  const std::size_t end = text.find('\n', tree[node].end);
  const bool fills_line =
      (begin == 0 || text[begin - 1] == '\n') && end != std::string::npos &&
      trimmed(std::string_view(tree.code()).substr(tree[node].end, end - tree[node].end)).empty();
  if (fills_line && tree[tree[node].parent].kind == Kind::block)
    return {.at = begin, .removed = end + 1 - begin, .text = {}};
  return {.at = tree[node].begin, .removed = tree[node].end - tree[node].begin, .text = ";"};
}

}  // namespace warpcheck
