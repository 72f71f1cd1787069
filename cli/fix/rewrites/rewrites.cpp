#include "cli/fix/rewrites/rewrites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "cli/fix/rewrites/statement_parts.hpp"

namespace warpcheck {
namespace {

using Kind = SourceNode::Kind;

// The statement with `cuda::atomic_ref`: for types that have no such function.
Patch by_atomic_ref(const std::string& file, const SourceTree& tree, std::size_t begin,
                    std::size_t end, std::string_view condition, std::string_view function,
                    std::string_view target, std::string_view value) {
  std::string text = fmt::format(
      "cuda::atomic_ref<cuda::std::remove_reference_t<decltype({0})>, "
      "cuda::thread_scope_device>({0}).{1}({2}, cuda::memory_order_relaxed);",
      target, function, value);
  if (!condition.empty()) text = fmt::format("if ({}) {}", condition, text);
  Patch patch = rewritten(file, tree, begin, end, std::move(text), fmt::format("{}()", function));
  if (tree.text().find("<cuda/atomic>") == std::string::npos) {
    std::vector<TextEdit>& edits = patch.files[file];
    const std::size_t include = tree.text().find("#include");
    edits.insert(edits.begin(), {.at = include == std::string::npos ? 0 : include,
                                 .removed = 0,
                                 .text = "#include <cuda/atomic>\n"});
  }
  return patch;
}

// "e" of `max(x, e)`, `fminf(e, x)` and the like.
std::optional<std::string> other_of_extremum(std::string_view value, const std::string& target) {
  static const std::set<std::string_view> kFunctions{"max",   "min",   "fmax",     "fmin",
                                                     "fmaxf", "fminf", "std::max", "std::min"};
  const std::size_t open = value.find('(');
  if (open == kNoPart || !kFunctions.contains(trimmed(value.substr(0, open)))) return std::nullopt;
  if (closing_bracket(value, open) != value.size() - 1) return std::nullopt;
  const std::string_view both = value.substr(open + 1, value.size() - open - 2);
  if (both.starts_with(target + ",")) return std::string(trimmed(both.substr(target.size() + 1)));
  if (!both.ends_with(", " + target)) return std::nullopt;
  return std::string(trimmed(both.substr(0, both.size() - target.size() - 2)));
}

// `if (a && e > x) x = e;` as an atomic maximum of what is left of the condition, or a minimum.
std::vector<Patch> atomic_extremum(const std::string& file, const SourceTree& tree,
                                   std::size_t node, const Assignment& assignment) {
  const std::size_t guard = guard_of(tree, node);
  if (guard == SourceNode::kNoNode || !is_plain(tree, guard)) return {};
  std::string_view rest = tree.head_of(guard);
  if (rest.find("||") != kNoPart) return {};
  std::string function, others;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find("&&"), rest.size());
    const std::string_view part = trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 2, rest.size()));
    const std::size_t at = part.find_first_of("<>");
    if (at != kNoPart && function.empty()) {
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
  if (function.empty()) return {};
  std::string text = fmt::format("{}(&{}, {});", function, assignment.target, assignment.value);
  if (!others.empty()) text = fmt::format("if ({}) {}", others, text);
  const std::size_t begin = tree[guard].begin, end = tree[guard].end;
  return {rewritten(file, tree, begin, end, std::move(text), function),
          by_atomic_ref(file, tree, begin, end, others,
                        function == "atomicMax" ? "fetch_max" : "fetch_min", assignment.target,
                        assignment.value)};
}

// What `atomicExch(p, e);` assigns, by each name of its target: "*p" and "p[0]", or "x" of `&x`.
std::vector<Assignment> assignments_by_exchange(std::string_view code) {
  code = trimmed(code);
  const std::size_t open = code.find('(');
  if (open == kNoPart || !code.ends_with(';')) return {};
  const std::string_view function = trimmed(code.substr(0, open));
  if (function != "atomicExch" && function != "atomicExch_block" &&
      function != "atomicExch_system") {
    return {};
  }
  const std::size_t close = closing_bracket(code, open);
  if (close == kNoPart || trimmed(code.substr(close + 1)) != ";") return {};
  const std::string_view both = code.substr(open + 1, close - open - 1);
  const std::vector<std::string_view> arguments = split_arguments(both, Angles::operators);
  if (arguments.size() < 2) return {};
  const std::string_view pointer = arguments[0];
  Assignment assignment;
  // Behind the first comma: commas between template arguments are the value's.
  assignment.value = trimmed(std::string_view(arguments[1].data(), both.end()));
  std::vector<Assignment> all;
  const auto add = [&](std::string target) {
    assignment.target = std::move(target);
    all.push_back(assignment);
  };
  if (pointer.starts_with('&')) {
    add(std::string(trimmed(pointer.substr(1))));
  } else if (std::ranges::all_of(pointer, is_word_character)) {
    add(fmt::format("*{}", pointer));
    add(fmt::format("{}[0]", pointer));
  }
  return all;
}

}  // namespace

