#include "cli/kernel/contracts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <regex>

#include "cli/cli.hpp"
#include "cli/fix/source_tree.hpp"
#include "cli/kernel/gpuverify_text.hpp"
#include "vgpu/text/trimmed.hpp"

namespace warpcheck {
namespace {

[[noreturn]] void fail(std::string_view what, std::string_view why) {
  throw UsageError(fmt::format("{}: {}", what, why));
}

Expression parsed(std::string_view text, std::string_view what) {
  try {
    return Expression(trimmed(text));
  } catch (const ExpressionError& error) {
    fail(what, error.what());
  }
}

// Where the braces that open there close; npos: nowhere.  Other brackets may stand in comments.
std::size_t end_of_body(std::string_view source, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < source.size(); ++at) {
    if (source[at] == '{') ++depth;
    if (source[at] == '}' && --depth == 0) return at;
  }
  return std::string_view::npos;
}

// The text of a kernel and of the comments before it.
struct Region {
  std::size_t begin = 0, end = 0;
};

std::optional<Region> region_of(std::string_view source, std::string_view kernel) {
  const std::size_t colon = kernel.rfind("::");
  const std::string name(colon == std::string_view::npos ? kernel : kernel.substr(colon + 2));
  for (std::size_t at = 0; (at = source.find("__global__", at)) != std::string_view::npos; ++at) {
    const std::size_t body = source.find_first_of("{;", at);
    if (body == std::string_view::npos) return std::nullopt;
    const std::string head(source.substr(at, body - at));
    if (source[body] != '{' || !std::regex_search(head, std::regex("\\b" + name + "\\s*\\("))) {
      continue;
    }
    // Comments between what ends before the kernel and the kernel belong to it.
    std::size_t before = source.substr(0, at).find_last_of("};");
    // A semicolon in a comment ends nothing.
    while (before != std::string_view::npos) {
      const std::size_t start = source.rfind('\n', before) + 1;  // npos + 1 is 0
      const std::string_view of_line = trimmed(source.substr(start, before - start));
      if (!of_line.starts_with("//") && !of_line.starts_with('*')) break;
      before = before == 0 ? std::string_view::npos : source.find_last_of("};", before - 1);
    }
    // A comment on the line of what ends there is about that.
    const std::size_t line_end = before == std::string_view::npos ? 0 : source.find('\n', before);
    const std::size_t close = end_of_body(source, body);
    return Region{std::min(line_end, at), close == std::string_view::npos ? source.size() : close};
  }
  return std::nullopt;
}

// `blockDim.x == E` says an extent; anything else is a condition of it.
bool add_extent(const std::string& text, LaunchRule& rule) {
  static const std::regex kExtent(R"(^\s*(blockDim|gridDim)\.([xyz])\s*==\s*([^=<>!&|?]+)$)");
  std::smatch match;
  if (!std::regex_match(text, match, kExtent)) return false;
  auto& extents = match[1] == "blockDim" ? rule.block : rule.grid;
  extents[static_cast<std::size_t>(*match[2].first - 'x')] = Expression(trimmed(match[3].str()));
  return true;
}

// Each of its parts alone: what bounds or settles an integer is found in any of them.
void add_condition(const Expression& condition, KernelDescription& kernel) {
  for (const Expression& part : condition.conjuncts()) {
    if (!add_extent(part.text(), kernel.launch)) kernel.conditions.push_back(part);
  }
}

// One line of a comment.
void add_comment(std::string_view text, const std::string& what, Contracts& contracts) {
  const auto rest = [&](std::string_view word) -> std::optional<std::string_view> {
    if (!text.starts_with(word)) return std::nullopt;
    return text.substr(word.size());
  };
  if (const auto conditions = rest("requires:")) {
    for (const std::string& part : split_at_commas(*conditions)) {
      contracts.conditions.push_back(parsed(part, what));
    }
  } else if (const auto lengths = rest("lengths:")) {
    for (const std::string& part : split_at_commas(*lengths)) {
      contracts.lengths.push_back(length_of_text(part, what));
    }
  } else if (const auto values = rest("values:")) {
    for (const std::string& part : split_at_commas(*values)) {
      contracts.values.push_back(values_of_text(part, what));
    }
  } else if (const auto launch = rest("launch:")) {
    for (const std::string& part : split_at_commas(*launch)) {
      contracts.conditions.push_back(parsed(part, what));
    }
  }
}

void add_comments(std::string_view source, const Region& region, Contracts& contracts) {
  for (std::size_t at = region.begin; (at = source.find("//", at)) < region.end; at += 2) {
    const std::size_t end = std::min(source.find('\n', at), source.size());
    add_comment(trimmed(source.substr(at + 2, end - at - 2)),
                fmt::format("line {}", line_at(source, at)), contracts);
  }
}

bool has_value(const Expression& expression, const KernelDescription& kernel) {
  return std::ranges::all_of(expression.names(), [&](const std::string& name) {
    return is_launch_name(name) ||
           std::ranges::any_of(kernel.scalars, [&](const ScalarParameter& scalar) {
             return scalar.name == name && is_integer(scalar.element);
           });
  });
}

std::string left_out(const std::string& where) {
  return fmt::format("not understood, and left out: {}", where);
}

void fix_extents(const std::array<std::optional<Expression>, 3>& from,
                 std::array<std::optional<Expression>, 3>& to) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i]) to[i] = from[i];
  }
}

}  // namespace

