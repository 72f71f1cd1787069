// The integers that a thread computes, as terms of Z3, and the symbols in them.
//
// A register of w bits is represented by any integer that is congruent to it modulo 2^w.  So sums,
// differences and products need no care for wrap-around; comparisons, divisions, right shifts and
// conversions to more bits need the representative in range, see registers.hpp.
#pragma once

#include <z3++.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "vgpu/ptx/module.hpp"

namespace warpcheck::vgpu::symbolic {

using Integer = __int128;

// Which threads have the same value: all of a launch, those of a block, none.
enum class Level : std::uint8_t { launch, block, thread };

struct Symbol {
  z3::expr term;
  Level level = Level::thread;
  Integer low = 0, high = 0;  // inclusive
  // Not none: the value was read from memory, by this instruction.
  ptx::SourceLocation data{};
  bool is_data = false;
  // Data chooses among numbers that are none: such a symbol may have bounds.
  bool is_chosen = false;
  // Not none: the lanes that execute this instruction, as a mask.
  std::uint32_t active_mask_of = ptx::kNone;
  bool counts_iterations = false;  // of a loop, those that are finished
  bool meets_barriers = false;     // such a loop has one
  // One of these values alone; empty: all of the range.
  std::vector<Integer> domain{};
  // What is true of it and other symbols.
  std::vector<z3::expr> facts{};
  bool is_of_warp = false;  // all lanes of a warp have the same value
  // Not empty: the walk's name of a loop.  Threads have the same value in the same iteration of it.
  std::string same_in{};
  // Not none: the integer at a byte of an array that holds no number twice.
  struct Element {
    std::uint32_t object;
    z3::expr place;      // bytes
    z3::expr is_inside;  // of the array
  };
  std::optional<Element> element{};
};

// That two elements of such an array differ if they are not the same; nothing: they are none.
std::optional<z3::expr> differs_from(const Symbol& one, const Symbol& other);

// Inclusive; absent bounds are infinite.
struct Interval {
  std::optional<Integer> low, high;
};

// Bitwise operations that no sum can express.
enum class BitOp : std::uint8_t { and_, or_, xor_ };

class Symbols {
 public:
  Symbols();
  Symbols(const Symbols&) = delete;

  [[nodiscard]] z3::context& context() { return context_; }
  [[nodiscard]] z3::expr number(Integer value);
  // Declares a symbol, or returns the one of that name with these properties.
  z3::expr symbol(const std::string& name, Level level, Integer low, Integer high);
  z3::expr data(const std::string& name, const ptx::SourceLocation& read_at, Integer low,
                Integer high);
  // A name that no symbol has.
  [[nodiscard]] std::string fresh_name(const std::string& stem);
  [[nodiscard]] Symbol& at(std::size_t index) { return symbols_[index]; }
  [[nodiscard]] Symbol& of(const z3::expr& constant) { return symbols_[index_of(constant)]; }
  [[nodiscard]] std::size_t count() const { return symbols_.size(); }
  [[nodiscard]] std::size_t index_of(const z3::expr& constant) const;

  // The indices of the symbols in a term; ascending.
  const std::vector<std::uint32_t>& in(const z3::expr& term);
  [[nodiscard]] Level level_of(const z3::expr& term);
  [[nodiscard]] const Symbol* data_in(const z3::expr& term);
  Interval interval_of(const z3::expr& term);

  // a op b of `bits` bits, where both are in [0, 2^bits): constant masks become sums.
  z3::expr bitwise(BitOp op, const z3::expr& a, const z3::expr& b, unsigned bits);
  // The name of the function that stands for an operation on two terms, as "and.32".
  [[nodiscard]] std::optional<std::pair<BitOp, unsigned>> bitwise_of(const z3::expr& term) const;

 private:
  z3::expr masked(const z3::expr& a, Integer mask, unsigned bits);

  z3::context context_;
  std::vector<Symbol> symbols_;
  std::unordered_map<std::string, std::uint32_t> by_name_;
  std::unordered_map<unsigned, std::uint32_t> by_declaration_;  // by the id of the term
  std::unordered_map<unsigned, std::vector<std::uint32_t>> in_;
  std::unordered_map<unsigned, Interval> intervals_;
  z3::expr_vector kept_;  // so that ids stay valid
  std::uint32_t fresh_ = 0;
};

[[nodiscard]] std::optional<Integer> number_in(const z3::expr& term);
[[nodiscard]] constexpr Integer power_of_two(unsigned exponent) { return Integer{1} << exponent; }

// p and q, p or q, with what is constant left out.
[[nodiscard]] z3::expr both(const z3::expr& p, const z3::expr& q);
[[nodiscard]] z3::expr either(const z3::expr& p, const z3::expr& q);
[[nodiscard]] z3::expr opposite(const z3::expr& p);
[[nodiscard]] z3::expr choose(const z3::expr& condition, const z3::expr& a, const z3::expr& b);

}  // namespace warpcheck::vgpu::symbolic
