// What the registers of a program hold, as far as it concerns addresses.  Internal to vgpu/program;
// see find_provenance.cpp.
#pragma once

#include <compare>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

enum class Part : std::uint8_t { whole, low, high };  // of a 64-bit value, in a word

// A place in the local memory of a function's frame.
struct LocalPlace {
  std::uint32_t function = ptx::kNone;  // kNone: not an address of local memory
  std::int64_t offset = 0;
  bool is_known = true;  // whether the offset is known
  friend auto operator<=>(const LocalPlace&, const LocalPlace&) = default;
};

struct Value {
  Provenance made_from;
  LocalPlace local;
  Part part = Part::whole;
  std::uint8_t word = 0;  // bytes of the aligned word whose address it is; 0: none is known
  bool unknown = false;   // an unknown 64-bit value from memory is added
  bool lost = false;      // nothing is known
  friend auto operator<=>(const Value&, const Value&) = default;
};

// The values, by number.  The first numbers are fixed.
class Values {
 public:
  static constexpr std::uint32_t kUnset = 0;  // not written yet
  static constexpr std::uint32_t kInteger = 1, kLost = 2;
  static constexpr std::uint32_t kUnknown = 3;  // an address or an integer from memory

  explicit Values(const Program& program);

  [[nodiscard]] const Value& operator[](std::uint32_t number) const { return values_[number]; }
  std::uint32_t of_root(std::uint32_t root);
  std::uint32_t of_local(std::uint32_t function, std::int64_t offset);

  // Returns a value that is `a` or `b`.
  std::uint32_t join(std::uint32_t a, std::uint32_t b);
  std::uint32_t sum(std::uint32_t a, std::uint32_t b, std::int32_t factor);
  // Returns `a` plus a known number.
  std::uint32_t moved(std::uint32_t a, std::int64_t by);
  // Returns a value computed from these in another way.
  std::uint32_t mix(std::span<const std::uint32_t> parts, bool unknown = false);
  std::uint32_t mix(std::initializer_list<std::uint32_t> parts, bool unknown = false) {
    return mix(std::span(parts.begin(), parts.size()), unknown);
  }
  // Returns `value` as the address of the aligned word, of so many bytes, that contains another
  // address.
  std::uint32_t around(std::uint32_t value, std::uint8_t word_bytes);
  // part_of(): a half of a 64-bit value. joined(): a 64-bit value of two halves.
  std::uint32_t part_of(std::uint32_t whole, Part part);
  std::uint32_t joined(std::uint32_t low, std::uint32_t high);

  // Returns what reading `value` gives if it was read from memory that may hold `stored`.
  std::uint32_t with_differences(std::uint32_t value, std::uint32_t stored);
  // Returns what storing `value` contributes to later reads.  Addresses and integers that are
  // stored are read back as such; distances between objects are not.
  std::uint32_t as_stored(std::uint32_t value);

  // Functions whose local memory other code may access, because an address of it has escaped.
  [[nodiscard]] bool has_escaped(std::uint32_t function) const {
    return escaped_.contains(function);
  }
  [[nodiscard]] std::size_t escaped() const { return escaped_.size(); }
  void escape(std::uint32_t value) { escape(values_[value]); }

 private:
  std::uint32_t number_of(const Value& value);
  void take(Value& value, const Value& other);
  void escape(const Value& value);
  void add_difference(Value& value, const RootSum& sum) const;
  std::uint32_t finished(const Value& value);

  const Program& program_;
  std::vector<Value> values_;
  std::map<Value, std::uint32_t> numbers_;
  std::set<std::uint32_t> escaped_;
};

}  // namespace warpcheck::vgpu