std::size_t line_at(std::string_view source, std::size_t at) {
  return 1 + static_cast<std::size_t>(std::ranges::count(source.substr(0, at), '\n'));
}

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> parts;
  int depth = 0;
  std::string part;
  const auto finish = [&] {
    parts.emplace_back(trimmed(part));
    part.clear();
  };
  for (const char c : text) {
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c == ',' && depth <= 0) {
      finish();
    } else {
      part += c;
    }
  }
  if (!trimmed(part).empty() || !parts.empty()) finish();
  return parts;
}

std::array<std::optional<Expression>, 3> extents_of(std::string_view text, std::string_view what) {
  text = trimmed(text);
  const bool is_list = (text.starts_with('[') && text.ends_with(']')) ||
                       (text.starts_with('(') && closing_bracket(text, 0) == text.size() - 1);
  if (is_list) text = text.substr(1, text.size() - 2);
  std::vector<std::string> parts = split_at_commas(text);
  if (parts.empty() || parts.size() > 3) {
    fail(what, fmt::format("'{}': expected one to three extents, for example 16,16", text));
  }
  parts.resize(3, "1");
  std::array<std::optional<Expression>, 3> extents;
  for (std::size_t i = 0; i < parts.size(); ++i) extents[i] = parsed(parts[i], what);
  return extents;
}

std::pair<std::string, Expression> length_of_text(std::string_view text, std::string_view what) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    fail(what, fmt::format("'{}': expected an array and its length, for example a=n*m", text));
  }
  return {std::string(trimmed(text.substr(0, equals))), parsed(text.substr(equals + 1), what)};
}

std::pair<std::string, Values> values_of_text(std::string_view text, std::string_view what) {
  const auto refuse = [&](std::string_view why) { fail(fmt::format("{} {}", what, text), why); };
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || trimmed(text.substr(0, equals)).empty()) {
    refuse("expected a name and its range, for example n=0..1000");
  }
  std::string_view rest = trimmed(text.substr(equals + 1));
  Values values;
  for (const auto& [order, name] : kOrderNames) {
    if (!rest.starts_with(name)) continue;
    values.order = order;
    rest = trimmed(rest.substr(name.size()));
    if (rest.empty()) return {std::string(trimmed(text.substr(0, equals))), values};
  }
  const auto number = [&](std::string_view digits) {
    std::int64_t value = 0;
    digits = trimmed(digits);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      refuse("expected numbers, for example n=0..1000, or ascending or distinct before them");
    }
    return value;
  };
  const std::size_t dots = rest.find("..");
  const std::int64_t low = number(rest.substr(0, dots));
  values.range = {low, dots == std::string_view::npos ? low : number(rest.substr(dots + 2))};
  if (low > values.range->high) refuse("the range is empty");
  return {std::string(trimmed(text.substr(0, equals))), values};
}

Contracts contracts_of(std::string_view source, std::string_view kernel) {
  Contracts contracts;
  add_gpuverify_header(source, contracts);
  const auto region = region_of(source, kernel);
  if (region) add_comments(source, *region, contracts);
  add_gpuverify_annotations(source, region ? region->begin : source.size(),
                            region ? region->end : source.size(), contracts);
  return contracts;
}

std::vector<std::string> apply_contracts(const Contracts& contracts, KernelDescription& kernel) {
  std::vector<std::string> notes;
  for (const std::string& option : contracts.options_left_out) notes.push_back(left_out(option));
  const auto note = [&](const std::string& where) {
    notes.push_back(contracts.are_aids_computed && !names_other_threads(where)
                        ? fmt::format("threads end where it is false: {}", where)
                        : left_out(where));
  };
  std::ranges::for_each(contracts.unread, note);
  fix_extents(contracts.block, kernel.launch.block);
  fix_extents(contracts.grid, kernel.launch.grid);
  for (const Expression& condition : contracts.conditions) {
    if (!has_value(condition, kernel)) {
      fail("requires", fmt::format("'{}' is no expression of the kernel's integers and blockDim, "
                                   "gridDim",
                                   condition.text()));
    }
    add_condition(condition, kernel);
  }
  for (const auto& [aid, where] : contracts.aids) {
    if (has_value(aid, kernel)) {
      add_condition(aid, kernel);
    } else {
      note(where);
    }
  }
  for (const auto& [name, length] : contracts.lengths) {
    const auto array = std::ranges::find(kernel.arrays, name, &ArrayParameter::name);
    if (array == kernel.arrays.end()) fail("lengths", fmt::format("no array '{}'", name));
    if (!has_value(length, kernel)) {
      fail("lengths", fmt::format("'{}' is no expression of the kernel's integers and blockDim, "
                                  "gridDim",
                                  length.text()));
    }
    array->length = length;
  }
  return notes;
}

}  // namespace warpcheck
