#include "cli/fix/rewrites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

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
constexpr std::size_t kNotThere = std::string_view::npos;

// Whether the code is all that is there: no literal and no comment would be lost.
bool is_plain(const SourceTree& tree, std::size_t node) {
  const SourceNode& there = tree[node];
  return tree.text().compare(there.begin, there.end - there.begin, tree.code_of(node)) == 0;
}

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

// Whether writing the expression twice could do something twice.
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

// `target op= value;`; plain assignments have no operation.
struct Assignment {
  std::string target, operation, value;
};

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
    if (std::string_view("+-*/%&|^<>!=").find(code[at - 1]) != kNotThere) --end;
    if (end < at && (code[end] == '<' || code[end] == '>' || code[end] == '!')) return std::nullopt;
    return Assignment{std::string(trimmed(code.substr(0, end))),
                      std::string(code.substr(end, at - end)),
                      std::string(trimmed(code.substr(at + 1)))};
  }
  return std::nullopt;
}

// Whether it names memory: no declaration, which has two words side by side.
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

// `name[index]` in code.
struct Subscript {
  std::size_t begin, end;  // of all
  std::string name, index;
};

std::vector<Subscript> subscripts_of(std::string_view code) {
  std::vector<Subscript> found;
  for (std::size_t at = 1; at < code.size(); ++at) {
    if (code[at] != '[' || !is_word_character(code[at - 1])) continue;
    const std::size_t close = closing_bracket(code, at);
    if (close == kNotThere) continue;
    std::size_t begin = at;
    while (begin > 0 && (is_word_character(code[begin - 1]) || code[begin - 1] == '.')) --begin;
    if (begin > 1 && code.substr(begin - 2, 2) == "->") continue;
    found.push_back({begin, close + 1, std::string(code.substr(begin, at - begin)),
                     std::string(trimmed(code.substr(at + 1, close - at - 1)))});
  }
  return found;
}

// The number of elements of the shared array of that name, as its declaration writes it; empty:
// there is none, or it is not known here.
std::string shared_elements(const SourceTree& tree, std::size_t function, std::string_view name) {
  for (std::size_t node = function; node < tree.nodes().size(); ++node) {
    if (tree[node].kind != Kind::simple || tree.function_of(node) != function) continue;
    const std::string_view code = tree.code_of(node);
    if (find_word(code, "__shared__") == kNotThere) continue;
    const std::size_t at = find_word(code, name);
    if (at == kNotThere || at + name.size() >= code.size() || code[at + name.size()] != '[')
      continue;
    const std::size_t close = closing_bracket(code, at + name.size());
    if (close == kNotThere || trimmed(code.substr(close + 1)) != ";") continue;
    return std::string(trimmed(code.substr(at + name.size() + 1, close - at - name.size() - 1)));
  }
  return {};
}

// The integers among a function's parameters.
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

std::vector<std::string> bounds_for(const SourceTree& tree, std::size_t function,
                                    const Subscript& access) {
  std::vector<std::string> bounds;
  const std::string elements = shared_elements(tree, function, access.name);
  if (!elements.empty()) bounds.push_back(elements);
  if (elements.empty()) bounds = integer_parameters(tree, function);
  return bounds;
}

// The `if` without `else` whose only statement it is; else kNoNode.
std::size_t guard_of(const SourceTree& tree, std::size_t node) {
  std::size_t at = tree[node].parent;
  if (tree[at].kind == Kind::block && tree[at].children.size() == 1) at = tree[at].parent;
  const bool is_guard = tree[at].kind == Kind::branch && tree[at].children.size() == 1 &&
                        tree.code_of(at).starts_with("if") &&
                        tree.code_of(at).find("constexpr") == kNotThere;
  return is_guard ? at : SourceNode::kNoNode;
}

// In brackets where it would not be one part of `c ? a : b`.
std::string as_part_of_choice(std::string_view code) {
  const bool simple = code.find_first_of("?,=") == kNotThere;
  return simple ? std::string(code) : fmt::format("({})", code);
}

