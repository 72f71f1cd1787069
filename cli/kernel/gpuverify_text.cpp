#include "cli/kernel/gpuverify_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>
#include <string>

#include "cli/cli.hpp"
#include "cli/fix/source_tree.hpp"
#include "cli/kernel/gpuverify_header.hpp"

namespace warpcheck {
namespace {

using Macros = std::map<std::string, std::string>;

// Macros of the file that are names of expressions.
Macros macros_of(const std::string& source) {
  static const std::regex kDefine(R"((?:^|\n)[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+([^\n]+))");
  Macros macros;
  for (std::sregex_iterator one(source.begin(), source.end(), kDefine), end; one != end; ++one) {
    const std::string value = (*one)[2].str();
    macros[(*one)[1].str()] = std::string(trimmed(value.substr(0, value.find("//"))));
  }
  return macros;
}

std::string with_macros(std::string text, const Macros& macros) {
  static const std::regex kName(R"([A-Za-z_]\w*)");
  constexpr int kDepthMax = 8;
  for (int depth = 0; depth < kDepthMax; ++depth) {
    std::string replaced;
    std::size_t done = 0;
    for (std::sregex_iterator one(text.begin(), text.end(), kName), end; one != end; ++one) {
      const auto macro = macros.find(one->str());
      if (macro == macros.end()) continue;
      const auto at = static_cast<std::size_t>(one->position());
      replaced += text.substr(done, at - done) + "(" + macro->second + ")";
      done = at + static_cast<std::size_t>(one->length());
    }
    if (done == 0) return text;
    text = replaced + text.substr(done);
  }
  return text;
}

// sizeof() of types that everybody knows, as a number.
std::string with_sizes(std::string text) {
  static const std::regex kSize(
      R"(\bsizeof\s*\(\s*(?:(?:un)?signed\s+)?(\w+(?:\s+long)?)\s*(\*?)\s*\))");
  static const std::map<std::string, int, std::less<>> kBytes{
      {"char", 1},   {"bool", 1},   {"short", 2}, {"int", 4},     {"unsigned", 4},
      {"float", 4},  {"double", 8}, {"long", 8},  {"size_t", 8},  {"long long", 8},
      {"int2", 8},   {"float2", 8}, {"int4", 16}, {"float4", 16}, {"uint2", 8},
      {"uint4", 16}, {"uint", 4},   {"uchar", 1}};
  std::smatch match;
  std::string done;
  while (std::regex_search(text, match, kSize)) {
    const auto bytes = kBytes.find(match[1].str());
    const bool is_pointer = match[2].length() != 0;
    done += match.prefix().str();
    done += is_pointer              ? "8"
            : bytes != kBytes.end() ? std::to_string(bytes->second)
                                    : match[0].str();
    text = match.suffix().str();
  }
  return done + text;
}

// The annotations that compute something, written as C.
std::string with_helpers(std::string text) {
  text = with_sizes(std::move(text));
  for (const std::string_view word : {"__implies", "__is_pow2", "__mod_pow2", "__ite"}) {
    std::size_t at = 0;
    while ((at = text.find(word)) != std::string::npos) {
      const std::size_t open = at + word.size();
      if (open >= text.size() || text[open] != '(') return text;
      const std::size_t close = closing_bracket(text, open);
      if (close == std::string::npos) return text;
      std::vector<std::string> given =
          split_at_commas(std::string_view(text).substr(open + 1, close - open - 1));
      given.resize(3);
      const std::string& a = given[0];
      const std::string& b = given[1];
      const std::string meaning =
          word == "__implies"    ? fmt::format("(!({}) || ({}))", a, b)
          : word == "__is_pow2"  ? fmt::format("((({0}) & (({0}) - 1)) == 0)", a)
          : word == "__mod_pow2" ? fmt::format("((({}) - 1) & ({}))", b, a)
                                 : fmt::format("(({}) ? ({}) : ({}))", a, b, given[2]);
      text.replace(at, close + 1 - at, meaning);
    }
  }
  return text;
}

enum class Places : std::uint8_t { code, code_and_macros };

// Whether the line says something else there: a comment, or a macro.
bool is_among(Places places, std::string_view source, std::size_t at) {
  const std::size_t start = source.rfind('\n', at) + 1;  // npos + 1 is 0
  const std::string_view before = source.substr(start, at - start);
  if (before.find("//") != std::string_view::npos) return false;
  return places == Places::code_and_macros || !trimmed(before).starts_with('#');
}

// Calls visit(offset, condition) for each use of an annotation.
void for_each_annotation(std::string_view source, std::string_view word, const auto& visit,
                         Places places = Places::code) {
  for (std::size_t at = 0; (at = source.find(word, at)) != std::string_view::npos;
       at += word.size()) {
    const std::size_t open = source.find_first_not_of(" \t\n", at + word.size());
    const bool is_word =
        at == 0 ||
        (std::isalnum(static_cast<unsigned char>(source[at - 1])) == 0 && source[at - 1] != '_');
    if (!is_word || open == std::string_view::npos || source[open] != '(') continue;
    const std::size_t end = closing_bracket(source, open);
    if (end == std::string_view::npos || !is_among(places, source, at)) continue;
    visit(at, trimmed(source.substr(open + 1, end - open - 1)));
  }
}

void refuse_large_block(const std::array<std::optional<Expression>, 3>& extents,
                        const std::string& what) {
  constexpr std::int64_t kThreadsMax = 1'024;
  std::int64_t threads = 1;
  for (const auto& extent : extents) {
    threads *= extent->value([](std::string_view) { return std::nullopt; }).value_or(1);
  }
  if (threads <= kThreadsMax) return;
  throw UsageError(fmt::format("{}: a block has at most {} threads", what, kThreadsMax));
}

// From the opening to the closing brace.
std::vector<std::pair<std::size_t, std::size_t>> bodies_of_kernels(std::string_view source) {
  std::vector<std::pair<std::size_t, std::size_t>> bodies;
  for (std::size_t at = 0; (at = source.find("__global__", at)) != std::string_view::npos; ++at) {
    const std::size_t open = source.find_first_of("{;", at);
    if (open == std::string_view::npos || source[open] == ';') continue;
    int depth = 0;
    std::size_t close = open;
    for (; close < source.size(); ++close) {
      if (source[close] == '{') ++depth;
      if (source[close] == '}' && --depth == 0) break;
    }
    bodies.emplace_back(open, close);
  }
  return bodies;
}

bool read_no_memory(std::string_view source, std::initializer_list<std::string_view> annotations) {
  static const std::regex kReadsMemory(R"(\[|\*\s*\w+\s*[=<>]|\)\s*__\w+_offset)");
  bool are_plain = true;
  for (const std::string_view word : annotations) {
    for_each_annotation(
        source, word,
        [&](std::size_t, std::string_view condition) {
          are_plain &= !std::regex_search(condition.begin(), condition.end(), kReadsMemory);
        },
        Places::code_and_macros);
  }
  return are_plain;
}

}  // namespace

bool names_other_threads(std::string_view condition) {
  return condition.find("__same_") != std::string_view::npos ||
         std::ranges::any_of(names_of_claims(), [&](std::string_view name) {
           return condition.find(name) != std::string_view::npos;
         });
}

bool has_invariants_to_compute(std::string_view source) {
  return read_no_memory(source, {"__invariant", "__global_assert"});
}

// A requirement of another function is an obligation of its callers: were it computed, the threads
// that break it would be gone.
bool has_requirements_to_compute(std::string_view source) {
  const std::initializer_list<std::string_view> requirements{"__requires", "__global_requires",
                                                             "__assume"};
  const auto bodies = bodies_of_kernels(source);
  bool are_of_kernels = true;
  for (const std::string_view word : requirements) {
    for_each_annotation(
        source, word,
        [&](std::size_t at, std::string_view) {
          are_of_kernels &= std::ranges::any_of(
              bodies, [&](const auto& body) { return at > body.first && at < body.second; });
        },
        Places::code_and_macros);
  }
  return are_of_kernels && read_no_memory(source, requirements);
}

void add_gpuverify_header(std::string_view source, Contracts& contracts) {
  static const std::regex kOption(
      R"(--(blockDim|local_size|gridDim|num_groups|warp-sync)=(\[[^\]]*\]|\([^)]*\)|\S+))");
  static const std::regex kOfBlocks(R"(--only-intra-group\b)");
  std::size_t number = 0;
  while (source.starts_with("//")) {
    const std::string line(source.substr(0, source.find('\n')));
    ++number;
    for (std::sregex_iterator option(line.begin(), line.end(), kOption), end; option != end;
         ++option) {
      const std::string word = (*option)[1].str(), value = (*option)[2].str();
      if (word == "warp-sync") {
        contracts.has_lockstep_warps = value == "32";
        if (value != "32") {
          contracts.options_left_out.push_back(fmt::format("line {}: {}", number, option->str()));
        }
        continue;
      }
      contracts.has_gpuverify_launch = true;
      const bool is_block = word == "blockDim" || word == "local_size";
      auto& extents = is_block ? contracts.block : contracts.grid;
      const std::string what = fmt::format("line {}: --{}", number, word);
      extents = extents_of(value, what);
      if (is_block) refuse_large_block(extents, fmt::format("{}={}", what, value));
    }
    if (std::regex_search(line, kOfBlocks)) {
      contracts.options_left_out.push_back(
          fmt::format("line {}: --only-intra-group (races between blocks are looked for)", number));
    }
    source.remove_prefix(std::min(source.size(), line.size() + 1));
  }
}

void add_gpuverify_annotations(std::string_view source, std::size_t begin, std::size_t end,
                               Contracts& contracts) {
  const Macros macros = macros_of(std::string(source));
  contracts.are_aids_computed = has_requirements_to_compute(source);
  const auto where = [&](std::size_t at, std::string_view word, std::string_view condition) {
    return fmt::format("line {}: {}({})", line_at(source, at), word, condition);
  };
  for (const std::string_view word : {"__requires", "__global_requires", "__assume", "__axiom"}) {
    for_each_annotation(source, word, [&](std::size_t at, std::string_view condition) {
      // An axiom stands outside of functions, and holds for all of the file.
      const bool is_ours = word == "__axiom" || (at >= begin && at < end);
      const std::string text = where(at, word, condition);
      if (!is_ours) return contracts.unchecked.push_back(text);
      try {
        contracts.aids.push_back(
            {Expression(with_helpers(with_macros(std::string(condition), macros))), text});
      } catch (const ExpressionError&) {
        contracts.unread.push_back(text);
      }
    });
  }
  for (const std::string& word : names_of_aids()) {
    for_each_annotation(source, word, [&](std::size_t at, std::string_view condition) {
      contracts.unchecked.push_back(where(at, word, condition));
    });
  }
  for (const std::string_view word : {"__assert", "__invariant", "__global_assert"}) {
    for_each_annotation(source, word, [&](std::size_t at, std::string_view condition) {
      if (names_other_threads(condition)) contracts.unchecked.push_back(where(at, word, condition));
    });
  }
}

}  // namespace warpcheck
