// A kernel without host code: its PTX, its parameters, and what is assumed of its launches.
//
// The parameters are flattened: each number, also of a struct that is passed by value, is a scalar,
// and each pointer an array.  Names are those of the source: "n", "image.width".
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/input/json_values.hpp"
#include "harness/kernel/expression.hpp"

namespace warpcheck {

enum class ElementType : std::uint8_t {
  boolean,
  i8,
  u8,
  i16,
  u16,
  i32,
  u32,
  i64,
  u64,
  f16,
  bf16,
  f32,
  f64
};
inline constexpr std::array<std::pair<ElementType, std::string_view>, 13> kElementNames{{
    {ElementType::boolean, "bool"},
    {ElementType::i8, "int8"},
    {ElementType::u8, "uint8"},
    {ElementType::i16, "int16"},
    {ElementType::u16, "uint16"},
    {ElementType::i32, "int32"},
    {ElementType::u32, "uint32"},
    {ElementType::i64, "int64"},
    {ElementType::u64, "uint64"},
    {ElementType::f16, "half"},
    {ElementType::bf16, "bfloat16"},
    {ElementType::f32, "float"},
    {ElementType::f64, "double"},
}};
std::string_view name_of(ElementType element);
[[nodiscard]] std::uint32_t bytes_of(ElementType element);
[[nodiscard]] bool is_integer(ElementType element);  // and bool

// Inclusive.
struct ValueRange {
  std::int64_t low = 0, high = 0;
  friend bool operator==(const ValueRange&, const ValueRange&) = default;
};
// All values of an integer type, as far as 64 signed bits hold them.
[[nodiscard]] ValueRange range_of(ElementType element);

// Where a value is in the kernel's parameters.
struct ParameterPlace {
  std::uint32_t parameter = 0;  // by its number in the kernel's list
  std::uint32_t offset = 0;     // bytes
};

struct ScalarParameter {
  std::string name;
  ElementType element = ElementType::i32;
  ParameterPlace place;
  ValueRange range;  // integers
};

struct ArrayParameter {
  // A number in each element: the element itself, or a member of a struct or vector.
  struct Column {
    std::string name;  // "", "x", "position.x"
    ElementType element = ElementType::i32;
    std::uint32_t offset = 0;  // bytes in the element
  };
  std::string name;
  std::string type;  // of an element, as C++ writes it
  ParameterPlace place;
  std::uint32_t element_bytes = 4;
  bool is_constant = false;  // const T*
  std::vector<Column> columns;
  Expression length = Expression::number(0);  // elements
  // Nobody knows where it ends: zeros follow the elements of its length, several times as many.
  bool is_open = false;
  // Of integers, or of floats that are used as integers; nothing: any.
  std::optional<ValueRange> values;
  // ascending: offsets of rows; distinct: no value twice, and without a range a permutation of the
  // numbers below the length.
  enum class Order : std::uint8_t { any, ascending, distinct };
  Order order = Order::any;
};

inline constexpr std::array<std::pair<ArrayParameter::Order, std::string_view>, 3> kOrderNames{{
    {ArrayParameter::Order::any, "any"},
    {ArrayParameter::Order::ascending, "ascending"},
    {ArrayParameter::Order::distinct, "distinct"},
}};

struct LaunchRule {
  // Extents x, y, z: an expression of the scalars, and for the grid of blockDim; nothing: drawn.
  std::array<std::optional<Expression>, 3> block, grid;
  int grid_dims = 1, block_dims = 1;  // of drawn extents; 0: there is only one
  // By axis: a drawn grid has up to a block for each number, else a thread for each.  Cases, which
  // have their grid, do not hold it.
  std::array<bool, 3> has_block_for_each{};
  Expression shared_bytes = Expression::number(0);  // of dynamic shared memory
};

struct KernelDescription {
  std::string name{};                      // "scan<int, 256>"
  std::string mangled{};                   // in the PTX
  std::string file{};                      // as the user names it
  std::string optimized{}, unoptimized{};  // PTX; one of them may be empty
  std::vector<std::uint32_t> parameter_bytes{};
  std::vector<ScalarParameter> scalars{};
  std::vector<ArrayParameter> arrays{};
  std::vector<Expression> conditions{};  // of scalars and launches: nothing else is run
  LaunchRule launch{};
};

// The scalars, lengths and launches of text options may use these names beside the scalars'.
[[nodiscard]] bool is_launch_name(std::string_view name);  // "blockDim.x", "gridDim.z"

// The description as a case file holds it.  unoptimized: which PTX it contains.
[[nodiscard]] Json description_json(const KernelDescription& kernel, bool unoptimized);
// Throws FieldError.
[[nodiscard]] KernelDescription read_description(const Json& json, const FieldPath& path);

}  // namespace warpcheck