// A condition more before a statement: in the `if` around it, if that has no `else`.
Patch with_condition(const std::string& file, const SourceTree& tree, std::size_t node,
                     const std::string& condition) {
  const std::string what = "if (" + condition + ")";
  const std::size_t guard = guard_of(tree, node);
  if (guard == SourceNode::kNoNode || !is_plain(tree, guard)) {
    return rewritten(file, tree, tree[node].begin, tree[node].begin, what + " ", what);
  }
  const std::string_view head = trimmed(tree.head_of(guard));
  const bool needs_brackets = head.find_first_of("|?=,") != kNotThere;
  const std::string both = needs_brackets ? fmt::format("({}) && {}", head, condition)
                                          : fmt::format("{} && {}", head, condition);
  return rewritten(file, tree, tree[guard].head_begin, tree[guard].head_end, both, what);
}

// `if (a && e > x) x = e;` as an atomic maximum of what is left of the condition, or a minimum.
std::optional<Patch> atomic_extremum(const std::string& file, const SourceTree& tree,
                                     std::size_t node, const Assignment& assignment) {
  const std::size_t guard = guard_of(tree, node);
  if (guard == SourceNode::kNoNode || !is_plain(tree, guard)) return std::nullopt;
  std::string_view rest = tree.head_of(guard);
  if (rest.find("||") != kNotThere) return std::nullopt;
  std::string function, others;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find("&&"), rest.size());
    const std::string_view part = trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 2, rest.size()));
    const std::size_t at = part.find_first_of("<>");
    if (at != kNotThere && function.empty()) {
      const std::size_t second = at + 1 < part.size() && part[at + 1] == '=' ? at + 2 : at + 1;
      const std::string_view left = trimmed(part.substr(0, at));
      const std::string_view right = trimmed(part.substr(second));
      const bool target_first = left == assignment.target && right == assignment.value;
      if (target_first || (left == assignment.value && right == assignment.target)) {
        function = (part[at] == '<') == target_first ? "atomicMax" : "atomicMin";
        continue;
      }
    }
    others += fmt::format("{}{}", others.empty() ? "" : " && ", part);
  }
  if (function.empty()) return std::nullopt;
  std::string text = fmt::format("{}(&{}, {});", function, assignment.target, assignment.value);
  if (!others.empty()) text = fmt::format("if ({}) {}", others, text);
  return rewritten(file, tree, tree[guard].begin, tree[guard].end, std::move(text), function);
}

// `if (c) return;`
bool is_early_return(const SourceTree& tree, std::size_t node) {
  if (tree[node].kind != Kind::branch || tree[node].children.size() != 1) return false;
  std::size_t inner = tree[node].children.front();
  if (tree[inner].kind == Kind::block && tree[inner].children.size() == 1)
    inner = tree[inner].children.front();
  return trimmed(tree.code_of(inner)) == "return;" && is_plain(tree, node) &&
         !has_effects(tree, tree.head_of(node));
}

bool is_grid_barrier(std::string_view code) {
  code = trimmed(code);
  return code.ends_with(".sync();") && code.find('=') == kNotThere;
}

// Whether threads can leave the statement out: it declares nothing, ends nothing, and has no
// barrier.
bool can_be_left_out(const SourceTree& tree, std::size_t node) {
  const std::string_view code = tree.code_of(node);
  for (const std::string_view word : {"return", "break", "continue", "goto"}) {
    if (find_word(code, word) != kNotThere) return false;
  }
  if (code.find("sync") != kNotThere) return false;
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
         assignment->value.find_first_of("[*>") == kNotThere;
}

std::string unused_name(const SourceTree& tree, std::string_view wish) {
  std::string name(wish);
  while (find_word(tree.code(), name) != kNotThere) name += "_";
  return name;
}

}  // namespace

