// The names that are visible at a place of the text: a `{ ... }` scope shadows names of outer
// scopes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vgpu/ptx/vocabulary.hpp"

namespace warpcheck::ptx {

struct Symbol {
  enum class Kind : std::uint8_t { reg, variable, function, label, branch_targets, prototype };
  Kind kind = Kind::reg;
  VariableRef::Scope variables = VariableRef::Scope::none;  // variable: the list
  std::uint32_t index = 0;                                  // of a vector: its first register
  std::uint32_t depth = 0;    // of the declaring scope; the module has 0
  std::uint8_t elements = 1;  // reg: of a vector of them
};

class SymbolTable {
 public:
  void open_scope() { scopes_.push_back({undo_.size(), range_undo_.size()}); }
  void close_scope();
  [[nodiscard]] std::uint32_t depth() const { return static_cast<std::uint32_t>(scopes_.size()); }

  // Returns false if the scope has that name already.  The name must outlive the table.
  bool declare(std::string_view name, Symbol symbol);
  // `.reg .b32 %r<count>` declares %r0 ... %r(count - 1), with the indices from `first` on.
  //   elements: of each; then their indices are so far apart
  bool declare_registers(std::string_view prefix, std::uint32_t first, std::uint32_t count,
                         std::uint8_t elements);
  [[nodiscard]] std::optional<Symbol> find(std::string_view name) const;

 private:
  struct Range {
    std::uint32_t first, count, depth;
    std::uint8_t elements;
  };
  struct Undo {
    std::string_view name;
    std::optional<Symbol> shadowed;
  };
  struct ScopeStart {
    std::size_t undo, range_undo;
  };
  [[nodiscard]] std::optional<Symbol> find_in_ranges(std::string_view name) const;

  std::unordered_map<std::string_view, Symbol> names_;
  std::unordered_map<std::string_view, std::vector<Range>> ranges_;  // the innermost scope is last
  // prefixes in the order of declaration
  std::vector<std::string_view> range_undo_;
  std::vector<Undo> undo_;
  std::vector<ScopeStart> scopes_;
};

}  // namespace warpcheck::ptx
