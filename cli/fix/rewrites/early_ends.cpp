#include "cli/fix/rewrites/early_ends.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/fix/rewrites/insertion.hpp"
#include "cli/fix/rewrites/statement_parts.hpp"

namespace warpcheck {
namespace {

using Kind = SourceNode::Kind;

// "return;" of `if (c) return;`, "continue;" of `if (c) continue;`; else empty.
std::string_view early_end(const SourceTree& tree, std::size_t node) {
  if (tree[node].kind != Kind::branch || tree[node].children.size() != 1) return {};
  std::size_t inner = tree[node].children.front();
  if (tree[inner].kind == Kind::block && tree[inner].children.size() == 1)
    inner = tree[inner].children.front();
  const std::string_view end = trimmed(tree.code_of(inner));
  if (end != "return;" && end != "continue;") return {};
  return is_plain(tree, node) && !has_effects(tree, tree.head_of(node)) ? end : "";
}

bool is_barrier_statement(const SourceTree& tree, std::size_t node) {
  return tree[node].kind == Kind::simple && is_barrier(trimmed(tree.code_of(node)));
}

// Whether threads can leave the statement out: it declares nothing, ends nothing, and has no
// barrier.
bool can_be_left_out(const SourceTree& tree, std::size_t node) {
  const std::string_view code = tree.code_of(node);
  for (const std::string_view word : {"return", "break", "continue", "goto"}) {
    if (find_word(code, word) != kNoPart) return false;
  }
  if (code.find("sync") != kNoPart) return false;
  if (tree[node].kind != Kind::simple) return true;
  if (const auto assignment = assignment_of(code)) return is_place(assignment->target);
  std::size_t end = 0;
  while (end < code.size() && is_word_character(code[end])) ++end;
  return end != 0 && end < code.size() && code[end] == '(';
}

// A variable of the thread alone, whose value is made of numbers.
bool is_harmless_declaration(const SourceTree& tree, std::string_view code) {
  const auto assignment = assignment_of(code);
  return assignment && !is_place(assignment->target) && !has_effects(tree, assignment->value) &&
         assignment->value.find_first_of("[*>") == kNoPart;
}

// `int x = a[t];` as `int x{}; if (c) x = a[t];`; nothing: it is no such declaration.
std::optional<std::string> divided_declaration(const SourceTree& tree, std::size_t node,
                                               std::string_view condition) {
  const auto assignment = assignment_of(tree.code_of(node));
  if (tree[node].kind != Kind::simple || !assignment || !is_plain(tree, node)) return std::nullopt;
  std::string_view target = assignment->target;
  if (is_place(target) || !assignment->operation.empty()) return std::nullopt;
  if (target.starts_with("const ")) target.remove_prefix(6);
  // One variable of a named type.
  if (target.find_first_of("&*[](,") != kNoPart || find_word(target, "auto") != kNoPart ||
      assignment->value.find(',') != kNoPart || find_word(target, "static") != kNoPart)
    return std::nullopt;
  const std::string_view name = target.substr(target.rfind(' ') + 1);
  return fmt::format("{}{{}};\n{}if ({}) {} = {};", target, tree.indentation_at(tree[node].begin),
                     condition, name, assignment->value);
}

// A condition more for the statement.
TextEdit guarded(const SourceTree& tree, std::size_t node, const std::string& name) {
  const bool is_if = tree[node].kind == Kind::branch && tree[node].children.size() == 1 &&
                     tree.code_of(node).starts_with("if") && is_plain(tree, node);
  if (!is_if) return {.at = tree[node].begin, .removed = 0, .text = fmt::format("if ({}) ", name)};
  const std::string_view head = trimmed(tree.head_of(node));
  const bool needs_brackets = head.find_first_of("|?=,;") != kNoPart;
  return {.at = tree[node].head_begin,
          .removed = tree[node].head_end - tree[node].head_begin,
          .text = fmt::format("{} && {}{}{}", name, needs_brackets ? "(" : "", head,
                              needs_brackets ? ")" : "")};
}

// Nothing is left of the loop's body behind the statement.
bool is_last_of_loop(const SourceTree& tree, std::size_t node) {
  const std::size_t parent = tree[node].parent;
  return tree[parent].children.back() == node && tree[tree[parent].parent].kind == Kind::loop;
}

std::optional<Patch> postponed(const std::string& file, const SourceTree& tree, std::size_t leaves,
                               std::size_t last) {
  const std::vector<std::size_t>& all = tree[tree[leaves].parent].children;
  const std::string_view end = early_end(tree, leaves);
  const std::string name = unused_name(tree, "takes_part");
  Patch patch;
  std::vector<TextEdit>& edits = patch.files[file];
  edits.push_back(
      {.at = tree[leaves].begin,
       .removed = tree[leaves].end - tree[leaves].begin,
       .text = fmt::format("const bool {} = !({});", name, trimmed(tree.head_of(leaves)))});
  for (auto at = std::ranges::find(all, leaves) + 1; *at != last; ++at) {
    const std::string_view code = tree.code_of(*at);
    if (is_barrier_statement(tree, *at) || is_harmless_declaration(tree, code)) continue;
    if (const auto divided = divided_declaration(tree, *at, name)) {
      edits.push_back(
          {.at = tree[*at].begin, .removed = tree[*at].end - tree[*at].begin, .text = *divided});
      continue;
    }
    if (!can_be_left_out(tree, *at)) return std::nullopt;
    edits.push_back(guarded(tree, *at, name));
  }
  if (end != "continue;" || !is_last_of_loop(tree, last)) {
    // Behind what follows in its line, which is a comment.
    const std::size_t line_end =
        std::min(tree.code().find('\n', tree[last].end), tree.code().size());
    const std::string_view rest =
        std::string_view(tree.code()).substr(tree[last].end, line_end - tree[last].end);
    if (!trimmed(rest).empty()) return std::nullopt;
    edits.push_back(
        {.at = line_end,
         .removed = 0,
         .text = fmt::format("\n{}if (!{}) {}", tree.indentation_at(tree[last].begin), name, end)});
  }
  patch.what.push_back(fmt::format("the {} of line {} behind the barrier of line {}",
                                   end.substr(0, end.size() - 1), tree.line_of(tree[leaves].begin),
                                   tree.line_of(tree[last].begin)));
  return patch;
}

}  // namespace

std::vector<Patch> postponed_ends(const std::string& file, const SourceTree& tree,
                                  std::size_t node) {
  std::vector<Patch> patches;
  const std::size_t parent = tree[node].parent;
  if (!is_barrier_statement(tree, node) || tree[parent].kind != Kind::block) return patches;
  const std::vector<std::size_t>& all = tree[parent].children;
  const auto last =
      std::ranges::find_if(all.rbegin(), all.rend(),
                           [&](std::size_t one) { return is_barrier_statement(tree, one); })
          .base() -
      1;
  for (auto leaves = all.begin(); leaves != last; ++leaves) {
    if (early_end(tree, *leaves).empty()) continue;
    if (auto patch = postponed(file, tree, *leaves, *last)) patches.push_back(*std::move(patch));
  }
  return patches;
}

}  // namespace warpcheck