std::optional<Patch> split_statement(const std::string& file, const SourceTree& tree,
                                     std::size_t node, std::string_view barrier) {
  if (tree[node].kind != Kind::simple || !is_plain(tree, node)) return std::nullopt;
  const auto assignment = assignment_of(tree.code_of(node));
  if (!assignment || !is_place(assignment->target)) return std::nullopt;
  if (has_effects(tree, assignment->target)) return std::nullopt;
  if (assignment->target.find_first_of("[*>") == kNotThere) return std::nullopt;
  const std::size_t guard = guard_of(tree, node);
  const std::size_t whole = guard == SourceNode::kNoNode ? node : guard;
  if (tree[tree[whole].parent].kind != Kind::block || !is_plain(tree, whole)) return std::nullopt;
  const std::string indent(tree.indentation_at(tree[whole].begin));
  const std::string name = unused_name(tree, "value");
  std::string text, last;
  if (guard == SourceNode::kNoNode) {
    text = fmt::format("const auto {} = {};", name, assignment->value);
    last = fmt::format("{} {}= {};", assignment->target, assignment->operation, name);
  } else {
    const std::string condition(trimmed(tree.head_of(guard)));
    if (has_effects(tree, condition)) return std::nullopt;
    text = fmt::format("const auto {} = {} ? {} : 0;", name, as_part_of_choice(condition),
                       as_part_of_choice(assignment->value));
    last = fmt::format("if ({}) {} {}= {};", condition, assignment->target, assignment->operation,
                       name);
  }
  text += fmt::format("\n{0}{1}\n{0}{2}", indent, barrier, last);
  return rewritten(file, tree, tree[whole].begin, tree[whole].end, std::move(text),
                   fmt::format("{} between the read and the write", barrier));
}

std::vector<Patch> atomic_updates(const std::string& file, const SourceTree& tree,
                                  std::size_t node) {
  std::vector<Patch> patches;
  if (tree[node].kind != Kind::simple || !is_plain(tree, node)) return patches;
  auto assignment = assignment_of(tree.code_of(node));
  if (!assignment || !is_place(assignment->target)) return patches;
  // `x = x + e` names its target twice; `x += e`, once, as the atomic does.
  if (assignment->operation.empty() && has_effects(tree, assignment->target)) return patches;
  std::string function;
  std::string& value = assignment->value;
  if (assignment->operation == "+") function = "atomicAdd";
  if (assignment->operation == "-") {
    function = "atomicAdd";
    value = value == "1" ? "-1" : fmt::format("-({})", value);
  }
  if (assignment->operation == "&") function = "atomicAnd";
  if (assignment->operation == "|") function = "atomicOr";
  if (assignment->operation == "^") function = "atomicXor";
  const std::string& target = assignment->target;
  if (assignment->operation.empty()) {
    for (const auto& [name, atomic] :
         {std::pair("max(", "atomicMax"), std::pair("min(", "atomicMin")}) {
      const std::string begin = name + target + ",";
      if (!value.starts_with(begin) || !value.ends_with(')')) continue;
      function = atomic;
      value =
          trimmed(std::string_view(value).substr(begin.size(), value.size() - begin.size() - 1));
      break;
    }
    const std::string sum = target + " +";
    if (function.empty() && value.starts_with(sum)) {
      function = "atomicAdd";
      value = trimmed(std::string_view(value).substr(sum.size()));
    }
  }
  if (function.empty()) {
    if (!assignment->operation.empty()) return patches;
    if (auto patch = atomic_extremum(file, tree, node, *assignment))
      patches.push_back(std::move(*patch));
    return patches;
  }
  patches.push_back(rewritten(file, tree, tree[node].begin, tree[node].end,
                              fmt::format("{}(&{}, {});", function, target, value), function));
  return patches;
}

std::optional<Patch> atomic_store(const std::string& file, const SourceTree& tree,
                                  std::size_t node) {
  if (tree[node].kind != Kind::simple || !is_plain(tree, node)) return std::nullopt;
  const auto assignment = assignment_of(tree.code_of(node));
  if (!assignment || !assignment->operation.empty() || !is_place(assignment->target)) {
    return std::nullopt;
  }
  return rewritten(file, tree, tree[node].begin, tree[node].end,
                   fmt::format("atomicExch(&{}, {});", assignment->target, assignment->value),
                   "atomicExch");
}

