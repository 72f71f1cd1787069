#include "cli/fix/rewrites/bound_rewrites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "cli/fix/rewrites/statement_parts.hpp"

namespace warpcheck {
namespace {

using Kind = SourceNode::Kind;

// What of a statement is looked at: a simple one, or the head of a branch or a loop.
struct LookedAt {
  std::string_view code;
  std::size_t begin;
};

LookedAt looked_at(const SourceTree& tree, std::size_t node) {
  if (tree[node].kind == Kind::simple) return {tree.code_of(node), tree[node].begin};
  return {tree.head_of(node), tree[node].head_begin};
}

// "i < n" for each bound; "i - 1 >= 0" where an index may be below 0.
std::vector<std::string> conditions_for(const SourceTree& tree, std::size_t node,
                                        const Subscript& access) {
  std::vector<std::string> conditions;
  if (access.index.find('-') != std::string::npos)
    conditions.push_back(fmt::format("{} >= 0", access.index));
  for (const std::string& bound : bounds_for(tree, tree.function_of(node), access))
    conditions.push_back(fmt::format("{} < {}", access.index, bound));
  return conditions;
}

// `return;`, `continue;` or `break;` alone under a condition.
bool is_early_end(const SourceTree& tree, std::size_t node) {
  if (tree[node].kind != Kind::branch || tree[node].children.size() != 1) return false;
  std::size_t inner = tree[node].children.front();
  if (tree[inner].kind == Kind::block && tree[inner].children.size() == 1)
    inner = tree[inner].children.front();
  const std::string_view code = trimmed(tree.code_of(inner));
  return code == "return;" || code == "continue;" || code == "break;";
}

// Whether the character is a `<` or `>` that compares: none of a shift, and no arrow.
bool compares(std::string_view code, std::size_t at) {
  const char c = code[at];
  if ((c != '<' && c != '>') || at + 1 >= code.size() || code[at + 1] == c) return false;
  return at == 0 || (code[at - 1] != c && code[at - 1] != '-');
}

void shift_comparisons_of(const std::string& file, const SourceTree& tree, std::size_t node,
                          bool to_wider, std::vector<Patch>& patches) {
  const std::string_view head = tree.head_of(node);
  for (std::size_t i = 0; i + 1 < head.size(); ++i) {
    if (!compares(head, i) || (head[i + 1] == '=') == to_wider) continue;
    const std::string narrow(1, head[i]), wide = narrow + "=";
    const std::size_t begin = tree[node].head_begin + i;
    const std::string& now = to_wider ? narrow : wide;
    const std::string& then = to_wider ? wide : narrow;
    patches.push_back(rewritten(file, tree, begin, begin + now.size(), then,
                                fmt::format("{} for {}", then, now)));
  }
}

struct Part {
  std::size_t begin, end;
};

// What stands behind the comparisons of a condition, without spaces around it.
std::vector<Part> right_sides(std::string_view head) {
  std::vector<Part> sides;
  for (std::size_t i = 0; i < head.size(); ++i) {
    if (!compares(head, i)) continue;
    std::size_t begin = i + (head[i + 1] == '=' ? 2 : 1);
    std::size_t end = begin, open = 0;
    for (; end < head.size(); ++end) {
      const char c = head[end];
      if (c == '(' || c == '[') ++open;
      if ((c == ')' || c == ']') && open-- == 0) break;
      if (c == '>' && head[end - 1] == '-') continue;  // an arrow
      if (open == 0 && std::string_view("&|?:;,<>=").find(c) != kNoPart) break;
    }
    while (begin < end && head[begin] == ' ') ++begin;
    while (begin < end && head[end - 1] == ' ') --end;
    if (begin < end) sides.push_back({begin, end});
  }
  return sides;
}

void exchange_bounds_of(const std::string& file, const SourceTree& tree, std::size_t node,
                        std::vector<Patch>& patches) {
  const std::string_view head = tree.head_of(node);
  const std::vector<Part> sides = right_sides(head);
  const auto text_of = [&](const Part& part) {
    return std::string(head.substr(part.begin, part.end - part.begin));
  };
  for (std::size_t i = 0; i < sides.size(); ++i) {
    for (std::size_t j = i + 1; j < sides.size(); ++j) {
      if (sides[j].begin < sides[i].end) continue;  // one is a part of the other
      const std::string one = text_of(sides[i]), other = text_of(sides[j]);
      if (one == other || has_effects(tree, one) || has_effects(tree, other)) continue;
      const std::string between = text_of({sides[i].end, sides[j].begin});
      const std::size_t begin = tree[node].head_begin;
      patches.push_back(rewritten(file, tree, begin + sides[i].begin, begin + sides[j].end,
                                  other + between + one,
                                  fmt::format("{} and {} exchanged", one, other)));
    }
  }
}

// Of an early end `||` for `&&`, else `&&` for `||`: each alone, then all of them.
void exchange_connectives_of(const std::string& file, const SourceTree& tree, std::size_t node,
                             bool ends, std::vector<Patch>& patches) {
  const std::string now = ends ? "&&" : "||", then = ends ? "||" : "&&";
  const std::string_view head = tree.head_of(node);
  std::string all(head);
  std::size_t count = 0;
  for (std::size_t at = head.find(now); at != kNoPart; at = head.find(now, at + now.size())) {
    const std::size_t begin = tree[node].head_begin + at;
    patches.push_back(rewritten(file, tree, begin, begin + now.size(), then,
                                fmt::format("{} for {}", then, now)));
    all.replace(at, now.size(), then);
    ++count;
  }
  if (count < 2) return;
  patches.push_back(rewritten(file, tree, tree[node].head_begin, tree[node].head_end, all,
                              fmt::format("{} for each {}", then, now)));
}

// Calls `visit(node, ends)` for the branches and loops around a statement, and the early
// ends before it.
template <typename Visit>
void for_each_condition(const SourceTree& tree, std::size_t node, const Visit& visit) {
  for (std::size_t at = node; tree[at].kind != Kind::function; at = tree[at].parent) {
    if (tree[at].kind == Kind::branch || tree[at].kind == Kind::loop) visit(at, false);
    const std::size_t parent = tree[at].parent;
    if (tree[parent].kind != Kind::block) continue;
    // `if (i > n) return;`
    for (const std::size_t before : tree[parent].children) {
      if (before == at) break;
      if (is_early_end(tree, before)) visit(before, true);
    }
  }
}

}  // namespace

std::vector<Patch> bounded_accesses(const std::string& file, const SourceTree& tree,
                                    std::size_t node) {
  std::vector<Patch> patches;
  if (!is_plain(tree, node)) return patches;
  const bool is_simple = tree[node].kind == Kind::simple;
  const auto [code, begin] = looked_at(tree, node);
  const auto assignment = is_simple ? assignment_of(code) : std::nullopt;
  const bool stores = assignment && is_place(assignment->target);
  const bool calls = is_simple && !assignment;  // atomicAdd(&a[i], 1);
  for (const Subscript& access : subscripts_of(code)) {
    if (has_effects(tree, access.index)) continue;
    for (const std::string& condition : conditions_for(tree, node, access)) {
      if (stores || calls) patches.push_back(with_condition(file, tree, node, condition));
      const bool is_target = stores && access.begin < assignment->target.size();
      if (is_target || calls) continue;
      const std::string element(code.substr(access.begin, access.end - access.begin));
      patches.push_back(rewritten(file, tree, begin + access.begin, begin + access.end,
                                  fmt::format("({} ? {} : 0)", condition, element),
                                  condition + " ?"));
    }
  }
  return patches;
}

std::vector<Patch> bounded_branches(const std::string& file, const SourceTree& tree,
                                    std::size_t node) {
  std::vector<Patch> patches;
  for (const Subscript& access : subscripts_of(looked_at(tree, node).code)) {
    if (has_effects(tree, access.index)) continue;
    for (std::size_t at = tree[node].parent; tree[at].kind != Kind::function;
         at = tree[at].parent) {
      const bool has_more = tree[at].kind == Kind::branch && tree[at].children.size() == 1 &&
                            tree.code_of(at).starts_with("if") && guard_of(tree, node) != at;
      if (!has_more) continue;
      const std::string_view head = tree.head_of(at);
      const bool needs_brackets = head.find_first_of("|?=,") != kNoPart;
      for (const std::string& condition : conditions_for(tree, node, access)) {
        const std::string both = needs_brackets ? fmt::format("({}) && {}", head, condition)
                                                : fmt::format("{} && {}", head, condition);
        patches.push_back(rewritten(file, tree, tree[at].head_begin, tree[at].head_end, both,
                                    "if (" + condition + ")"));
      }
    }
  }
  return patches;
}

std::vector<Patch> bounded_variables(const std::string& file, const SourceTree& tree,
                                     std::size_t node) {
  std::vector<Patch> patches;
  if (tree[node].kind != Kind::simple || !is_plain(tree, node)) return patches;
  const std::string_view code = tree.code_of(node);
  const std::vector<std::string> bounds = integer_parameters(tree, tree.function_of(node));
  const auto assignment = assignment_of(code);
  if (!assignment || !is_place(assignment->target)) return patches;
  std::set<std::string> variables;
  for (const Subscript& access : subscripts_of(code)) {
    if (has_effects(tree, access.index)) continue;
    for (std::size_t at = 0, end = 0; at < access.index.size(); at = end + 1) {
      for (end = at; end < access.index.size() && is_word_character(access.index[end]);) ++end;
      const std::string word = access.index.substr(at, end - at);
      const bool is_name = !word.empty() && (word[0] < '0' || word[0] > '9');
      // A part of an index; bounded_accesses() compares the whole of it.
      if (is_name && word != access.index && std::ranges::find(bounds, word) == bounds.end())
        variables.insert(word);
    }
  }
  for (const std::string& variable : variables) {
    for (const std::string& bound : bounds)
      patches.push_back(with_condition(file, tree, node, fmt::format("{} < {}", variable, bound)));
  }
  return patches;
}

std::vector<Patch> other_indices(const std::string& file, const SourceTree& tree,
                                 std::size_t node) {
  std::vector<Patch> patches;
  if (!is_plain(tree, node)) return patches;
  const LookedAt there = looked_at(tree, node);
  for (const Subscript& access : subscripts_of(there.code)) {
    const std::string& index = access.index;
    if (has_effects(tree, index)) continue;
    const auto add = [&](const std::string& other) {
      patches.push_back(rewritten(file, tree, there.begin + access.begin, there.begin + access.end,
                                  fmt::format("{}[{}]", access.name, other),
                                  fmt::format("[{}] for [{}]", other, index)));
    };
    for (const std::string& bound : bounds_for(tree, tree.function_of(node), access))
      add(fmt::format("min({}, {} - 1)", index, bound));
    if (index.find('-') == std::string::npos) continue;
    add(fmt::format("max({}, 0)", index));
    add(index + " - 1");
  }
  return patches;
}

std::vector<Patch> shifted_comparisons(const std::string& file, const SourceTree& tree,
                                       std::size_t node) {
  std::vector<Patch> patches;
  for_each_condition(tree, node, [&](std::size_t condition, bool ends) {
    shift_comparisons_of(file, tree, condition, ends, patches);
  });
  return patches;
}

std::vector<Patch> exchanged_bounds(const std::string& file, const SourceTree& tree,
                                    std::size_t node) {
  std::vector<Patch> patches;
  for_each_condition(tree, node, [&](std::size_t condition, bool) {
    if (tree[condition].kind == Kind::branch) exchange_bounds_of(file, tree, condition, patches);
  });
  return patches;
}

std::vector<Patch> exchanged_connectives(const std::string& file, const SourceTree& tree,
                                         std::size_t node) {
  std::vector<Patch> patches;
  for_each_condition(tree, node, [&](std::size_t condition, bool ends) {
    exchange_connectives_of(file, tree, condition, ends, patches);
  });
  return patches;
}

std::vector<Patch> larger_arrays(const std::string& file, const SourceTree& tree,
                                 std::size_t node) {
  std::vector<Patch> patches;
  const std::size_t function = tree.function_of(node);
  for (const Subscript& access : subscripts_of(looked_at(tree, node).code)) {
    for (std::size_t at = function; at < tree.nodes().size(); ++at) {
      if (tree[at].kind != Kind::simple || tree.function_of(at) != function) continue;
      const std::string_view code = tree.code_of(at);
      const std::size_t name = find_word(code, access.name);
      if (name == kNoPart || code.find("=") < name) continue;
      const bool is_declaration =
          name > 0 && is_word_character(trimmed(code.substr(0, name)).back());
      for (std::size_t open = name + access.name.size();
           is_declaration && open < code.size() && code[open] == '[';) {
        const std::size_t close = closing_bracket(code, open);
        if (close == kNoPart) break;
        const std::string size(trimmed(code.substr(open + 1, close - open - 1)));
        const auto add = [&](std::string text) {
          const std::string what = fmt::format("{} elements of {} for {}", text, access.name, size);
          patches.push_back(rewritten(file, tree, tree[at].begin + open + 1, tree[at].begin + close,
                                      std::move(text), what));
        };
        const std::size_t plus = size.find('+');
        if (plus != std::string::npos && size.find_first_of("-/%") == std::string::npos)
          add(fmt::format("{} + 2 * {}", trimmed(size.substr(0, plus)),
                          trimmed(size.substr(plus + 1))));
        // `[T][T - 1]`, where a column more than T was meant, or none.
        const std::size_t minus = size.find('-');
        if (minus != std::string::npos && size.find_first_of("+/%?(") == std::string::npos) {
          const std::string of(trimmed(std::string_view(size).substr(0, minus)));
          add(fmt::format("{} + {}", of, trimmed(std::string_view(size).substr(minus + 1))));
          add(of);
        }
        if (!size.empty()) {
          for (const int more : {1, 2}) add(fmt::format("{} + {}", size, more));
        }
        open = close + 1;
      }
    }
  }
  return patches;
}

}  // namespace warpcheck
