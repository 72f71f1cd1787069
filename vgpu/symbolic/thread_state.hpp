// What a thread has at a place of the code: its registers, and the condition under which it is
// there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/ptx/module.hpp"
#include "vgpu/symbolic/symbols.hpp"

namespace warpcheck::vgpu::symbolic {

// Memory that addresses belong to: an array of the host, a shared or other variable.
struct Object {
  std::string name;
  ptx::Space space = ptx::Space::global;
  z3::expr bytes;
  std::uint32_t alignment = 1;
  std::vector<std::uint8_t> constant{};  // its bytes, if nothing changes them
  // The least and the largest of its integers of value_bytes.
  std::optional<std::pair<Integer, Integer>> values{};
  bool are_distinct = false;     // no two of them are equal
  bool are_below_count = false;  // each is below their number
  std::uint32_t value_bytes = 0;
  // The same at the kernel's begin, of an array that it changes.
  std::optional<std::pair<Integer, Integer>> first_values{};
};

struct Value {
  enum class Kind : std::uint8_t {
    other,      // no address or condition follows from it: a float
    integer,    // term
    predicate,  // term
    address,    // of byte `term` of an object
  };
  Kind kind = Kind::other;
  std::optional<z3::expr> term{};
  std::uint32_t object = 0;
  // Other: not 0 if it is a float of which that is known.  Floats that are made in the same way, of
  // equal integers `term`, are the same.
  std::uint32_t made_by = 0;
  // Of an address: what it is otherwise, if the condition does not hold.
  struct Otherwise;
  std::shared_ptr<const Otherwise> otherwise{};

  static Value integer(const z3::expr& term) { return {Kind::integer, term, 0, 0, {}}; }
  static Value predicate(const z3::expr& term) { return {Kind::predicate, term, 0, 0, {}}; }
  static Value address(std::uint32_t object, const z3::expr& offset) {
    return {Kind::address, offset, object, 0, {}};
  }
  static Value number(std::uint32_t made_by, const z3::expr& of) {
    return {Kind::other, of, 0, made_by, {}};
  }
  [[nodiscard]] bool is_integer() const { return kind == Kind::integer; }
  [[nodiscard]] bool is_address() const { return kind == Kind::address; }
  // The value with each of its terms and conditions changed.
  [[nodiscard]] Value mapped(const std::function<z3::expr(const z3::expr&)>& terms,
                             const std::function<z3::expr(const z3::expr&)>& conditions) const;
};
struct Value::Otherwise {
  z3::expr condition;
  Value value;
};

// All of these hold.
using Path = std::vector<z3::expr>;

struct ThreadState {
  Path path;
  std::vector<Value> registers;
};

// Returns the value that is `a` if the condition holds, else `b`.
Value merged(const z3::expr& condition, const Value& a, const Value& b);
// The conjunction of the conditions from `first` on.
z3::expr conjunction(z3::context& context, const Path& path, std::size_t first = 0);
// Where two ways of the same thread meet: the registers are chosen by the first one's condition.
ThreadState merged(z3::context& context, const ThreadState& a, const ThreadState& b);

struct Access {
  std::uint32_t instruction = 0;
  ptx::Space space = ptx::Space::global;
  std::uint32_t object = 0;
  z3::expr offset;  // from the object's begin, bytes
  std::uint32_t bytes = 0, alignment = 0;
  bool writes = false, is_atomic = false;
  bool is_strong = false;    // atomic, volatile, or with an order
  bool is_of_block = false;  // its scope is the block
  bool is_volatile = false;
  Path path;
  std::optional<z3::expr> stored{};  // a single integer that is stored, or that a float is made of
  std::uint32_t stored_made_by = 0;  // as Value::made_by
  std::optional<Integer> step{};     // of an atomic operation: what it adds, if that is a number
  std::optional<z3::expr> before{};  // of such a one: the unknown number that it gives
  std::optional<z3::expr> loaded{};  // of a plain load of a single integer: the unknown number
  std::string place{};               // the walk's name of where it is
};

// Where a thread is if an assertion is false.
struct FailedAssertion {
  std::uint32_t instruction = 0;
  Path path;
};

// An operation that the lanes of a warp have to execute together.
struct WarpStep {
  std::uint32_t instruction = 0;
  Path path;
  std::string place;  // the walk's name of where it is
};

}  // namespace warpcheck::vgpu::symbolic
