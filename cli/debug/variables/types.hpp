// Types of C++ as debug information describes them, and as expressions compute with them.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "vgpu/ptx/vocabulary.hpp"

namespace warpcheck::debug {

struct Type;

struct Member {
  std::string name;  // empty: an anonymous struct or union
  const Type* type = nullptr;
  std::uint64_t offset = 0;  // bytes
  bool is_base = false;
  // Of a bit field: its bits begin at this bit of the number at `offset`.  bit_count 0: none.
  std::uint8_t first_bit = 0, bit_count = 0;
};

struct Enumerator {
  std::string name;
  std::int64_t value = 0;
};

struct Type {
  // clang-format off
  enum class Kind : std::uint8_t {
    void_, boolean, character, integer,
    floating,     // 2 (half), 4 or 8 bytes
    brain,        // __nv_bfloat16
    enumeration,
    pointer, reference,
    array,
    structure,    // and class
    union_,
    function,
    alias,        // a typedef, or a qualified type: `target` is what it names
    unknown,      // what the debug information does not say, or not in a way that is known here
  };
  // clang-format on
  Kind kind = Kind::unknown;
  bool is_signed = false;  // integer, character, enumeration
  std::string name;        // as C++ writes it
  std::uint64_t bytes = 0;
  const Type* target = nullptr;            // pointer, reference, array (element), alias
  ptx::Space space = ptx::Space::generic;  // pointer, reference: of what it points at
  std::uint64_t count = 0;                 // array; 0: not known
  std::vector<Member> members;             // structure, union
  std::vector<Enumerator> enumerators;
};

// Returns the type behind typedefs and qualifiers.
const Type& stripped(const Type& type);
inline const Type& stripped(const Type* type) { return stripped(*type); }

bool is_integral(const Type& type);    // boolean, character, integer, enumeration
bool is_floating(const Type& type);    // floating, brain
bool is_arithmetic(const Type& type);  // either
bool is_aggregate(const Type& type);   // has children: array, structure, union

// The types of C, and pointers and arrays of any type.  Owns what it returns.
class BasicTypes {
 public:
  BasicTypes();
  // name: "int", "unsigned long long", "half", "uint3" ...  nullptr: there is none of that name.
  [[nodiscard]] const Type* find(std::string_view name) const;
  [[nodiscard]] const Type& get(std::string_view name) const { return *find(name); }
  const Type& pointer_to(const Type& target, ptx::Space space = ptx::Space::generic);
  const Type& array_of(const Type& element, std::uint64_t count);
  // A type of which only the name is known.
  const Type& opaque(std::string_view name);
  // "float" for .f32; raw bits are an unsigned integer.
  const Type& of_ptx(ptx::Type type) const;

 private:
  std::deque<Type> types_;
  std::map<std::string, const Type*, std::less<>> names_;
  std::map<std::pair<const Type*, ptx::Space>, const Type*> pointers_;
  std::map<std::pair<const Type*, std::uint64_t>, const Type*> arrays_;
};

// Returns the name of a pointer or array: "float*", "int[4][2]", "@shared float*".
std::string pointer_name(const Type& target, ptx::Space space);
std::string array_name(const Type& element, std::uint64_t count);

// Returns the declaration of a type, as `ptype` shows it: a struct with its members.
std::string declaration_of(const Type& type);

}  // namespace warpcheck::debug
