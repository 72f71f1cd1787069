#include "cli/fix/rewrites/statement_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "vgpu/text/trimmed.hpp"

namespace warpcheck {

Patch rewritten(const std::string& file, const SourceTree& tree, std::size_t begin, std::size_t end,
                std::string text, std::string_view what) {
  Patch patch;
  patch.files[file] = {{.at = begin, .removed = end - begin, .text = std::move(text)}};
  patch.what.push_back(fmt::format("{} in line {}", what, tree.line_of(begin)));
  return patch;
}

namespace {

using Kind = SourceNode::Kind;

// Whether a call of the function does nothing but give a value: `return e;`, without calls.
bool only_returns(const SourceTree& tree, std::string_view name) {
  for (const SourceNode& node : tree.nodes()) {
    if (node.kind != Kind::function || node.children.empty()) continue;
    const std::string_view head =
        trimmed(std::string_view(tree.code()).substr(node.begin, node.head_begin - 1 - node.begin));
    if (!head.ends_with(name) || find_word(head, name) != head.size() - name.size()) continue;
    const std::vector<std::size_t>& body = tree[node.children.front()].children;
    if (body.size() != 1) return false;
    const std::string_view code = trimmed(tree.code_of(body.front()));
    if (!code.starts_with("return ")) return false;
    for (std::size_t at = 1; at < code.size(); ++at) {
      const bool is_call = code[at] == '(' && is_word_character(code[at - 1]);
      const bool is_step = code[at] == code[at - 1] && (code[at] == '+' || code[at] == '-');
      if (is_call || is_step) return false;
    }
    return true;
  }
  return false;
}

}  // namespace

bool is_plain(const SourceTree& tree, std::size_t node) {
  const SourceNode& there = tree[node];
  return tree.text().compare(there.begin, there.end - there.begin, tree.code_of(node)) == 0;
}

bool has_effects(const SourceTree& tree, std::string_view code) {
  for (std::size_t at = 0; at < code.size(); ++at) {
    const char c = code[at], next = at + 1 < code.size() ? code[at + 1] : ' ';
    if ((c == '+' || c == '-') && next == c) return true;
    if (c == '{' || c == ';') return true;
    if (c == '=') {
      const char before = at > 0 ? code[at - 1] : ' ';
      if (next == '=') {
        ++at;
      } else if (before != '<' && before != '>' && before != '!') {
        return true;
      }
    }
    if (c == '(' && at > 0 && is_word_character(code[at - 1])) {
      std::size_t begin = at;
      while (begin > 0 && is_word_character(code[begin - 1])) --begin;
      static const std::set<std::string_view> harmless{
          "min", "max", "abs", "int", "unsigned", "float", "double", "sizeof", "size_t"};
      const std::string_view name = code.substr(begin, at - begin);
      if (!harmless.contains(name) && !only_returns(tree, name)) return true;
    }
  }
  return false;
}

bool is_barrier(std::string_view code) {
  return code.starts_with("__syncthreads") || code.starts_with("__syncwarp") ||
         (code.ends_with(".sync();") && code.find('=') == kNoPart);
}

std::optional<Assignment> assignment_of(std::string_view code) {
  code = trimmed(code);
  if (!code.ends_with(';')) return std::nullopt;
  code = trimmed(code.substr(0, code.size() - 1));
  for (const std::string_view step : {"++", "--"}) {
    const std::string operation(1, step[0]);
    if (code.starts_with(step))
      return Assignment{std::string(trimmed(code.substr(2))), operation, "1"};
    if (code.ends_with(step)) {
      return Assignment{std::string(trimmed(code.substr(0, code.size() - 2))), operation, "1"};
    }
  }
  int depth = 0;
  for (std::size_t at = 0; at < code.size(); ++at) {
    const char c = code[at];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c != '=' || depth != 0 || at == 0) continue;
    if (at + 1 < code.size() && code[at + 1] == '=') return std::nullopt;
    std::size_t end = at;
    if (std::string_view("+-*/%&|^<>!=").find(code[at - 1]) != kNoPart) --end;
    if (end < at && (code[end] == '<' || code[end] == '>' || code[end] == '!')) return std::nullopt;
    return Assignment{std::string(trimmed(code.substr(0, end))),
                      std::string(code.substr(end, at - end)),
                      std::string(trimmed(code.substr(at + 1)))};
  }
  return std::nullopt;
}

