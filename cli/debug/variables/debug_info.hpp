// What the debug information of a PTX text says about a place of its code: functions and scopes,
// variables with their types, and where their values are.
//
// elfutils' libdw reads the DWARF; debug_image.hpp makes the image that it reads.  An object of
// this class is for one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/debug/variables/debug_image.hpp"
#include "cli/debug/variables/types.hpp"

namespace warpcheck::debug {

// Where a variable's value is, at one place of the code.
struct Location {
  enum class Kind : std::uint8_t {
    absent,  // nowhere: `reason`
    in_register,
    in_memory,  // at `symbol` + `offset` in `space`
    constant,   // `bytes`
  };
  Kind kind = Kind::absent;
  std::string register_name;  // "%r5"
  ptx::Space space = ptx::Space::generic;
  std::string symbol;
  std::uint64_t offset = 0;
  std::vector<std::byte> bytes;
  std::string reason;  // "has no value here: the compiler has removed it"
};

struct Variable {
  std::string name;          // with its namespaces
  std::string linkage_name;  // mangled; empty: it has none
  const Type* type = nullptr;
  bool is_parameter = false;
  std::uint32_t line = 0;  // of the source
  Location location;       // at the place for which the variable was asked
};

struct Scope {
  enum class Kind : std::uint8_t { block, inlined, function };
  Kind kind = Kind::block;
  std::string function;  // inlined, function: as C++ writes it
  std::string linkage_name;
  std::string call_file;  // inlined: where it was called
  std::uint32_t call_line = 0;
  std::vector<Variable> variables;
};

// Code of a function that was inlined, and its call.
struct InlinedCode {
  std::uint32_t first_line = 0, end_line = 0;  // of the PTX text
  std::string function;                        // mangled
  std::string call_file;
  std::uint32_t call_line = 0;
};

class DebugInfo {
 public:
  // text: PTX of a program, which may have parts (text_parts.hpp); name: of it, for errors.  Throws
  // DebugInfoError if the text has debug information that is damaged.
  DebugInfo(std::string_view text, std::string_view name);
  ~DebugInfo();
  DebugInfo(const DebugInfo&) = delete;
  DebugInfo& operator=(const DebugInfo&) = delete;

  // Returns whether variables are described: text of nvcc -G.
  [[nodiscard]] bool has_variables() const;
  // The scopes around an instruction, by its line in the PTX text; the innermost first, the
  // function last.  Empty: the function is not described.  Throws DebugInfoError.
  [[nodiscard]] std::vector<Scope> scopes_at(std::uint32_t ptx_line) const;
  // All calls that are inlined, each behind those that it lies inside of.  Throws DebugInfoError.
  [[nodiscard]] std::vector<InlinedCode> inlined_code() const;
  // Variables outside functions, and static ones of all functions.  Throws DebugInfoError.
  [[nodiscard]] const std::vector<Variable>& globals() const;
  // A type of the program by its name; nullptr: there is none.  Throws DebugInfoError.
  [[nodiscard]] const Type* find_type(std::string_view name) const;
  // An enumerator by its name, "kRed" or "Colour::red"; no type: there is none.  Throws
  // DebugInfoError.
  struct FoundEnumerator {
    const Type* type = nullptr;
    std::int64_t value = 0;
  };
  [[nodiscard]] FoundEnumerator find_enumerator(std::string_view name) const;

 private:
  class Reader;
  std::vector<std::unique_ptr<Reader>> readers_;  // of the parts that have debug information
  std::vector<Variable> globals_;                 // of all
};

}  // namespace warpcheck::debug
