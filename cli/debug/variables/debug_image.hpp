// The debug sections of a PTX text (`.section .debug_info { ... }`, made by nvcc -G), assembled to
// an ELF image that elfutils' libdw can read.
//
// The sections are DWARF 2 as numbers, with labels of the code and symbols among them.  Code has
// the number of its line in the text as its address, so that a label is at the same address as the
// instruction that follows it, or before it.  Symbols of data have addresses of their own, from
// which their name can be read again.
//
// Source: PTX ISA 9.0, 11.5 (debugging directives).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace warpcheck::debug {

// Debug information that cannot be read.  what() says where and why; variables are not known then.
class DebugInfoError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct DebugImage {
  std::vector<std::byte> elf;        // empty: the text has no debug information
  std::vector<std::string> symbols;  // in the order of their addresses
  std::vector<std::string> files;    // by number, as `.file` names them

  struct SymbolPlace {
    std::string name;
    std::uint64_t offset = 0;
  };
  // Returns the symbol at an address of the image, if it is one of data.
  [[nodiscard]] std::optional<SymbolPlace> symbol_at(std::uint64_t address) const;
};

// name: of the text, for errors.  Throws DebugInfoError.
DebugImage assemble_debug_sections(std::string_view text, std::string_view name);

}  // namespace warpcheck::debug
