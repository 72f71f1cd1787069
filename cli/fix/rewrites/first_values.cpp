#include "cli/fix/rewrites/first_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "cli/fix/rewrites/statement_parts.hpp"

namespace warpcheck {
namespace {

using Kind = SourceNode::Kind;

enum class Use : std::uint8_t { sum, product, maximum, minimum };

// The values that sums, products, maxima and minima of a type begin with.
std::string_view first_value(std::string_view type, Use use) {
  const auto has = [&](std::string_view word) { return find_word(type, word) != kNoPart; };
  const bool is_float = has("float") || has("double");
  const bool is_unsigned = has("unsigned") || has("size_t") || has("uint32_t");
  switch (use) {
    case Use::product: return "1";
    case Use::maximum:
      return is_float ? "-INFINITY" : is_unsigned ? "0" : has("int") ? "-2147483647 - 1" : "";
    case Use::minimum:
      return is_float ? "INFINITY" : is_unsigned ? "~0u" : has("int") ? "2147483647" : "";
    default: return "0";
  }
}

// `variable > x` and `x < variable` keep a minimum, the others a maximum.
bool is_compared(std::string_view head, std::string_view variable, Use& use) {
  for (std::size_t at = 0; at < head.size(); ++at) {
    const char c = head[at];
    const bool is_shift = (at + 1 < head.size() && head[at + 1] == c) ||
                          (at > 0 && (head[at - 1] == c || head[at - 1] == '-'));
    if ((c != '<' && c != '>') || is_shift) continue;
    const std::string_view left = trimmed(head.substr(0, at));
    std::string_view right = head.substr(at + 1);
    if (right.starts_with('=')) right.remove_prefix(1);
    right = trimmed(right);
    const auto is_word_at = [&](std::string_view code, std::size_t from) {
      return from != kNoPart && find_word(code, variable, from) == from;
    };
    const bool on_left =
        left.size() >= variable.size() && is_word_at(left, left.size() - variable.size());
    const bool on_right = is_word_at(right, 0);
    if (!on_left && !on_right) continue;
    use = on_left == (c == '<') ? Use::maximum : Use::minimum;
    return true;
  }
  return false;
}

// What a function does with a variable.
Use use_of(const SourceTree& tree, std::size_t function, std::string_view variable) {
  for (std::size_t at = function; at < tree.nodes().size(); ++at) {
    if (tree.function_of(at) != function) break;
    const bool is_branch = tree[at].kind == Kind::branch;
    if (!is_branch && tree[at].kind != Kind::simple) continue;
    const std::string_view code = is_branch ? tree.head_of(at) : tree.code_of(at);
    if (find_word(code, variable) == kNoPart) continue;
    Use use = Use::sum;
    if (is_branch) {
      // Only a comparison under which it is set.
      const std::string_view all = tree.code_of(at);
      const std::string_view body = all.substr(all.find(code) + code.size());
      if (find_word(body, variable) != kNoPart && is_compared(code, variable, use)) return use;
      continue;
    }
    const auto assignment = assignment_of(code);
    const bool is_set = assignment && find_word(assignment->target, variable) == 0;
    if (is_set && assignment->operation == "*") return Use::product;
    for (const std::string_view name : {"max", "Max"}) {
      if (code.find(name) != kNoPart) return Use::maximum;
    }
    for (const std::string_view name : {"min", "Min"}) {
      if (code.find(name) != kNoPart) return Use::minimum;
    }
    if (is_set && code.find('?') != kNoPart && is_compared(assignment->value, variable, use))
      return use;
  }
  return Use::sum;
}

// The likely one first.
std::vector<std::string_view> first_values_of(std::string_view type, Use use, bool of_use_only) {
  std::vector<std::string_view> values;
  const auto add = [&](std::string_view value) {
    if (!value.empty() && std::ranges::find(values, value) == values.end()) values.push_back(value);
  };
  add(first_value(type, use));
  if (of_use_only) return values;
  for (const Use other : {Use::sum, Use::maximum, Use::minimum, Use::product})
    add(first_value(type, other));
  if (find_word(type, "int") != kNoPart && find_word(type, "unsigned") == kNoPart) add("-1");
  return values;
}

class FirstValues {
 public:
  FirstValues(const std::string& file, const SourceTree& tree, std::size_t function,
              std::string_view variable, bool of_use_only)
      : file_(file),
        tree_(tree),
        function_(function),
        variable_(variable),
        of_use_only_(of_use_only) {}