bool is_place(std::string_view target) {
  if (target.empty()) return false;
  bool after_word = false, blank = false;
  int depth = 0;
  for (const char c : target) {
    if (c == ']' || c == ')') --depth;
    if (c == ' ' || c == '\n') {
      blank = after_word;
    } else if (depth == 0) {
      if (blank && (is_word_character(c) || c == '*')) return false;
      blank = false;
      after_word = is_word_character(c) || c == '>' || c == '&';
    }
    if (c == '[' || c == '(') ++depth;
  }
  return true;
}

std::vector<Subscript> subscripts_of(std::string_view code) {
  std::vector<Subscript> found;
  for (std::size_t at = 1; at < code.size(); ++at) {
    if (code[at] != '[' || !is_word_character(code[at - 1])) continue;
    const std::size_t close = closing_bracket(code, at);
    if (close == kNoPart) continue;
    std::size_t begin = at;
    while (begin > 0 && (is_word_character(code[begin - 1]) || code[begin - 1] == '.')) --begin;
    if (begin > 1 && code.substr(begin - 2, 2) == "->") continue;
    found.push_back({begin, close + 1, std::string(code.substr(begin, at - begin)),
                     std::string(trimmed(code.substr(at + 1, close - at - 1)))});
  }
  return found;
}

std::string shared_elements(const SourceTree& tree, std::size_t function, std::string_view name) {
  for (std::size_t node = function; node < tree.nodes().size(); ++node) {
    if (tree[node].kind != Kind::simple || tree.function_of(node) != function) continue;
    const std::string_view code = tree.code_of(node);
    if (find_word(code, "__shared__") == kNoPart) continue;
    const std::size_t at = find_word(code, name);
    if (at == kNoPart || at + name.size() >= code.size() || code[at + name.size()] != '[') continue;
    const std::size_t close = closing_bracket(code, at + name.size());
    if (close == kNoPart || trimmed(code.substr(close + 1)) != ";") continue;
    return std::string(trimmed(code.substr(at + name.size() + 1, close - at - name.size() - 1)));
  }
  return {};
}

std::vector<std::string> integer_parameters(const SourceTree& tree, std::size_t function) {
  static const std::set<std::string_view> types{"int",      "unsigned",    "long",    "short",
                                                "size_t",   "std::size_t", "int32_t", "int64_t",
                                                "uint32_t", "uint64_t",    "char",    "const"};
  std::vector<std::string> names;
  std::string_view rest = tree.head_of(function);
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    std::string_view parameter = trimmed(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    std::size_t name = parameter.size();
    while (name > 0 && is_word_character(parameter[name - 1])) --name;
    std::string_view words = trimmed(parameter.substr(0, name));
    bool is_integer = !words.empty();
    while (!words.empty() && is_integer) {
      const std::size_t end = std::min(words.find(' '), words.size());
      std::string_view word = words.substr(0, end);
      if (word.starts_with("std::")) word.remove_prefix(5);
      is_integer = types.contains(word);
      words = trimmed(words.substr(end));
    }
    if (is_integer) names.emplace_back(parameter.substr(name));
  }
  return names;
}

