#include "vgpu/cudart/against/difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace warpcheck::cudart {
namespace {

using vgpu::InstrKind;

bool is_shared_or_local(const vgpu::Instr& instr) {
  const ptx::Space space = instr.modifiers.space;
  return space == ptx::Space::shared || space == ptx::Space::local || space == ptx::Space::param;
}

std::uint64_t bits_of(const MemoryImage& image, std::uint64_t offset, std::uint32_t bytes) {
  std::uint64_t bits = 0;
  const std::uint64_t count = std::min<std::uint64_t>(bytes, image.bytes.size() - offset);
  std::memcpy(&bits, &image.bytes[offset], count);
  return bits;
}

// The shape of a floating-point type.
struct Shape {
  std::uint64_t magnitude, infinity;
};
std::optional<Shape> shape_of(ptx::Type type) {
  switch (type) {
    case ptx::Type::f64: return Shape{~std::uint64_t{0} >> 1, 0x7ff0'0000'0000'0000};
    case ptx::Type::f32: return Shape{0x7fff'ffff, 0x7f80'0000};
    case ptx::Type::f16: return Shape{0x7fff, 0x7c00};
    case ptx::Type::bf16: return Shape{0x7fff, 0x7f80};
    default: return {};
  }
}

// Returns the number of values between two floating-point values, both zeros being one.
std::uint64_t distance(std::uint64_t a, std::uint64_t b, const Shape& shape) {
  const std::uint64_t x = a & shape.magnitude, y = b & shape.magnitude;
  const bool same_sign = (a > shape.magnitude) == (b > shape.magnitude);
  return same_sign ? std::max(x, y) - std::min(x, y) : x + y;
}

bool is_nan(std::uint64_t bits, const Shape& shape) {
  return (bits & shape.magnitude) > shape.infinity;
}

double number_of(std::uint64_t bits, ptx::Type type) {
  if (type == ptx::Type::f64) return std::bit_cast<double>(bits);
  if (type == ptx::Type::bf16) bits <<= 16;
  if (type == ptx::Type::f16) {
    const auto exponent = static_cast<int>(bits >> 10 & 31);
    const double fraction = static_cast<double>(bits & 1023) / 1024;
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    if (exponent == 31) return sign * (fraction == 0 ? HUGE_VAL : NAN);
    return sign *
           (exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15));
  }
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

class Comparison {
 public:
  explicit Comparison(const Element& element)
      : element_(element), shape_(shape_of(element.type)), can_measure_(shape_.has_value()) {}

  void compare(const MemoryImage& one, const MemoryImage& other, std::size_t image) {
    for (std::uint64_t at = 0; at < one.bytes.size(); at += element_.bytes) {
      const std::uint64_t a = bits_of(one, at, element_.bytes);
      const std::uint64_t b = bits_of(other, at, element_.bytes);
      if (a == b || (shape_ && is_nan(a, *shape_) && is_nan(b, *shape_))) continue;
      if (found_.count++ == 0) {
        found_.image = image;
        found_.offset = at;
      }
      if (!can_measure_) continue;
      can_measure_ = !is_nan(a, *shape_) && !is_nan(b, *shape_);
      ulps_ = std::max(ulps_, distance(a, b, *shape_));
    }
  }

  [[nodiscard]] std::optional<Difference> result() const {
    if (found_.count == 0) return {};
    Difference found = found_;
    if (can_measure_) found.ulps = ulps_;
    return found;
  }

 private:
  Element element_;
  std::optional<Shape> shape_;
  bool can_measure_;
  std::uint64_t ulps_ = 0;
  Difference found_;
};

}  // namespace

Element element_of(const vgpu::Program& program) {
  std::optional<Element> found;
  for (const vgpu::Instr& instr : program.code) {
    const bool writes = instr.kind == InstrKind::store || instr.kind == InstrKind::atomic;
    if (!writes || is_shared_or_local(instr)) continue;
    const ptx::Type type = instr.modifiers.type;
    const Element one{shape_of(type) ? type : ptx::Type::none, ptx::bytes_of(type)};
    if (!found) found = one;
    if (found->type != one.type) found->type = ptx::Type::none;
    found->bytes = std::min(found->bytes, one.bytes);
  }
  return found.value_or(Element{});
}

std::optional<Difference> find_difference(const std::vector<MemoryImage>& one,
                                          const std::vector<MemoryImage>& other,
                                          const Element& element) {
  Comparison comparison(element);
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (one[i].bytes == other[i].bytes) continue;
    comparison.compare(one[i], other[i], i);
  }
  return comparison.result();
}

std::string value_text(const MemoryImage& image, std::uint64_t offset, const Element& element) {
  const std::uint64_t bits = bits_of(image, offset, element.bytes);
  const std::string hex = fmt::format("0x{:0{}x}", bits, 2 * element.bytes);
  if (!shape_of(element.type)) return hex;
  const double number = number_of(bits, element.type);
  if (element.type == ptx::Type::f64) return fmt::format("{} ({})", number, hex);
  return fmt::format("{} ({})", static_cast<float>(number), hex);
}

}  // namespace warpcheck::cudart
