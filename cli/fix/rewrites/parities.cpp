#include "cli/fix/rewrites/parities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/fix/rewrites/insertion.hpp"
#include "cli/fix/rewrites/statement_parts.hpp"

namespace warpcheck {
namespace {

using Kind = SourceNode::Kind;

struct TextRange {
  std::size_t begin, end;  // in the file
};

// A wait, and the parity that it names.
struct PhaseWait {
  std::size_t node;  // a simple statement, or a loop whose head asks
  TextRange whole, parity;
};

std::string_view text_in(const SourceTree& tree, const TextRange& part) {
  return std::string_view(tree.text()).substr(part.begin, part.end - part.begin);
}

bool is_constant(std::string_view code) {
  return code == "0" || code == "1" || code == "0u" || code == "1u";
}

bool names_parity(std::string_view code) {
  if (is_constant(code)) return true;
  for (const std::string_view part : {"phase", "parity", "& 1", "&1", "% 2", "^ 1", "^1"}) {
    if (code.find(part) != kNoPart) return true;
  }
  return false;
}

bool is_variable(std::string_view code) {
  return !code.empty() && (code[0] < '0' || code[0] > '9') &&
         std::ranges::all_of(code, is_word_character);
}

// The last argument of the call with this opening bracket that may be a parity.
std::optional<TextRange> parity_argument(const SourceTree& tree, std::size_t open,
                                         std::size_t close) {
  const std::string_view code(tree.code());
  std::optional<TextRange> found;
  std::size_t count = 0;
  for (const std::string_view argument :
       split_arguments(code.substr(open + 1, close - open - 1), Angles::operators)) {
    if (argument.empty() || count++ == 0 || !names_parity(argument)) continue;
    const auto from = static_cast<std::size_t>(argument.data() - code.data());
    found = TextRange{from, from + argument.size()};
  }
  return found;
}

// The last operand of inline PTX that waits for a parity, if it is a constant.
std::optional<TextRange> parity_operand(const SourceTree& tree, const TextRange& statement) {
  const std::string_view text = text_in(tree, statement);
  if (text.find("wait.parity") == kNoPart) return std::nullopt;
  const std::size_t operand = text.rfind("\"r\"(");
  if (operand == kNoPart) return std::nullopt;
  const std::size_t open = operand + 3, close = closing_bracket(text, open);
  if (close == kNoPart || !is_constant(trimmed(text.substr(open + 1, close - open - 1))))
    return std::nullopt;
  return TextRange{statement.begin + open + 1, statement.begin + close};
}

std::vector<PhaseWait> phase_waits_of(const SourceTree& tree) {
  std::vector<PhaseWait> waits;
  const std::string_view code(tree.code());
  for (std::size_t node = 0; node < tree.nodes().size(); ++node) {
    const Kind kind = tree[node].kind;
    if (kind != Kind::simple && kind != Kind::loop) continue;
    const TextRange part = kind == Kind::simple
                               ? TextRange{tree[node].begin, tree[node].end}
                               : TextRange{tree[node].head_begin, tree[node].head_end};
    if (const auto operand = parity_operand(tree, part)) {
      waits.push_back({node, part, *operand});
      continue;
    }
    for (std::size_t at = part.begin; at < part.end; ++at) {
      if (code[at] != '(' || at == 0 || !is_word_character(code[at - 1])) continue;
      std::size_t name = at;
      while (name > 0 && is_word_character(code[name - 1])) --name;
      if (code.substr(name, at - name).find("wait") == kNoPart) continue;
      const std::size_t close = closing_bracket(code, at);
      if (close == kNoPart) continue;
      if (const auto parity = parity_argument(tree, at, close))
        waits.push_back({node, {at, close}, *parity});
    }
  }
  return waits;
}

// The outermost loop around it.
std::size_t loop_around(const SourceTree& tree, std::size_t node) {
  std::size_t loop = SourceNode::kNoNode;
  for (std::size_t at = tree[node].parent; tree[at].kind != Kind::function; at = tree[at].parent) {
    if (tree[at].kind == Kind::loop) loop = at;
  }
  return loop;
}

Patch with_parity(const std::string& file, const SourceTree& tree, const PhaseWait& wait,
                  const std::string& parity) {
  return rewritten(file, tree, wait.parity.begin, wait.parity.end, parity,
                   fmt::format("parity {} for {}", parity, text_in(tree, wait.parity)));
}

// The statement behind the wait; nothing: the wait is the only statement of a branch or loop.
std::optional<Patch> flip_behind(const std::string& file, const SourceTree& tree,
                                 const PhaseWait& wait, const std::string& variable) {
  const Place place{&file, &tree, wait.node};
  const auto gap = gap_beside(place, true);
  if (!gap) return std::nullopt;
  return insertion(place, *gap, fmt::format("{} ^= 1;", variable));
}

// Of a wait for a constant parity in a loop.
std::optional<Patch> with_flipping_variable(const std::string& file, const SourceTree& tree,
                                            const PhaseWait& wait) {
  const std::size_t loop = loop_around(tree, wait.node);
  if (loop == SourceNode::kNoNode) return std::nullopt;
  const std::string name = unused_name(tree, "phase");
  const Place of_loop{&file, &tree, loop};
  const auto before = gap_beside(of_loop, false);
  auto patch = flip_behind(file, tree, wait, name);
  if (!before || !patch) return std::nullopt;
  const auto declared = insertion(
      of_loop, *before, fmt::format("unsigned {} = {};", name, text_in(tree, wait.parity)));
  if (!declared || !patch->add(*declared) || !patch->add(with_parity(file, tree, wait, name)))
    return std::nullopt;
  patch->what = {fmt::format("a parity that flips behind the wait of line {}",
                             tree.line_of(wait.parity.begin))};
  return patch;
}

// "(i / slots) & 1" of a wait that names `[i % slots]`.
std::string parity_of_round(const SourceTree& tree, const PhaseWait& wait) {
  for (const Subscript& slot : subscripts_of(text_in(tree, wait.whole))) {
    const std::size_t remainder = slot.index.find('%');
    if (remainder == std::string::npos || has_effects(tree, slot.index)) continue;
    const std::string_view index = trimmed(std::string_view(slot.index).substr(0, remainder));
    const std::string_view slots = trimmed(std::string_view(slot.index).substr(remainder + 1));
    const bool is_zero = text_in(tree, wait.parity).starts_with('0');
    return fmt::format("({} / {}{}) & 1", index, slots, is_zero ? "" : " + 1");
  }
  return {};
}

}  // namespace

std::vector<Patch> other_parities(const std::string& file, const SourceTree& tree) {
  std::vector<Patch> patches, opposite;
  const auto add = [&](std::optional<Patch> patch) {
    if (patch) patches.push_back(*std::move(patch));
  };
  for (const PhaseWait& wait : phase_waits_of(tree)) {
    const std::string parity(trimmed(text_in(tree, wait.parity)));
    if (has_effects(tree, parity)) continue;
    if (is_constant(parity)) {
      const std::string of_round = parity_of_round(tree, wait);
      if (!of_round.empty()) {
        add(with_parity(file, tree, wait, of_round));
      } else {
        add(with_flipping_variable(file, tree, wait));
      }
      opposite.push_back(with_parity(file, tree, wait, parity.starts_with('0') ? "1" : "0"));
      continue;
    }
    if (is_variable(parity)) add(flip_behind(file, tree, wait, parity));
    opposite.push_back(with_parity(
        file, tree, wait, is_variable(parity) ? parity + " ^ 1" : fmt::format("({}) ^ 1", parity)));
  }
  for (Patch& patch : opposite) patches.push_back(std::move(patch));
  return patches;
}

}  // namespace warpcheck
