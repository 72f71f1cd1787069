// Values of the program: a type, and where its bits are.
//
// A value of memory is read when it is shown, so an array of a million elements costs nothing until
// some of them are asked for.  Bits that the program has not written are said to be unwritten, and
// a variable that the compiler has removed is said to be removed: nothing is made up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/debug/variables/thread_view.hpp"
#include "cli/debug/variables/types.hpp"

namespace warpcheck::debug {

struct Value {
  enum class Place : std::uint8_t {
    absent,  // `reason` says why there is no value
    memory,  // at `address`
    bits,    // `bytes`: of a register, a constant, or a result
  };
  const Type* type = nullptr;
  Place place = Place::absent;
  Address address;
  std::vector<std::byte> bytes;
  std::vector<std::uint8_t> unwritten;        // beside bytes: bits that are not written
  std::uint8_t first_bit = 0, bit_count = 0;  // of a bit field; bit_count 0: it is none
  std::string register_name;                  // bits: "%r5", if it is a register's
  std::string reason;
};

struct NamedValue {
  std::string name;        // "x", "[3]", "*p"
  std::string expression;  // that gives the value: "points[2].x"
  Value value;
};

enum class Format : std::uint8_t { natural, decimal, hex, floating, binary };

// How a command names a format: "d", "x", "f", "t"; nothing: it is none of them.
std::optional<Format> format_of(std::string_view letter);

struct TextLimits {
  std::size_t elements_max = 32;  // of an array, in one text
  std::size_t depth_max = 4;      // of arrays and structures in each other
};

// Returns the text of a value: "3", "1.5", "{x = 1, y = 2}", "<not written>",
// "<the compiler has removed it>", "<shared 0x40 is outside ...>".
std::string text_of(const Value& value, const ThreadView& thread, Format format = Format::natural,
                    const TextLimits& limits = {});

// The number of children: elements of an array, members of a structure, what a pointer points at.
std::size_t child_count(const Value& value);

// Returns the children from number `first`, `count` of them at most.
//   expression: gives the value; those of the children are derived from it
std::vector<NamedValue> children_of(const NamedValue& value, const ThreadView& thread,
                                    std::size_t first, std::size_t count);

// A value that cannot be read, for this reason.
Value absent(const Type* type, std::string reason);

// Returns the bytes of a value.  Throws Unreadable, also for a value that is absent.
MemoryBytes bytes_of(const Value& value, const ThreadView& thread);

// What a reference refers to; another value is returned as it is.
Value referred(const Value& value, const ThreadView& thread);

// What a pointer points at.  Throws Unreadable if the pointer cannot be read.
Value pointed_at(const Value& pointer, const ThreadView& thread);

// A member by its name, also of a base or of an anonymous member; nothing: there is none.
std::optional<Value> find_member(const Value& value, std::string_view name);

// A member, or an element, of a value.
Value member_of(const Value& value, const Member& member);
Value element_of(const Value& value, std::uint64_t index);

}  // namespace warpcheck::debug
