// Interprets the words of opcodes.def: which suffixes and operands an instruction may have.
#include "vgpu/ptx/mnemonic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <stdexcept>

#include "vgpu/ptx/opcode.hpp"
#include "vgpu/ptx/opcode_row.hpp"
#include "vgpu/ptx/suffixes.hpp"

namespace warpcheck::ptx {
namespace {

// A decoded row of opcodes.def.
struct Row {
  std::vector<Syntax> syntaxes;
  bool any_operands = false;
  bool any_suffixes = false;
  std::bitset<96> classes, required;
  int types_min = 0, types_max = 0;
  std::vector<Syntax::TypeOf> sources;  // the longest list of the syntaxes; they agree
};

// Returns the next word of a text whose words are separated by `separator`, and removes it from the
// text.
std::string_view next_word(std::string_view& text, char separator) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  const std::size_t end = std::min(text.find(separator), text.size());
  std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
  return word;
}

constexpr std::array<std::string_view, 12> kWords = {"dst",  "vdst",  "pdst", "src",
                                                     "vsrc", "msrc",  "asrc", "pred",
                                                     "addr", "label", "name", "tensor"};
static_assert(kWords.size() == static_cast<std::size_t>(Syntax::Word::tensor) + 1);

constexpr std::array<std::string_view, 7> kTypesOf = {"",    "second", "product", "pred",
                                                      "b32", "u32",    "u64"};
static_assert(kTypesOf.size() == static_cast<std::size_t>(Syntax::TypeOf::u64) + 1);

Syntax::TypeOf read_type(std::string_view word, std::string_view type) {
  if (word == "pred") return Syntax::TypeOf::pred;
  const auto found = std::find(kTypesOf.begin(), kTypesOf.end(), type);
  if (found == kTypesOf.end()) throw std::logic_error(fmt::format("opcodes.def: type '{}'", type));
  return static_cast<Syntax::TypeOf>(found - kTypesOf.begin());
}

// "src", "src:u32?"
Syntax::Slot read_slot(std::string_view word) {
  const bool optional = word.ends_with('?');
  if (optional) word.remove_suffix(1);
  std::string_view type = word;
  word = next_word(type, ':');
  const auto found = std::find(kWords.begin(), kWords.end(), word);
  if (found == kWords.end()) throw std::logic_error(fmt::format("opcodes.def: word '{}'", word));
  return {static_cast<Syntax::Word>(found - kWords.begin()), optional, read_type(word, type)};
}

// Sources come after the destination.  One syntax may have more sources than another.
void list_sources(const Syntax& syntax, Row& row) {
  for (std::size_t at = 1; at < syntax.slots.size(); ++at) {
    const Syntax::TypeOf type = syntax.slots[at].type;
    if (at > row.sources.size()) row.sources.push_back(type);
    if (row.sources[at - 1] != type) {
      throw std::logic_error(fmt::format("opcodes.def: two types of source {}", at));
    }
  }
}

void read_operands(std::string_view text, Row& row) {
  row.any_operands = text == "any";
  if (row.any_operands) return;
  do {
    std::string_view rest = next_word(text, '|');
    Syntax& syntax = row.syntaxes.emplace_back();
    if (rest.starts_with('.')) syntax.suffix = next_word(rest, ':').substr(1);
    while (!rest.empty()) syntax.slots.push_back(read_slot(next_word(rest, ' ')));
  } while (!text.empty());
}

void read_classes(std::string_view text, Row& row) {
  while (!text.empty()) {
    const std::string_view word = next_word(text, ' ');
    std::string_view name = word;
    if (word == "any") {
      row.any_suffixes = true;
      continue;
    }
    if (word.starts_with("type")) {
      row.types_min = word == "type?" ? 0 : word == "type" || word == "types?" ? 1 : 2;
      row.types_max = word == "types3" ? 3 : word.starts_with("types") ? 2 : 1;
      name = "type";
    }
    if (word.ends_with('!')) name.remove_suffix(1);
    const int suffix_class = find_suffix_class(name);
    if (suffix_class < 0) throw std::logic_error(fmt::format("opcodes.def: class '{}'", word));
    row.classes.set(static_cast<std::size_t>(suffix_class));
    if (word.ends_with('!')) row.required.set(static_cast<std::size_t>(suffix_class));
  }
}

// Other families name the types of their operands themselves.
bool has_typed_sources(Family family) {
  return family == Family::compute || family == Family::space_test || family == Family::warp;
}

const Row& row_for(Opcode opcode) {
  static const auto& rows = *new const auto([] {
    std::vector<Row> all(static_cast<std::size_t>(Opcode::count));
    all[0].any_operands = all[0].any_suffixes = true;
    for (std::size_t at = 1; at < all.size(); ++at) {
      const OpcodeRow& row = row_of(static_cast<Opcode>(at));
      read_operands(row.operands, all[at]);
      read_classes(row.modifiers, all[at]);
      if (!has_typed_sources(row.family)) continue;
      for (const Syntax& syntax : all[at].syntaxes) list_sources(syntax, all[at]);
    }
    return all;
  }());
  return rows[static_cast<std::size_t>(opcode)];
}

bool has_suffix(std::string_view suffixes, std::string_view wanted) {
  while (!suffixes.empty()) {
    if (next_word(suffixes, '.') == wanted) return true;
  }
  return false;
}

// A third type (cvt.pack.sat.s8.s32.b32) adds no information: it is always b32.
bool is_third_type(const Suffix& suffix, const Row& row, const Modifiers& m) {
  return suffix.suffix_class == SuffixClass::type && row.types_max == 3 && m.pack &&
         m.source_type != Type::none && static_cast<Type>(suffix.value) == Type::b32;
}

int count_types(const Modifiers& m) {
  return (m.type != Type::none) + (m.source_type != Type::none) + (m.third_type != Type::none);
}

// Sets the modifier of one suffix.  Returns why that is not possible.  Removes the suffix's class
// from `missing`.
std::string read_suffix(std::string_view word, std::string_view text, const Row& row,
                        Modifiers& modifiers, std::bitset<96>& missing) {
  const std::span<const Suffix> meanings = find_suffixes(word);
  if (meanings.empty()) {
    const std::string_view why = reason_against(word);
    if (!why.empty()) return fmt::format("modifier '.{}' of '{}': {}", word, text, why);
    return fmt::format("unknown modifier '.{}' in '{}'", word, text);
  }
  const auto allowed = std::ranges::find_if(meanings, [&](const Suffix& suffix) {
    return row.classes.test(static_cast<std::size_t>(suffix.suffix_class));
  });
  if (allowed == meanings.end()) {
    return fmt::format("modifier '.{}' of '{}' is not supported", word, text);
  }
  missing.reset(static_cast<std::size_t>(allowed->suffix_class));
  if (allowed->suffix_class == SuffixClass::cluster) {  // names a space
    missing.reset(static_cast<std::size_t>(SuffixClass::space));
  }
  if (is_third_type(*allowed, row, modifiers)) return {};
  const int types = count_types(modifiers);
  const bool has_pack = row.classes.test(static_cast<std::size_t>(SuffixClass::pack));
  const int types_max = has_pack ? 2 : row.types_max;
  const bool type_too_many = allowed->suffix_class == SuffixClass::type && types >= types_max;
  if (type_too_many || !apply(*allowed, modifiers)) {
    return fmt::format("modifier '.{}' in '{}' comes after another of its kind", word, text);
  }
  return {};
}

// Sets the defaults that the ISA defines for missing modifiers (9.7.13.4 - 9.7.13.6).
void fill_defaults(Opcode opcode, Modifiers& m) {
  if (opcode == Opcode::atom_ || opcode == Opcode::red_) {
    if (m.order == Order::weak) m.order = Order::relaxed;
    if (m.scope == Scope::none) m.scope = Scope::gpu;
  }
  if (opcode == Opcode::fence_ && m.order == Order::weak) m.order = Order::acq_rel;
  if (opcode == Opcode::membar_) m.order = Order::sc;
  if (opcode == Opcode::ldu_) m.noncoherent = true;
}

std::string read_suffixes(std::string_view suffixes, std::string_view text, const Row& row,
                          Modifiers& modifiers) {
  std::bitset<96> missing = row.required;
  while (!suffixes.empty()) {
    const std::string_view word = next_word(suffixes, '.');
    std::string reason = read_suffix(word, text, row, modifiers, missing);
    if (!reason.empty()) return reason;
  }
  if (count_types(modifiers) < row.types_min) return fmt::format("'{}' lacks a type", text);
  if (row.classes.test(static_cast<std::size_t>(SuffixClass::part)) &&
      modifiers.part == MulPart::none && !is_float(modifiers.type)) {
    missing.set(static_cast<std::size_t>(SuffixClass::part));
  }
  for (std::size_t at = 0; at < missing.size(); ++at) {
    if (!missing.test(at)) continue;
    return fmt::format("'{}' lacks a modifier of the kind {}", text,
                       name_of(static_cast<SuffixClass>(at)));
  }
  return {};
}

bool is_reg(const Operand& o) { return o.kind == Operand::Kind::reg && !o.negated; }

bool is_dst(const Operand& o) { return is_reg(o) || o.kind == Operand::Kind::sink; }

bool is_src(const Operand& o) {
  return is_reg(o) || o.kind == Operand::Kind::immediate || o.kind == Operand::Kind::special;
}

bool is_symbol(const Operand& o) {
  return o.kind == Operand::Kind::variable || o.kind == Operand::Kind::function;
}

bool is_vector(const Operand& o, bool pair, bool (*element)(const Operand&)) {
  return o.kind == Operand::Kind::vector && o.pair == pair && std::ranges::all_of(o.parts, element);
}

// clang-format off
bool fits(const Operand& o, Syntax::Word word) {
  using Kind = Operand::Kind;
  switch (word) {
    case Syntax::Word::dst: return is_dst(o);
    case Syntax::Word::vdst: return is_dst(o) || is_vector(o, false, is_dst);
    case Syntax::Word::pdst: return is_dst(o) || is_vector(o, true, is_dst);
    case Syntax::Word::src: return is_src(o);
    case Syntax::Word::vsrc: return is_src(o) || is_vector(o, false, is_src);
    case Syntax::Word::msrc: return is_src(o) || is_symbol(o) || is_vector(o, false, is_src);
    case Syntax::Word::asrc: return is_src(o) || o.kind == Kind::variable;
    case Syntax::Word::pred: return o.kind == Kind::reg || o.kind == Kind::immediate;
    case Syntax::Word::addr: return o.kind == Kind::address && o.parts.empty();
    case Syntax::Word::label: return o.kind == Kind::label;
    case Syntax::Word::name: return o.kind == Kind::name;
    case Syntax::Word::tensor: return o.kind == Kind::address && !o.parts.empty();
  }
  return false;
}
// clang-format on

std::string_view describe(Syntax::Word word) {
  constexpr std::array<std::string_view, 12> kTexts = {"a register",
                                                       "a register or a vector of them",
                                                       "a register or a pair `d|p`",
                                                       "a register or an immediate",
                                                       "a register, an immediate or a vector",
                                                       "a register, an immediate, a vector or "
                                                       "a name",
                                                       "a register, an immediate or a variable",
                                                       "a predicate",
                                                       "an address",
                                                       "a label",
                                                       "a name",
                                                       "a tensor map and coordinates"};
  return kTexts[static_cast<std::size_t>(word)];
}

struct Count {
  std::size_t min, max;
};

Count count_of(const Syntax& syntax) {
  const auto optional = std::ranges::count_if(syntax.slots, &Syntax::Slot::optional);
  return {syntax.slots.size() - static_cast<std::size_t>(optional), syntax.slots.size()};
}

// Returns the index of the first operand that does not fit; operands.size() if all fit.
std::size_t first_misfit(const Syntax& syntax, std::span<const Operand> operands) {
  for (std::size_t at = 0; at < operands.size(); ++at) {
    if (!fits(operands[at], syntax.slots[at].word)) return at;
  }
  return operands.size();
}

}  // namespace