namespace {

void add_bound(std::vector<std::string>& bounds, std::string_view bound) {
  constexpr std::size_t kBoundsMax = 8;
  bound = trimmed(bound);
  if (bound.empty() || bounds.size() >= kBoundsMax) return;
  if (std::ranges::find(bounds, bound) == bounds.end()) bounds.emplace_back(bound);
}

// "n" of `i < n && j > 0`: what conditions of the function compare with.
void add_compared(const SourceTree& tree, std::size_t function, std::vector<std::string>& bounds) {
  for (std::size_t node = function; node < tree.nodes().size(); ++node) {
    const Kind kind = tree[node].kind;
    if (tree.function_of(node) != function) break;
    if (kind != Kind::branch && kind != Kind::loop) continue;
    const std::string_view head = tree.head_of(node);
    for (std::size_t at = 0; at < head.size(); ++at) {
      if (head[at] != '<' && (head[at] != '>' || at == 0 || head[at - 1] == '-')) continue;
      std::size_t begin = at + 1;
      if (begin < head.size() && head[begin] == '=') ++begin;
      std::size_t end = begin;
      while (end < head.size() && (is_word_character(head[end]) || head[end] == ' ' ||
                                   head[end] == '.' || head[end] == '*'))
        ++end;
      const std::string_view bound = trimmed(head.substr(begin, end - begin));
      if (bound.find("threadIdx") == kNoPart && bound != "0") add_bound(bounds, bound);
    }
  }
}

// `part.n` of a parameter that is an object.
void add_members(const SourceTree& tree, std::size_t function, std::vector<std::string>& bounds) {
  const std::string_view code = tree.code_of(function);
  for (const std::string_view part : split_trimmed(tree.head_of(function), ",")) {
    std::size_t begin = part.size();
    while (begin > 0 && is_word_character(part[begin - 1])) --begin;
    const std::string_view name = part.substr(begin);
    if (name.empty()) continue;
    for (std::size_t at = find_word(code, name); at != kNoPart;
         at = find_word(code, name, at + 1)) {
      std::size_t end = at + name.size();
      if (end >= code.size() || code[end] != '.') continue;
      for (++end; end < code.size() && is_word_character(code[end]);) ++end;
      if (end < code.size() && (code[end] == '[' || code[end] == '(' || code[end] == '.')) continue;
      add_bound(bounds, code.substr(at, end - at));
    }
  }
}

}  // namespace

std::vector<std::string> bounds_for(const SourceTree& tree, std::size_t function,
                                    const Subscript& access) {
  const std::string elements = shared_elements(tree, function, access.name);
  if (!elements.empty()) return {elements};
  std::vector<std::string> bounds;
  for (const std::string& parameter : integer_parameters(tree, function))
    add_bound(bounds, parameter);
  add_members(tree, function, bounds);
  add_compared(tree, function, bounds);
  return bounds;
}

std::size_t guard_of(const SourceTree& tree, std::size_t node) {
  std::size_t at = tree[node].parent;
  if (tree[at].kind == Kind::block && tree[at].children.size() == 1) at = tree[at].parent;
  const bool is_guard = tree[at].kind == Kind::branch && tree[at].children.size() == 1 &&
                        tree.code_of(at).starts_with("if") &&
                        tree.code_of(at).find("constexpr") == kNoPart;
  return is_guard ? at : SourceNode::kNoNode;
}

std::string as_part_of_choice(std::string_view code) {
  const bool simple = code.find_first_of("?,=") == kNoPart;
  return simple ? std::string(code) : fmt::format("({})", code);
}

Patch with_condition(const std::string& file, const SourceTree& tree, std::size_t node,
                     const std::string& condition) {
  const std::string what = "if (" + condition + ")";
  const std::size_t guard = guard_of(tree, node);
  if (guard == SourceNode::kNoNode || !is_plain(tree, guard)) {
    return rewritten(file, tree, tree[node].begin, tree[node].begin, what + " ", what);
  }
  const std::string_view head = trimmed(tree.head_of(guard));
  const bool needs_brackets = head.find_first_of("|?=,") != kNoPart;
  const std::string both = needs_brackets ? fmt::format("({}) && {}", head, condition)
                                          : fmt::format("{} && {}", head, condition);
  return rewritten(file, tree, tree[guard].head_begin, tree[guard].head_end, both, what);
}

std::string unused_name(const SourceTree& tree, std::string_view wish) {
  std::string name(wish);
  while (find_word(tree.code(), name) != kNoPart) name += "_";
  return name;
}

}  // namespace warpcheck