std::vector<Patch> bounded_accesses(const std::string& file, const SourceTree& tree,
                                    std::size_t node) {
  std::vector<Patch> patches;
  const SourceNode& there = tree[node];
  if (!is_plain(tree, node)) return patches;
  const bool is_simple = there.kind == Kind::simple;
  const std::string_view code = is_simple ? tree.code_of(node) : tree.head_of(node);
  const std::size_t begin = is_simple ? there.begin : there.head_begin;
  const std::size_t function = tree.function_of(node);
  const auto assignment = is_simple ? assignment_of(code) : std::nullopt;
  const bool stores = assignment && is_place(assignment->target);
  const bool calls = is_simple && !assignment;  // atomicAdd(&a[i], 1);
  for (const Subscript& access : subscripts_of(code)) {
    if (has_effects(tree, access.index)) continue;
    for (const std::string& bound : bounds_for(tree, function, access)) {
      const std::string condition = fmt::format("{} < {}", access.index, bound);
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

std::vector<Patch> strided_accesses(const std::string& file, const SourceTree& tree,
                                    std::size_t node) {
  std::vector<Patch> patches;
  if (tree[node].kind != Kind::simple || !is_plain(tree, node)) return patches;
  const std::string code(tree.code_of(node));
  const std::size_t function = tree.function_of(node);
  const std::string name = unused_name(tree, "slot");
  if (find_word(code, "__shared__") != kNotThere) return patches;
  for (const Subscript& access : subscripts_of(code)) {
    const std::string elements = shared_elements(tree, function, access.name);
    if (elements.empty() || access.index != "threadIdx.x") continue;
    std::string body = code;
    for (std::size_t at = 0; (at = find_word(body, "threadIdx.x", at)) != kNotThere;) {
      body.replace(at, std::string_view("threadIdx.x").size(), name);
    }
    patches.push_back(
        rewritten(file, tree, tree[node].begin, tree[node].end,
                  fmt::format("for (unsigned {0} = threadIdx.x; {0} < {1}; {0} += blockDim.x) {2}",
                              name, elements, body),
                  fmt::format("a loop over the {} elements of {}", elements, access.name)));
    break;
  }
  return patches;
}

std::optional<Patch> all_strided_accesses(const std::string& file, const SourceTree& tree,
                                          std::size_t function) {
  Patch all;
  for (std::size_t node = function; node < tree.nodes().size(); ++node) {
    if (tree[node].kind != Kind::simple || tree.function_of(node) != function) continue;
    for (const Patch& patch : strided_accesses(file, tree, node)) all.add(patch);
  }
  if (all.what.size() < 2) return std::nullopt;
  return all;
}

std::vector<Patch> halving_from_power_of_two(const std::string& file, const SourceTree& tree,
                                             std::size_t function) {
  std::vector<Patch> patches;
  for (std::size_t node = function; node < tree.nodes().size(); ++node) {
    if (tree[node].kind != Kind::loop || tree.function_of(node) != function) continue;
    const std::string head(tree.head_of(node));
    const std::size_t first_end = head.find(';'), last = head.rfind(';');
    if (first_end == kNotThere || last == first_end) continue;
    const auto first = assignment_of(head.substr(0, first_end + 1));
    const std::size_t division = first ? first->value.rfind('/') : kNotThere;
    if (division == kNotThere || !first->operation.empty() || has_effects(tree, first->value))
      continue;
    const std::string_view name =
        trimmed(std::string_view(first->target).substr(first->target.rfind(' ') + 1));
    std::string step = head.substr(last + 1);
    std::erase(step, ' ');
    if (step != fmt::format("{}/=2", name) && step != fmt::format("{}>>=1", name)) continue;
    const std::string width(trimmed(std::string_view(first->value).substr(0, division)));
    const std::size_t begin = tree[node].head_begin + head.find(first->value);
    patches.push_back(rewritten(file, tree, begin, begin + first->value.size(),
                                fmt::format("1 << (31 - __clz({}))", width),
                                "a power of two first"));
  }
  return patches;
}

std::vector<Patch> initial_values(const std::string& file, const SourceTree& tree, std::size_t node,
                                  std::string_view variable) {
  std::vector<Patch> patches;
  const std::size_t function = tree.function_of(node);
  const std::string slot = unused_name(tree, "slot");
  for (std::size_t at = function; at < tree.nodes().size(); ++at) {
    if (tree[at].kind != Kind::simple || tree.function_of(at) != function) continue;
    if (!is_plain(tree, at)) continue;
    const std::string_view code = tree.code_of(at);
    const std::string indent(tree.indentation_at(tree[at].begin));
    if (find_word(code, "__shared__") != kNotThere) {
      const std::size_t name = variable.empty() ? kNotThere : find_word(code, variable);
      if (name == kNotThere || find_word(code, "extern") != kNotThere) continue;
      const std::string elements = shared_elements(tree, function, variable);
      const std::string text =
          elements.empty()
              ? fmt::format("\n{0}if (threadIdx.x == 0) {1} = 0;\n{0}__syncthreads();", indent,
                            variable)
              : fmt::format(
                    "\n{0}for (unsigned {1} = threadIdx.x; {1} < {2}; {1} += blockDim.x) "
                    "{3}[{1}] = 0;\n{0}__syncthreads();",
                    indent, slot, elements, variable);
      patches.push_back(
          rewritten(file, tree, tree[at].end, tree[at].end, text, fmt::format("{} = 0", variable)));
      continue;
    }
    // `if (t < n) share[t] = in[t];`: the others store a zero.
    const auto assignment = assignment_of(code);
    const std::size_t guard = guard_of(tree, at);
    if (assignment && guard != SourceNode::kNoNode && assignment->operation.empty() &&
        find_word(assignment->target, variable) == 0 && !has_effects(tree, tree.head_of(guard)) &&
        is_plain(tree, guard) && is_place(assignment->target)) {
      patches.push_back(rewritten(file, tree, tree[guard].begin, tree[guard].end,
                                  fmt::format("{} = {} ? {} : 0;", assignment->target,
                                              as_part_of_choice(trimmed(tree.head_of(guard))),
                                              as_part_of_choice(assignment->value)),
                                  "0 for the other threads"));
    }
    // `int sum;`
    const std::string_view words = trimmed(code.substr(0, code.size() - 1));
    const bool is_declaration =
        std::ranges::all_of(words,
                            [](char c) { return is_word_character(c) || c == ' ' || c == ':'; }) &&
        words.find(' ') != kNotThere && !words.starts_with("return") && !words.starts_with("goto");
    if (is_declaration) {
      patches.push_back(rewritten(file, tree, tree[at].end - 1, tree[at].end - 1, " = 0", "= 0"));
    }
  }
  return patches;
}

std::vector<Patch> postponed_returns(const std::string& file, const SourceTree& tree,
                                     std::size_t node) {
  std::vector<Patch> patches;
  const std::size_t parent = tree[node].parent;
  if (!is_grid_barrier(tree.code_of(node)) || tree[parent].kind != Kind::block) return patches;
  const std::vector<std::size_t>& all = tree[parent].children;
  const auto is_barrier = [&](std::size_t one) {
    return tree[one].kind == Kind::simple && is_grid_barrier(tree.code_of(one));
  };
  const auto last = std::ranges::find_if(all.rbegin(), all.rend(), is_barrier).base() - 1;
  for (auto leaves = all.begin(); leaves != last; ++leaves) {
    if (!is_early_return(tree, *leaves)) continue;
    const std::string condition(trimmed(tree.head_of(*leaves)));
    const std::string name = unused_name(tree, "takes_part");
    Patch patch;
    std::vector<TextEdit>& edits = patch.files[file];
    edits.push_back({.at = tree[*leaves].begin,
                     .removed = tree[*leaves].end - tree[*leaves].begin,
                     .text = fmt::format("const bool {} = !({});", name, condition)});
    bool is_possible = true;
    for (auto between = leaves + 1; between != last; ++between) {
      if (is_barrier(*between) || is_harmless_declaration(tree, tree.code_of(*between))) continue;
      is_possible = is_possible && can_be_left_out(tree, *between);
      edits.push_back(
          {.at = tree[*between].begin, .removed = 0, .text = fmt::format("if ({}) ", name)});
    }
    // Behind what follows in its line, which is a comment.
    const std::size_t line_end =
        std::min(tree.code().find('\n', tree[*last].end), tree.code().size());
    is_possible =
        is_possible &&
        trimmed(std::string_view(tree.code()).substr(tree[*last].end, line_end - tree[*last].end))
            .empty();
    if (!is_possible) continue;
    edits.push_back({.at = line_end,
                     .removed = 0,
                     .text = fmt::format("\n{}if (!{}) return;",
                                         tree.indentation_at(tree[*last].begin), name)});
    patch.what.push_back(fmt::format("the return of line {} behind the barrier of line {}",
                                     tree.line_of(tree[*leaves].begin),
                                     tree.line_of(tree[*last].begin)));
    patches.push_back(std::move(patch));
  }
  return patches;
}

}  // namespace warpcheck
