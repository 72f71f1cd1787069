// What a kernel's source says of its launches and inputs, in comments that compilers ignore:
//
//   // requires: n % 4 == 0, n > 0        conditions
//   // lengths: a = n * m, b = n          elements of arrays
//   // values: n = 1..500, begin = ascending 0..63, index = distinct
//   // launch: blockDim.x == 256, gridDim.x == n / 256
//
// and what GPUVerify reads: `//--blockDim=64 --gridDim=[2,2] --warp-sync=32` in the first lines of
// the file, and __requires(condition) in the kernel.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/kernel/expression.hpp"
#include "harness/kernel/kernel_description.hpp"

namespace warpcheck {

// What an integer, or the elements of an array, may be.
struct Values {
  std::optional<ValueRange> range;  // nothing: any
  ArrayParameter::Order order = ArrayParameter::Order::any;
};

struct Contracts {
  std::vector<Expression> conditions;
  // A condition of GPUVerify, and where: "line 7: __requires(n == 4)".
  struct Aid {
    Expression condition;
    std::string where;
  };
  std::vector<Aid> aids;
  std::vector<std::string> unread;  // those that are no expressions of ours
  bool are_aids_computed = false;   // threads compute both kinds, too, and end where one is false
  std::vector<std::string> unchecked;         // claims of GPUVerify that nothing here checks
  std::vector<std::string> options_left_out;  // of the first lines
  bool has_lockstep_warps = false;            // --warp-sync=32
  bool has_gpuverify_launch = false;          // --blockDim or --gridDim
  std::vector<std::pair<std::string, Expression>> lengths;
  std::vector<std::pair<std::string, Values>> values;
  std::array<std::optional<Expression>, 3> block, grid;
};

// The contracts of one kernel: in the comments before it, from the end of what stands before it,
// and in its body.  kernel: its name without template arguments.  Throws UsageError for a comment
// that cannot be read, with its line.
[[nodiscard]] Contracts contracts_of(std::string_view source, std::string_view kernel);

// Adds them to a description.  Returns a sentence about each condition of GPUVerify that cannot
// choose what is run: it is unread, or names what has no value before the launch (an array's
// element).  Throws UsageError for an unknown name in another one.
std::vector<std::string> apply_contracts(const Contracts& contracts, KernelDescription& kernel);

// "64", "16,16", "[16, 16]" or expressions of scalars: extents; a missing one is 1.  what: the
// option, for errors.  Throws UsageError.
[[nodiscard]] std::array<std::optional<Expression>, 3> extents_of(std::string_view text,
                                                                  std::string_view what);
// "a = n * m".  Throws UsageError.
[[nodiscard]] std::pair<std::string, Expression> length_of_text(std::string_view text,
                                                                std::string_view what);
// "n=0..1000", "n=7", "begin = ascending 0..63", "index = distinct".  Throws UsageError.
[[nodiscard]] std::pair<std::string, Values> values_of_text(std::string_view text,
                                                            std::string_view what);
// The number of the line at an offset, from 1.
[[nodiscard]] std::size_t line_at(std::string_view source, std::size_t at);
// Parts at commas outside parentheses and brackets, without spaces around.
[[nodiscard]] std::vector<std::string> split_at_commas(std::string_view text);

}  // namespace warpcheck
