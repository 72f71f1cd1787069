// A parsed litmus test (parser.hpp): threads with their code, locations, and the condition.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace warpcheck::model {

struct Place {
  unsigned line = 0, column = 0;  // from 1
};

// A file is damaged, or no PTX litmus test.  what() begins with "LINE:COLUMN: ".
class LitmusError : public std::runtime_error {
 public:
  LitmusError(Place place, std::string_view message);
};

// PTX ISA 8.6: how memory is accessed.
enum class Proxy : std::uint8_t { generic, texture, surface, constant };
// PTX ISA 8.4: weak, or strong with one of the others; sc is for fences alone.
enum class Order : std::uint8_t { weak, relaxed, acquire, release, acq_rel, sc };
// PTX ISA 8.5, narrow to wide.
enum class Scope : std::uint8_t { cta, cluster, gpu, sys };

// Operators of instructions and of atomic operations (operators.hpp).
enum class Operator : std::uint8_t {
  // clang-format off
  copy, add, sub, mul, div, rem, bit_and, bit_or, bit_xor, shl, shr, min, max, inc, dec, exch, cas,
  eq, ne, lt, le, gt, ge
  // clang-format on
};

// A type suffix; without one, values are 64-bit and signed.
struct ValueType {
  std::uint8_t bits = 64;
  bool is_signed = true;
};

struct Operand {
  enum class Kind : std::uint8_t { none, constant, reg };
  Kind kind = Kind::none;
  std::int64_t value = 0;  // constant
  unsigned reg = 0;        // index in Thread::registers

  static Operand constant(std::int64_t value) { return {Kind::constant, value, 0}; }
  static Operand of_register(unsigned reg) { return {Kind::reg, 0, reg}; }
};

// base + index * scale, in bytes.
struct AddressOperand {
  std::int64_t base = 0, scale = 1;
  Operand index;
};

struct Instruction {
  enum class Kind : std::uint8_t {
    load,
    store,
    atomic,     // atom
    reduction,  // red: returns nothing, and is no read of an acquire pattern (8.8)
    fence,      // fence, membar
    proxy_fence,
    alias_fence,
    barrier_sync,
    barrier_arrive,
    cluster_arrive,
    cluster_wait,
    calculate,
    branch,  // to `target` if a `operation` b
    jump,
  };
  Kind kind = Kind::calculate;
  Place place;
  Proxy proxy = Proxy::generic;  // of the access, or the one of a proxy fence
  Order order = Order::weak;
  Scope scope = Scope::sys;
  Operator operation = Operator::copy;
  ValueType type;
  std::optional<unsigned> destination;  // register
  AddressOperand address;
  // A store's value; an atomic's operands, for cas the compared value and then the stored one;
  // operands; a barrier's identifier.
  Operand a, b;
  Operand arrivals;     // of a barrier: the number of arrivals; absent: by all that use it
  unsigned target = 0;  // index in Thread::code; its size: the end
};

struct Thread {
  unsigned number = 0;  // of P0, P1 ...
  unsigned cta = 0, cluster = 0, gpu = 0;
  Place place;
  std::vector<Instruction> code;
  std::vector<std::string> registers;
  std::vector<std::int64_t> initial;  // values of registers
};

// A piece of memory; names that are aliases share one cell.
struct Cell {
  std::string name;
  std::int64_t initial = 0;
};

// A value that a condition uses.
struct Term {
  enum class Kind : std::uint8_t { constant, reg, cell };
  Kind kind = Kind::constant;
  std::int64_t value = 0;  // constant
  unsigned thread = 0;     // index in Test::threads
  unsigned reg = 0;        // index in Thread::registers
  unsigned cell = 0;       // index in Test::cells
  std::string name;        // as printed: "1:r0", "[x]"
};

struct Condition {
  enum class Kind : std::uint8_t { always, compare, negation, conjunction, disjunction };
  Kind kind = Kind::always;
  Operator operation = Operator::eq;
  Term left, right;
  std::vector<Condition> parts;
};

enum class Quantifier : std::uint8_t { exists, not_exists, forall };

struct Test {
  std::string name;
  std::vector<Thread> threads;
  std::vector<Cell> cells;
  // Virtual addresses and their cells.  Distinct generic aliases have distinct addresses; a
  // surface, texture or constant alias has the address of the location that it aliases.
  std::map<std::int64_t, unsigned> addresses;
  Quantifier quantifier = Quantifier::exists;
  Condition condition, filter;
  std::vector<Term> observed;  // shown in states: registers, then cells
  std::vector<Term> asked;     // the same, then terms of the filter alone
  std::string expectation;     // "Never", "Sometimes", "Always" of "Result: ..."; else empty
  std::vector<std::string> warnings;
};

}  // namespace warpcheck::model
