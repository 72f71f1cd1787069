#include "harness/kernel/kernel_input.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace warpcheck {
namespace {

// The half next to a float towards 0; exact for the value of a half.
std::uint16_t half_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  if (std::isnan(value)) {
    return static_cast<std::uint16_t>(sign | 0x7c00 | std::max(1U, bits >> 13 & 0x3ff));
  }
  const float magnitude = std::fabs(value);
  if (magnitude >= 65536.0F)
    return static_cast<std::uint16_t>(sign | (std::isinf(value) ? 0x7c00 : 0x7bff));
  if (magnitude < 0x1p-14F)
    return static_cast<std::uint16_t>(sign | static_cast<unsigned>(magnitude * 0x1p24F));
  return static_cast<std::uint16_t>(sign | ((bits & 0x7fffffff) - (112U << 23)) >> 13);
}

template <class T>
void store(T value, std::byte* to) {
  std::memcpy(to, &value, sizeof value);
}

template <class T>
void store_as(ElementType element, T value, std::byte* to) {
  if constexpr (std::is_same_v<T, float>) {
    if (element == ElementType::f16) return store(half_of(value), to);
    if (element == ElementType::bf16) {
      return store(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16), to);
    }
  }
  store(value, to);
}

std::optional<std::uint32_t> extent(const std::optional<Expression>& rule, std::uint32_t drawn,
                                    const Expression::Names& names) {
  if (!rule) return drawn;
  const auto value = rule->value(names);
  if (!value || *value < 1 || *value > INT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(*value);
}

bool fit_extents(const std::array<std::optional<Expression>, 3>& rules, Dim3& extents,
                 const Expression::Names& names) {
  const auto x = extent(rules[0], extents.x, names);
  const auto y = extent(rules[1], extents.y, names);
  const auto z = extent(rules[2], extents.z, names);
  if (!x || !y || !z) return false;
  extents = Dim3(*x, *y, *z);
  return true;
}

}  // namespace

Column empty_column(ElementType element) {
  switch (element) {
    case ElementType::i8: return std::vector<std::int8_t>{};
    case ElementType::boolean:
    case ElementType::u8: return std::vector<std::uint8_t>{};
    case ElementType::i16: return std::vector<std::int16_t>{};
    case ElementType::u16: return std::vector<std::uint16_t>{};
    case ElementType::i32: return std::vector<std::int32_t>{};
    case ElementType::u32: return std::vector<std::uint32_t>{};
    case ElementType::i64: return std::vector<std::int64_t>{};
    case ElementType::u64: return std::vector<std::uint64_t>{};
    case ElementType::f64: return std::vector<double>{};
    default: return std::vector<float>{};
  }
}

std::size_t size_of(const Column& column) {
  return std::visit([](const auto& values) { return values.size(); }, column);
}

void resize(Column& column, std::size_t size) {
  std::visit([size](auto& values) { values.resize(size); }, column);
}

Expression::Names names_of(const KernelDescription& kernel, const KernelInput& input) {
  return [&kernel, &input](std::string_view name) -> std::optional<std::int64_t> {
    const LaunchConfig& launch = input.launch;
    if (is_launch_name(name)) {
      const Dim3& extents = name.starts_with("block") ? launch.block : launch.grid;
      return name.back() == 'x' ? extents.x : name.back() == 'y' ? extents.y : extents.z;
    }
    for (std::size_t i = 0; i < kernel.scalars.size(); ++i) {
      if (kernel.scalars[i].name == name && is_integer(kernel.scalars[i].element)) {
        return input.integers[i];
      }
    }
    return std::nullopt;
  };
}

std::optional<std::size_t> length_of(const KernelDescription& kernel, const ArrayParameter& array,
                                     const KernelInput& input) {
  const auto length = array.length.value(names_of(kernel, input));
  const std::int64_t most = input.blocks ? kSparseElementsMax : kElementsMax;
  if (!length || *length < 0 || *length > most) return std::nullopt;
  return static_cast<std::size_t>(*length);
}

bool fit_launch(const KernelDescription& kernel, KernelInput& input) {
  const Expression::Names names = names_of(kernel, input);
  if (!fit_extents(kernel.launch.block, input.launch.block, names)) return false;
  if (!fit_extents(kernel.launch.grid, input.launch.grid, names)) return false;
  const auto shared = kernel.launch.shared_bytes.value(names);
  if (!shared || *shared < 0 || *shared > 1 << 20) return false;
  input.launch.shared_bytes = static_cast<std::uint32_t>(*shared);
  return true;
}

bool fit(const KernelDescription& kernel, KernelInput& input) {
  if (!fit_launch(kernel, input)) return false;
  for (std::size_t i = 0; i < kernel.arrays.size(); ++i) {
    const auto length = length_of(kernel, kernel.arrays[i], input);
    if (!length) return false;
    if (input.blocks) continue;
    for (Column& column : input.arrays[i]) resize(column, *length);
  }
  return true;
}

std::vector<std::byte> bytes_of(const ArrayParameter& array, std::span<const Column> columns) {
  const std::size_t length = columns.empty() ? 0 : size_of(columns.front());
  std::vector<std::byte> bytes(length * array.element_bytes);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const ArrayParameter::Column& column = array.columns[c];
    std::visit(
        [&](const auto& values) {
          std::byte* to = bytes.data() + column.offset;
          for (const auto value : values) {
            store_as(column.element, value, to);
            to += array.element_bytes;
          }
        },
        columns[c]);
  }
  return bytes;
}

void write_scalar(const ScalarParameter& scalar, std::int64_t integer, double number,
                  std::byte* to) {
  if (is_integer(scalar.element)) {
    std::memcpy(to, &integer, bytes_of(scalar.element));  // little-endian
  } else if (scalar.element == ElementType::f64) {
    store(number, to);
  } else {
    store_as(scalar.element, static_cast<float>(number), to);
  }
}

}  // namespace warpcheck
