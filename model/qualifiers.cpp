#include "model/qualifiers.hpp"

#include <algorithm>
#include <array>

#include "model/operators.hpp"

namespace warpcheck::model {
namespace {

template <typename Value>
using Row = std::pair<std::string_view, Value>;

constexpr std::array<Row<Order>, 6> kOrders{{{"weak", Order::weak},
                                             {"relaxed", Order::relaxed},
                                             {"acquire", Order::acquire},
                                             {"release", Order::release},
                                             {"acq_rel", Order::acq_rel},
                                             {"sc", Order::sc}}};
constexpr std::array<Row<Scope>, 5> kScopes{{{"cta", Scope::cta},
                                             {"cluster", Scope::cluster},
                                             {"gpu", Scope::gpu},
                                             {"gl", Scope::gpu},  // for membar
                                             {"sys", Scope::sys}}};
// State spaces, and qualifiers that say nothing about memory order.
constexpr std::array<std::string_view, 4> kIgnored{"global", "generic", "uni", "lo"};

template <std::size_t N, typename Value>
std::optional<Value> find(const std::array<Row<Value>, N>& rows, std::string_view name) {
  for (const auto& [key, value] : rows) {
    if (key == name) return value;
  }
  return std::nullopt;
}

// u32, s64, b16
std::optional<ValueType> type_named(std::string_view name) {
  if (name.size() < 2 || std::string_view("usb").find(name[0]) == std::string_view::npos) {
    return std::nullopt;
  }
  for (const int bits : {8, 16, 32, 64}) {
    if (name.substr(1) == std::to_string(bits)) {
      return ValueType{static_cast<std::uint8_t>(bits), name[0] == 's'};
    }
  }
  return std::nullopt;
}

template <typename Value>
void set(std::optional<Value>& slot, Value value, const Token& word) {
  if (slot) throw LitmusError(word.place, fmt::format("'.{}' is one too many", word.text));
  slot = value;
}

// Volatile accesses are relaxed ones at system scope (PTX ISA 8.4.2), and so are mmio accesses,
// whose order and scope are written explicitly.
void add(Qualifiers& qualifiers, const Token& word, std::string_view mnemonic, bool with_words) {
  const std::string& name = word.text;
  if (with_words) {
    if (name != "aligned") qualifiers.words.push_back(name);
  } else if (name == "volatile") {
    set(qualifiers.order, Order::relaxed, word);
    set(qualifiers.scope, Scope::sys, word);
  } else if (name == "mmio" || std::ranges::find(kIgnored, name) != kIgnored.end()) {
    return;
  } else if (name == "const") {
    qualifiers.is_constant = true;
  } else if (const auto order = find(kOrders, name)) {
    set(qualifiers.order, *order, word);
  } else if (const auto scope = find(kScopes, name)) {
    set(qualifiers.scope, *scope, word);
  } else if (const auto type = type_named(name)) {
    set(qualifiers.type, *type, word);
  } else if (const auto operation = operator_named(name)) {
    set(qualifiers.operation, *operation, word);
  } else {
    throw LitmusError(word.place, fmt::format("'.{}' of {} is not known", name, mnemonic));
  }
}

}  // namespace

bool Qualifiers::has(std::string_view word) const {
  return std::ranges::find(words, word) != words.end();
}

Qualifiers parse_qualifiers(TokenReader& reader, std::string_view mnemonic, bool with_words) {
  Qualifiers qualifiers;
  qualifiers.place = reader.peek().place;
  while (reader.accept(".")) {
    const Token& word = reader.expect_name("a qualifier");
    if (reader.peek().is("::")) {
      throw LitmusError(word.place, fmt::format("'.{}::{}' of {} is not known", word.text,
                                                reader.peek(1).text, mnemonic));
    }
    add(qualifiers, word, mnemonic, with_words);
  }
  return qualifiers;
}

}  // namespace warpcheck::model
