// The qualifiers of an instruction: ".relaxed.gpu.add.u32".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/litmus_test.hpp"
#include "model/token_reader.hpp"

namespace warpcheck::model {

struct Qualifiers {
  std::optional<Order> order;
  std::optional<Scope> scope;
  std::optional<Operator> operation;
  std::optional<ValueType> type;
  std::optional<Proxy> proxy;
  bool is_constant = false;        // .const
  std::vector<std::string> words;  // the others: sync, arrive, cta of a barrier ...
  Place place;

  [[nodiscard]] bool has(std::string_view word) const;
};

// Reads the qualifiers after a mnemonic.  `with_words`: qualifiers that do not belong to memory
// operations are kept as words; otherwise they are errors that name them.
Qualifiers parse_qualifiers(TokenReader& reader, std::string_view mnemonic, bool with_words);

}  // namespace warpcheck::model