std::optional<Patch> split_statement(const std::string& file, const SourceTree& tree,
                                     std::size_t node, std::string_view barrier) {
  if (tree[node].kind != Kind::simple || !is_plain(tree, node)) return std::nullopt;
  const auto assignment = assignment_of(tree.code_of(node));
  if (!assignment || !is_place(assignment->target)) return std::nullopt;
  if (has_effects(tree, assignment->target)) return std::nullopt;
  if (assignment->target.find_first_of("[*>") == kNoPart) return std::nullopt;
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
  for (const Assignment& exchange : assignments_by_exchange(tree.code_of(node))) {
    patches = atomic_extremum(file, tree, node, exchange);
    if (!patches.empty()) return patches;
  }
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
    if (auto other = other_of_extremum(value, target)) {
      function = value.find("max") < value.find('(') ? "atomicMax" : "atomicMin";
      value = *std::move(other);
    }
    const std::string sum = target + " +", commuted = "+ " + target;
    if (function.empty() && value.starts_with(sum)) {
      function = "atomicAdd";
      value = trimmed(std::string_view(value).substr(sum.size()));
    } else if (function.empty() && value.ends_with(commuted)) {
      function = "atomicAdd";
      value = trimmed(std::string_view(value).substr(0, value.size() - commuted.size()));
    }
  }
  if (function.empty()) {
    if (!assignment->operation.empty()) return patches;
    return atomic_extremum(file, tree, node, *assignment);
  }
  patches.push_back(rewritten(file, tree, tree[node].begin, tree[node].end,
                              fmt::format("{}(&{}, {});", function, target, value), function));
  std::string member = "fetch_" + function.substr(std::string_view("atomic").size());
  member[6] = static_cast<char>(member[6] - 'A' + 'a');
  patches.push_back(
      by_atomic_ref(file, tree, tree[node].begin, tree[node].end, "", member, target, value));
  return patches;
}

std::vector<Patch> atomic_steps(const std::string& file, const SourceTree& tree, std::size_t node) {
  std::vector<Patch> patches;
  const bool is_simple = tree[node].kind == Kind::simple;
  const std::string_view code = is_simple ? tree.code_of(node) : tree.head_of(node);
  const std::size_t first = is_simple ? tree[node].begin : tree[node].head_begin;
  for (std::size_t at = code.find("++"); at != kNoPart; at = code.find("++", at + 2)) {
    // Backwards over `name`, `name[i]`, `(*name)`.
    std::size_t begin = at;
    int depth = 0;
    while (begin > 0) {
      const char c = code[begin - 1];
      if (c == ')' || c == ']') ++depth;
      if ((c == '(' || c == '[') && --depth < 0) break;
      if (depth == 0 && !is_word_character(c) && c != '(' && c != '[' && c != '.') break;
      --begin;
      if (c == '(' && depth == 0) break;
    }
    const std::string_view target = code.substr(begin, at - begin);
    if (trimmed(target).empty() || has_effects(tree, target)) continue;
    patches.push_back(rewritten(file, tree, first + begin, first + at + 2,
                                fmt::format("atomicAdd(&{}, 1)", target), "atomicAdd"));
  }
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

std::vector<Patch> strided_accesses(const std::string& file, const SourceTree& tree,
                                    std::size_t node) {
  std::vector<Patch> patches;
  if (tree[node].kind != Kind::simple || !is_plain(tree, node)) return patches;
  const std::string code(tree.code_of(node));
  const std::size_t function = tree.function_of(node);
  const std::string name = unused_name(tree, "slot");
  if (find_word(code, "__shared__") != kNoPart) return patches;
  for (const Subscript& access : subscripts_of(code)) {
    const std::string elements = shared_elements(tree, function, access.name);
    if (elements.empty() || access.index != "threadIdx.x") continue;
    std::string body = code;
    for (std::size_t at = 0; (at = find_word(body, "threadIdx.x", at)) != kNoPart;) {
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
    if (first_end == kNoPart || last == first_end) continue;
    const auto first = assignment_of(head.substr(0, first_end + 1));
    const std::size_t division = first ? first->value.rfind('/') : kNoPart;
    if (division == kNoPart || !first->operation.empty() || has_effects(tree, first->value))
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

}  // namespace warpcheck