Type source_type(Opcode opcode, const Modifiers& modifiers, std::size_t position) {
  const std::vector<Syntax::TypeOf>& sources = row_for(opcode).sources;
  switch (position < sources.size() ? sources[position] : Syntax::TypeOf::instruction) {
    case Syntax::TypeOf::instruction: return modifiers.type;
    case Syntax::TypeOf::second: return modifiers.source_type;
    case Syntax::TypeOf::product:
      return modifiers.part == MulPart::wide ? twice_as_wide(modifiers.type) : modifiers.type;
    case Syntax::TypeOf::pred: return Type::pred;
    case Syntax::TypeOf::b32: return Type::b32;
    case Syntax::TypeOf::u32: return Type::u32;
    case Syntax::TypeOf::u64: return Type::u64;
  }
  return modifiers.type;
}

Mnemonic read_mnemonic(std::string_view text) {
  Mnemonic out;
  std::string_view suffixes = text;
  out.opcode = find_opcode(next_word(suffixes, '.'));
  const Row& row = row_for(out.opcode);
  out.unchecked = row.any_operands;
  out.cache_policy = has_suffix(suffixes, "L2::cache_hint");
  if (out.opcode == Opcode::invalid) {
    out.unsupported = fmt::format("unknown instruction '{}'", text);
    return out;
  }
  if (!row.any_suffixes) {
    out.unsupported = read_suffixes(suffixes, text, row, out.modifiers);
    fill_defaults(out.opcode, out.modifiers);
  }
  for (const bool conditional : {true, false}) {
    if (!out.syntaxes.empty()) break;
    for (const Syntax& syntax : row.syntaxes) {
      const bool holds = conditional ? !syntax.suffix.empty() && has_suffix(suffixes, syntax.suffix)
                                     : syntax.suffix.empty();
      if (holds) out.syntaxes.push_back(&syntax);
    }
  }
  return out;
}

