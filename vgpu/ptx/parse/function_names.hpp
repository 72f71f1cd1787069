// The names of inlined functions: .loc directives refer to them by labels of the section .debug_str
// (PTX ISA 9.0, 11.5.5), which stands behind the code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vgpu/ptx/module.hpp"

namespace warpcheck::ptx {

// Texts must outlive it.
class FunctionNames {
 public:
  // Returns the index that the name at `label` + `offset` will have in Module::inlined_functions.
  std::uint32_t index_of(std::string_view label, std::uint32_t offset);
  // Takes note of a section.
  void read(std::string_view text);
  // Appends the names of the indices that are new; empty: no section has the label.
  void resolve(std::vector<std::string>& names) const;
  // Returns the name there, cut after so many characters; empty: there is none.
  [[nodiscard]] std::string name_at(std::string_view label, std::uint32_t offset,
                                    std::size_t size_max = std::string::npos) const;

 private:
  using Key = std::pair<std::string_view, std::uint32_t>;
  std::map<Key, std::uint32_t> indices_;
  std::vector<Key> keys_;                                          // by index
  std::unordered_map<std::string_view, std::string_view> labels_;  // and what stands behind each
  std::uint32_t latest_ = kNone;
};

}  // namespace warpcheck::ptx
