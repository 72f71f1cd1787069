#include "vgpu/ptx/parse/symbols.hpp"

#include <algorithm>
#include <charconv>

namespace warpcheck::ptx {

void SymbolTable::close_scope() {
  const ScopeStart start = scopes_.back();
  for (; range_undo_.size() > start.range_undo; range_undo_.pop_back()) {
    ranges_[range_undo_.back()].pop_back();
  }
  for (; undo_.size() > start.undo; undo_.pop_back()) {
    const Undo& undo = undo_.back();
    if (undo.shadowed) {
      names_[undo.name] = *undo.shadowed;
    } else {
      names_.erase(undo.name);
    }
  }
  scopes_.pop_back();
}

bool SymbolTable::declare(std::string_view name, Symbol symbol) {
  symbol.depth = depth();
  const std::optional<Symbol> known = find(name);
  if (known && known->depth == symbol.depth) return false;
  const auto [at, is_new] = names_.try_emplace(name, symbol);
  if (!scopes_.empty()) {
    undo_.push_back({name, is_new ? std::nullopt : std::optional(at->second)});
  }
  at->second = symbol;
  return true;
}

bool SymbolTable::declare_registers(std::string_view prefix, std::uint32_t first,
                                    std::uint32_t count, std::uint8_t elements) {
  std::vector<Range>& ranges = ranges_[prefix];
  if (!ranges.empty() && ranges.back().depth == depth()) return false;
  ranges.push_back({first, count, depth(), elements});
  range_undo_.push_back(prefix);
  return true;
}

std::optional<Symbol> SymbolTable::find(std::string_view name) const {
  const std::optional<Symbol> in_range = find_in_ranges(name);
  const auto at = names_.find(name);
  if (at == names_.end()) return in_range;
  return in_range && in_range->depth > at->second.depth ? in_range : at->second;
}

// A prefix may end in digits itself (`%r1<4>` declares %r10 ... %r13), so all splits are tried.
std::optional<Symbol> SymbolTable::find_in_ranges(std::string_view name) const {
  constexpr std::size_t kDigitsMax = 10;  // digits of a 32-bit number
  std::optional<Symbol> found;
  const char* const end = name.data() + name.size();
  for (std::size_t digits = 1; digits <= kDigitsMax && digits < name.size(); ++digits) {
    const char* const first = end - digits;
    if (*first < '0' || *first > '9') break;
    if (*first == '0' && digits > 1) continue;
    const auto ranges = ranges_.find(name.substr(0, name.size() - digits));
    if (ranges == ranges_.end()) continue;
    std::uint32_t number = 0;
    const auto [stop, error] = std::from_chars(first, end, number);
    if (error != std::errc{}) continue;
    const auto range = std::find_if(ranges->second.rbegin(), ranges->second.rend(),
                                    [&](const Range& r) { return number < r.count; });
    if (range == ranges->second.rend() || (found && found->depth >= range->depth)) continue;
    found = Symbol{.index = range->first + number * range->elements,
                   .depth = range->depth,
                   .elements = range->elements};
  }
  return found;
}

}  // namespace warpcheck::ptx