std::string find_misfit(const Mnemonic& mnemonic, std::span<const Operand> operands) {
  if (mnemonic.unchecked) return {};
  const std::size_t given = operands.size();
  if (mnemonic.cache_policy && !operands.empty()) {
    if (!is_src(operands.back())) {
      return fmt::format("operand {} must be a cache policy", given);
    }
    operands = operands.first(operands.size() - 1);
  }
  const Syntax* counted = nullptr;
  Count count{SIZE_MAX, 0};
  for (const Syntax* syntax : mnemonic.syntaxes) {
    const Count range = count_of(*syntax);
    count = {std::min(count.min, range.min), std::max(count.max, range.max)};
    if (operands.size() < range.min || operands.size() > range.max) continue;
    if (first_misfit(*syntax, operands) == operands.size()) return {};
    if (counted == nullptr) counted = syntax;
  }
  if (counted == nullptr) {
    const std::size_t policy = mnemonic.cache_policy ? 1 : 0;
    const std::string range = count.min == count.max
                                  ? fmt::format("{}", count.min + policy)
                                  : fmt::format("{} to {}", count.min + policy, count.max + policy);
    return fmt::format("expected {} operands, found {}", range, given);
  }
  const std::size_t at = first_misfit(*counted, operands);
  return fmt::format("operand {} must be {}", at + 1, describe(counted->slots[at].word));
}

}  // namespace warpcheck::ptx