  std::vector<Patch> all() {
    for (std::size_t at = function_; at < tree_.nodes().size(); ++at) {
      if (tree_[at].kind != Kind::simple || tree_.function_of(at) != function_) continue;
      if (!is_plain(tree_, at)) continue;
      if (find_word(tree_.code_of(at), "__shared__") != kNoPart) {
        add_of_shared(at);
        continue;
      }
      add_for_other_threads(at);
      add_of_local(at);
    }
    return std::move(patches_);
  }

 private:
  void add_of_shared(std::size_t at) {
    const std::string_view code = tree_.code_of(at);
    const std::size_t name = variable_.empty() ? kNoPart : find_word(code, variable_);
    if (name == kNoPart || find_word(code, "extern") != kNoPart) return;
    const std::string indent(tree_.indentation_at(tree_[at].begin));
    const std::string elements = shared_elements(tree_, function_, variable_);
    const std::string slot = unused_name(tree_, "slot");
    const Use use = use_of(tree_, function_, variable_);
    for (const std::string_view value :
         first_values_of(code.substr(0, name), use, of_use_only_ || use == Use::sum)) {
      const std::string text =
          elements.empty()
              ? fmt::format("\n{0}if (threadIdx.x == 0) {1} = {2};\n{0}__syncthreads();", indent,
                            variable_, value)
              : fmt::format(
                    "\n{0}for (unsigned {1} = threadIdx.x; {1} < {2}; {1} += blockDim.x) "
                    "{3}[{1}] = {4};\n{0}__syncthreads();",
                    indent, slot, elements, variable_, value);
      patches_.push_back(rewritten(file_, tree_, tree_[at].end, tree_[at].end, text,
                                   fmt::format("{} = {}", variable_, value)));
    }
  }

  // `if (t < n) share[t] = in[t];`: the others store a zero.
  void add_for_other_threads(std::size_t at) {
    const auto assignment = assignment_of(tree_.code_of(at));
    const std::size_t guard = guard_of(tree_, at);
    if (!assignment || guard == SourceNode::kNoNode || !assignment->operation.empty()) return;
    if (find_word(assignment->target, variable_) != 0 || !is_place(assignment->target)) return;
    if (has_effects(tree_, tree_.head_of(guard)) || !is_plain(tree_, guard)) return;
    // A maximum that is kept so has no value for others.
    if (tree_.head_of(guard).find(assignment->target) != kNoPart) return;
    patches_.push_back(rewritten(file_, tree_, tree_[guard].begin, tree_[guard].end,
                                 fmt::format("{} = {} ? {} : 0;", assignment->target,
                                             as_part_of_choice(trimmed(tree_.head_of(guard))),
                                             as_part_of_choice(assignment->value)),
                                 "0 for the other threads"));
  }

  // `int sum;`
  void add_of_local(std::size_t at) {
    const std::string_view code = tree_.code_of(at);
    const std::string_view words = trimmed(code.substr(0, code.size() - 1));
    const bool is_declaration =
        std::ranges::all_of(words,
                            [](char c) { return is_word_character(c) || c == ' ' || c == ':'; }) &&
        words.find(' ') != kNoPart && !words.starts_with("return") && !words.starts_with("goto");
    if (!is_declaration) return;
    const Use use = use_of(tree_, function_, words.substr(words.rfind(' ') + 1));
    for (const std::string_view value : first_values_of(words, use, of_use_only_)) {
      patches_.push_back(rewritten(file_, tree_, tree_[at].end - 1, tree_[at].end - 1,
                                   fmt::format(" = {}", value), fmt::format("= {}", value)));
    }
  }

  const std::string& file_;
  const SourceTree& tree_;
  const std::size_t function_;
  const std::string_view variable_;
  const bool of_use_only_;
  std::vector<Patch> patches_;
};

}  // namespace

std::vector<Patch> initial_values(const std::string& file, const SourceTree& tree, std::size_t node,
                                  std::string_view variable, bool of_use_only) {
  return FirstValues(file, tree, tree.function_of(node), variable, of_use_only).all();
}

}  // namespace warpcheck
