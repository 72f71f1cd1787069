#include "cli/fix/rewrites/uploads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "cli/fix/rewrites/statement_parts.hpp"

namespace warpcheck {
namespace {

using Kind = SourceNode::Kind;

struct Variable {
  enum class Kind : std::uint8_t { object, array, vector, pointer };
  std::string name;
  Kind kind = Kind::object;
};

// Those that the statement declares.
std::vector<Variable> declared_in(std::string_view code) {
  std::vector<Variable> variables;
  code = trimmed(code);
  if (code.ends_with(';')) code.remove_suffix(1);
  bool is_first = true, has_vector = false;
  for (const std::string_view part : split_arguments(code)) {
    // Behind template arguments.
    const std::size_t types_end = part.rfind('>', part.find('='));
    const std::size_t from = is_first && types_end != kNoPart ? types_end + 1 : 0;
    const std::size_t end = std::min(part.find_first_of("=([{", from), part.size());
    const std::string_view head = trimmed(part.substr(0, end));
    std::size_t name = head.size();
    while (name > 0 && is_word_character(head[name - 1])) --name;
    const std::string_view type = trimmed(head.substr(0, name));
    if (name == head.size() || (is_first && type.empty())) return {};
    if (is_first) has_vector = find_word(type, "vector") != kNoPart;
    is_first = false;
    // A call of a member, or `return x`.
    if (type.ends_with('.') || type == "return" || type == "else" || type.ends_with("::"))
      return {};
    Variable variable{std::string(head.substr(name))};
    if (type.ends_with('*')) {
      variable.kind = Variable::Kind::pointer;
    } else if (end < part.size() && part[end] == '[') {
      variable.kind = Variable::Kind::array;
    } else if (has_vector) {
      variable.kind = Variable::Kind::vector;
    }
    variables.push_back(std::move(variable));
  }
  return variables;
}

std::string upload(const std::string& target, const Variable& from, std::string_view bytes) {
  const std::string& name = from.name;
  switch (from.kind) {
    case Variable::Kind::array:
      return fmt::format("cudaMemcpy({}, {}, sizeof({}), cudaMemcpyHostToDevice);", target, name,
                         name);
    case Variable::Kind::vector:
      return fmt::format(
          "cudaMemcpy({0}, {1}.data(), {1}.size() * sizeof({1}[0]), cudaMemcpyHostToDevice);",
          target, name);
    case Variable::Kind::pointer:
      return fmt::format("cudaMemcpy({}, {}, {}, cudaMemcpyHostToDevice);", target, name, bytes);
    default:
      return fmt::format("cudaMemcpy({}, &{}, sizeof({}), cudaMemcpyHostToDevice);", target, name,
                         name);
  }
}

// Whether an allocation or a copy names it.
bool is_used_by(const HostCalls& calls, const std::string& name) {
  return std::ranges::any_of(calls, [&](const HostCall& call) {
    const MemoryArguments which = memory_arguments(call.name);
    return std::ranges::any_of(std::vector{which.target, which.source}, [&](std::size_t index) {
      return index != MemoryArguments::kNone && find_word(call.argument(index), name) != kNoPart;
    });
  });
}

}  // namespace

std::vector<Patch> left_uploads(const HostCalls& calls) {
  constexpr std::size_t kUploadsMax = 12;
  std::vector<Patch> patches;
  for (auto call = calls.begin(); call != calls.end(); ++call) {
    if (!memory_arguments(call->name).allocates || call->arguments.size() < 2) continue;
    std::string_view target = call->argument(0);
    if (const std::size_t at = target.rfind('&'); at != kNoPart) target = target.substr(at + 1);
    const SourceTree& tree = *call->place.tree;
    const auto launch = std::find_if(call, calls.end(), [&](const HostCall& other) {
      return other.is_launch && other.place.tree == &tree &&
             function_of(other) == function_of(*call);
    });
    if (launch == calls.end()) continue;
    const auto gap = gap_beside(launch->place, false);
    for (std::size_t node = function_of(*call); gap && node < tree.nodes().size(); ++node) {
      if (tree[node].kind != Kind::simple || tree.function_of(node) != function_of(*call)) continue;
      if (tree[node].end > tree[launch->place.node].begin) break;
      for (const Variable& variable : declared_in(tree.code_of(node))) {
        if (is_used_by(calls, variable.name) || patches.size() == kUploadsMax) continue;
        auto patch = insertion(launch->place, *gap,
                               upload(std::string(trimmed(target)), variable, call->argument(1)));
        if (patch) patches.push_back(*std::move(patch));
      }
    }
  }
  return patches;
}

}  // namespace warpcheck
