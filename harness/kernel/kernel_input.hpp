// An input of a kernel without host code: the values of its parameters, and a launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "harness/input/launch_config.hpp"
#include "harness/kernel/kernel_description.hpp"

namespace warpcheck {

// The numbers of one column of an array.  A half, or bfloat16, is held as the float of its value;
// a bool as 0 or 1.
using Column =
    std::variant<std::vector<std::int8_t>, std::vector<std::uint8_t>, std::vector<std::int16_t>,
                 std::vector<std::uint16_t>, std::vector<std::int32_t>, std::vector<std::uint32_t>,
                 std::vector<std::int64_t>, std::vector<std::uint64_t>, std::vector<float>,
                 std::vector<double>>;
[[nodiscard]] Column empty_column(ElementType element);
[[nodiscard]] std::size_t size_of(const Column& column);
// New elements are 0.
void resize(Column& column, std::size_t size);

struct KernelInput {
  // One for each scalar: an integer's bits; of a float, the bits of the double of its value.
  std::vector<std::int64_t> integers;
  std::vector<double> floats;               // beside `integers`: the value if the scalar is a float
  std::vector<std::vector<Column>> arrays;  // a column for each of the description
  LaunchConfig launch;
  // Not none: too large to run whole.  The arrays have no contents here: theirs are a function of
  // the place (sparse_contents.hpp).  These blocks run, and those at which indices may be wrong
  // (vgpu/cudart/exec/sampled_launches.hpp).
  std::optional<std::vector<std::uint32_t>> blocks{};
};

// The value of a scalar, blockDim.x ... or gridDim.z.
[[nodiscard]] Expression::Names names_of(const KernelDescription& kernel, const KernelInput& input);

// The length of an array by its expression; nothing: it has no value, or it is below 0 or above
// kElementsMax, or kSparseElementsMax.
inline constexpr std::int64_t kElementsMax = std::int64_t{1} << 26;
inline constexpr std::int64_t kSparseElementsMax = std::int64_t{1} << 40;
[[nodiscard]] std::optional<std::size_t> length_of(const KernelDescription& kernel,
                                                   const ArrayParameter& array,
                                                   const KernelInput& input);
// Gives all arrays the lengths of their expressions, and the launch its fixed extents and shared
// memory.  False: an expression has no value that is possible.
bool fit(const KernelDescription& kernel, KernelInput& input);
// Only the launch.
bool fit_launch(const KernelDescription& kernel, KernelInput& input);

// The bytes of an array as the kernel finds them; padding is 0.
[[nodiscard]] std::vector<std::byte> bytes_of(const ArrayParameter& array,
                                              std::span<const Column> columns);
// Writes a scalar to the kernel's parameter.
void write_scalar(const ScalarParameter& scalar, std::int64_t integer, double number,
                  std::byte* to);

}  // namespace warpcheck
