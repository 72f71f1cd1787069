#include "cli/fix/uniform_places.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <functional>
#include <vector>

namespace warpcheck {
namespace {

using Kind = SourceNode::Kind;
constexpr std::size_t kMissing = std::string_view::npos;
constexpr unsigned kCallsMax = 4;  // a function in a function ...

// Calls `body` with each word of the code, and where it begins.
void for_each_word(std::string_view code,
                   const std::function<void(std::string_view word, std::size_t at)>& body) {
  for (std::size_t at = 0; at < code.size();) {
    if (!is_word_character(code[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < code.size() && is_word_character(code[end])) ++end;
    if (std::isdigit(static_cast<unsigned char>(code[at])) == 0)
      body(code.substr(at, end - at), at);
    at = end;
  }
}

// What differs between the threads of a block by itself.
bool is_of_thread(std::string_view word) {
  static constexpr std::array kParts{
      std::string_view("threadIdx"), std::string_view("thread_rank"),  std::string_view("atomic"),
      std::string_view("__shfl"),    std::string_view("__ballot"),     std::string_view("__any"),
      std::string_view("__all"),     std::string_view("__activemask"), std::string_view("clock"),
      std::string_view("lane"),      std::string_view("asm"),          std::string_view("__match"),
      std::string_view("warp_id"),   std::string_view("curand")};
  return std::ranges::any_of(kParts,
                             [&](std::string_view part) { return word.find(part) != kMissing; });
}

// What differs between blocks.
bool is_of_block(std::string_view word) {
  return word == "blockIdx" || word == "block_rank" || word == "block_index" ||
         word == "clusterIdx";
}

template <class Names>
bool depends(std::string_view code, const Names& varying, bool of_grid) {
  bool found = false;
  for_each_word(code, [&](std::string_view word, std::size_t) {
    found = found || is_of_thread(word) || (of_grid && is_of_block(word)) || varying.contains(word);
  });
  return found;
}

// Whether the condition is the same for all lanes of a warp: the number of a warp, or a bound that
// is a multiple of its lanes.
bool is_of_warp(std::string_view condition) {
  for (const std::string_view part : {"/ 32", "/32", ">> 5", ">>5", "warp"}) {
    if (condition.find(part) != kMissing) return true;
  }
  const std::size_t less = condition.find('<');
  if (less == kMissing || condition.find_first_of("&|") != kMissing) return false;
  const std::string bound(trimmed(condition.substr(less + 1)));
  char* end = nullptr;
  const long lanes = std::strtol(bound.c_str(), &end, 10);
  return end != bound.c_str() && *end == '\0' && lanes > 0 && lanes % 32 == 0;
}

// Of `int* const x[3] = ...`: "x".
std::string_view assigned_name(std::string_view target) {
  target = trimmed(target.substr(0, target.find('[')));
  while (!target.empty() && !is_word_character(target.back())) target.remove_suffix(1);
  std::size_t begin = target.size();
  while (begin > 0 && is_word_character(target[begin - 1])) --begin;
  // A member: the object varies.
  while (begin > 1 && (target[begin - 1] == '.' || target.substr(begin - 2, 2) == "->")) {
    target = trimmed(target.substr(0, begin - (target[begin - 1] == '.' ? 1 : 2)));
    begin = target.size();
    while (begin > 0 && is_word_character(target[begin - 1])) --begin;
  }
  return target.substr(begin);
}

// `x++`, `int x(value)`, `f(&x)`: a word of a statement without `=` that may get a value.
bool may_get_value(std::string_view code, std::string_view word, std::size_t at) {
  const std::string_view before = trimmed(code.substr(0, at));
  const std::string_view after = trimmed(code.substr(at + word.size()));
  for (const std::string_view step : {"++", "--"}) {
    if (before.ends_with(step) || after.starts_with(step)) return true;
  }
  if (before.ends_with('&') && !before.ends_with("&&")) return true;
  const bool is_declared = !before.empty() && (is_word_character(before.back()) ||
                                               before.back() == '*' || before.back() == '>');
  return is_declared && (after.empty() || after.front() == '(' || after.front() == '{');
}

// Of a function, the variables that its threads share: a difference would be a race.
template <class Names>
Names shared_variables(const SourceTree& tree, std::size_t function) {
  Names names;
  for (std::size_t node = function; node < tree.nodes().size(); ++node) {
    if (tree[node].kind != Kind::simple || tree.function_of(node) != function) continue;
    const std::string_view code = tree.code_of(node);
    if (find_word(code, "__shared__") == kMissing) continue;
    names.emplace(assigned_name(code.substr(0, code.find_first_of("=;"))));
  }
  return names;
}

// The names that the code gives values to, and what these are made of.
void for_each_assignment(
    std::string_view code,
    const std::function<void(std::string_view name, std::string_view value)>& body) {
  std::size_t part = 0;
  const auto handle = [&](std::string_view one) {
    for (std::size_t at = 0; at < one.size(); ++at) {
      if (one[at] != '=') continue;
      if (at + 1 < one.size() && one[at + 1] == '=') {
        ++at;
        continue;
      }
      const char before = at > 0 ? one[at - 1] : ' ';
      const bool compares =
          before == '!' || ((before == '<' || before == '>') && (at < 2 || one[at - 2] != before));
      if (compares) continue;
      std::string_view target = one.substr(0, at);
      while (!target.empty() && std::string_view("+-*/%&|^<>").find(target.back()) != kMissing) {
        target.remove_suffix(1);
      }
      body(assigned_name(target), one);
      return;
    }
    for_each_word(one, [&](std::string_view word, std::size_t at) {
      if (may_get_value(one, word, at)) body(word, one);
    });
  };
  int depth = 0;
  for (std::size_t at = 0; at <= code.size(); ++at) {
    const char c = at < code.size() ? code[at] : ';';
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c != ';' && (c != ',' || depth != 0)) continue;
    if (!trimmed(code.substr(part, at - part)).empty()) handle(code.substr(part, at - part));
    part = at + 1;
  }
}

std::size_t innermost_at(const SourceTree& tree, std::size_t at) {
  std::size_t found = SourceNode::kNoNode;
  for (std::size_t node = 0; node < tree.nodes().size(); ++node) {
    if (tree[node].begin < at && at < tree[node].end) found = node;
  }
  return found;
}

bool is_kernel(const SourceTree& tree, std::size_t function) {
  return tree.code_of(function).substr(0, tree.code_of(function).find('{')).find("__global__") !=
         kMissing;
}

std::string_view name_of_function(const SourceTree& tree, std::size_t function) {
  const SourceNode& node = tree[function];
  return assigned_name(
      std::string_view(tree.code()).substr(node.begin, node.head_begin - 1 - node.begin));
}

}  // namespace

bool UniformPlaces::all_come_by(const Patch& patch) const {
  for (const auto& [file, edits] : patch.files) {
    const SourceTree& tree = sources_.at(file);
    for (const TextEdit& edit : edits) {
      const bool of_block = std::ranges::any_of(
          std::array{"__syncthreads()", ".arrive_and_wait()", ".consumer_wait()"},
          [&](std::string_view order) { return edit.text.find(order) != std::string::npos; });
      const bool of_warp = edit.text.find("__syncwarp()") != std::string::npos ||
                           edit.text == "0xffffffff";  // a mask
      // Of a cluster, too: what is the same for all its blocks alone is not told apart.
      const bool of_grid = edit.text.find("this_grid().sync()") != std::string::npos ||
                           edit.text.find("barrier.cluster.wait") != std::string::npos;
      if (of_grid && !comes_by(tree, edit.at, Group::grid, 0)) return false;
      if (of_block && !comes_by(tree, edit.at, Group::block, 0)) return false;
      if (of_warp && !comes_by(tree, edit.at, Group::warp, 0)) return false;
    }
  }
  return true;
}

bool UniformPlaces::comes_by(const SourceTree& tree, std::size_t at, Group group,
                             unsigned depth) const {
  const std::size_t inner = innermost_at(tree, at);
  if (inner == SourceNode::kNoNode || depth > kCallsMax) return false;
  const std::size_t function = tree.function_of(inner);
  const bool of_grid = group == Group::grid;
  const Names names = varying(tree, function, group, depth);
  const auto splits = [&](std::size_t node) {
    const std::string_view head = tree.head_of(node);
    return depends(head, names, of_grid) && !(group == Group::warp && is_of_warp(head));
  };
  // Threads that leave a loop or a function of their own accord do not come by.
  const auto leaves = [&](std::size_t root, std::string_view word) {
    for (std::size_t node = root; node < tree.nodes().size(); ++node) {
      const bool is_inside =
          tree[node].begin >= tree[root].begin && tree[node].end <= tree[root].end;
      if (!is_inside || tree[node].kind != Kind::simple) continue;
      if (!trimmed(tree.code_of(node)).starts_with(word)) continue;
      for (std::size_t up = tree[node].parent; up != root; up = tree[up].parent) {
        const bool is_condition = tree[up].kind == Kind::branch || tree[up].kind == Kind::loop;
        if (is_condition && splits(up)) return true;
      }
    }
    return false;
  };
  for (std::size_t node = inner; node != function; node = tree[node].parent) {
    if (tree[node].kind == Kind::branch && splits(node)) return false;
    if (tree[node].kind != Kind::loop) continue;
    if (splits(node) || leaves(node, "break") || leaves(node, "continue") || leaves(node, "goto")) {
      return false;
    }
  }
  // A thread that has left a kernel counts at no barrier of its block; one that has left a function
  // does.
  if (is_kernel(tree, function) && !of_grid) return true;
  if (leaves(function, "return")) return false;
  if (is_kernel(tree, function)) return true;
  const std::string name(name_of_function(tree, function));
  bool is_called = false;
  for (const auto& [file, other] : sources_) {
    for (std::size_t call = find_word(other.code(), name); call != kMissing;
         call = find_word(other.code(), name, call + 1)) {
      const std::size_t caller = innermost_at(other, call + 1);
      if (caller == SourceNode::kNoNode) continue;  // a declaration
      if (&other == &tree && other.function_of(caller) == function) continue;
      is_called = true;
      if (!comes_by(other, other[caller].kind == Kind::simple ? other[caller].begin : call, group,
                    depth + 1)) {
        return false;
      }
    }
  }
  return is_called;
}

UniformPlaces::Names UniformPlaces::varying(const SourceTree& tree, std::size_t function,
                                            Group group, unsigned depth) const {
  const bool of_grid = group == Group::grid;
  Names names;
  const Names shared = of_grid ? Names() : shared_variables<Names>(tree, function);
  if (!is_kernel(tree, function)) add_parameters(tree, function, group, depth, names);
  // Until nothing is added.
  for (std::size_t known = names.size() + 1; known != names.size();) {
    known = names.size();
    for (std::size_t node = function; node < tree.nodes().size(); ++node) {
      if (tree.function_of(node) != function) break;
      const Kind kind = tree[node].kind;
      if (kind == Kind::function || kind == Kind::block) continue;
      const std::string_view code = kind == Kind::simple ? tree.code_of(node) : tree.head_of(node);
      bool is_divided = false;
      for (std::size_t up = tree[node].parent; up != function && !is_divided;
           up = tree[up].parent) {
        const bool is_condition = tree[up].kind == Kind::branch || tree[up].kind == Kind::loop;
        is_divided = is_condition && depends(tree.head_of(up), names, of_grid);
      }
      for_each_assignment(code, [&](std::string_view name, std::string_view value) {
        if (name.empty() || shared.contains(name)) return;
        const bool has_value = value.find('=') != kMissing || value.find("++") != kMissing ||
                               value.find("--") != kMissing;
        if (depends(value, names, of_grid) || (is_divided && has_value)) names.emplace(name);
      });
    }
  }
  return names;
}

void UniformPlaces::add_parameters(const SourceTree& tree, std::size_t function, Group group,
                                   unsigned depth, Names& names) const {
  std::vector<std::string> parameters;
  for (const std::string_view part : split_arguments(tree.head_of(function))) {
    parameters.emplace_back(assigned_name(part.substr(0, part.find('='))));
  }
  std::vector<bool> varies(parameters.size(), depth >= kCallsMax);
  const std::string name(name_of_function(tree, function));
  for (const auto& [file, other] : sources_) {
    if (depth >= kCallsMax) break;
    for (std::size_t call = find_word(other.code(), name); call != kMissing;
         call = find_word(other.code(), name, call + 1)) {
      const std::size_t caller = innermost_at(other, call + 1);
      if (caller == SourceNode::kNoNode) continue;
      if (&other == &tree && other.function_of(caller) == function) continue;
      const std::size_t open = other.code().find('(', call);
      const std::size_t close = open == kMissing ? kMissing : closing_bracket(other.code(), open);
      if (close == kMissing) continue;
      const Names outer = varying(other, other.function_of(caller), group, depth + 1);
      const auto arguments =
          split_arguments(std::string_view(other.code()).substr(open + 1, close - open - 1));
      for (std::size_t i = 0; i < std::min(arguments.size(), varies.size()); ++i) {
        varies[i] = varies[i] || depends(arguments[i], outer, group == Group::grid);
      }
    }
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (varies[i]) names.insert(parameters[i]);
  }
}

}  // namespace warpcheck
