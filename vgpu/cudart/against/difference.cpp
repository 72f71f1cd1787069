#include "vgpu/cudart/against/difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "vgpu/machine/compute/exact.hpp"

namespace warpcheck::cudart {
namespace {

using vgpu::InstrKind;
using vgpu::exact::Format;

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

// Null: no floating-point type.
const Format* float_format_of(ptx::Type type) {
  const bool is_float = type == ptx::Type::f64 || type == ptx::Type::f32 ||
                        type == ptx::Type::f16 || type == ptx::Type::bf16;
  return is_float ? &vgpu::exact::format_of(type) : nullptr;
}

double number_of(const Format& format, std::uint64_t bits) {
  if (format.is_nan(bits)) return std::copysign(NAN, (bits & format.sign()) != 0 ? -1.0 : 1.0);
  const vgpu::exact::Number number = vgpu::exact::unpack(format, bits);
  return std::bit_cast<double>(pack(vgpu::exact::kF64, number, ptx::Rounding::rn));
}

class Comparison {
 public:
  explicit Comparison(const Element& element)
      : element_(element),
        format_(float_format_of(element.type)),
        can_measure_(format_ != nullptr) {}

  void compare(const MemoryImage& one, const MemoryImage& other, std::size_t image) {
    for (std::uint64_t at = 0; at < one.bytes.size(); at += element_.bytes) {
      const std::uint64_t a = bits_of(one, at, element_.bytes);
      const std::uint64_t b = bits_of(other, at, element_.bytes);
      if (a == b || (format_ != nullptr && format_->is_nan(a) && format_->is_nan(b))) continue;
      if (found_.count++ == 0) {
        found_.image = image;
        found_.offset = at;
      }
      if (!can_measure_) continue;
      can_measure_ = !format_->is_nan(a) && !format_->is_nan(b);
      ulps_ = std::max(ulps_, ulps_between(*format_, a, b));
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
  const Format* format_;
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
    const Element one{float_format_of(type) != nullptr ? type : ptx::Type::none,
                      ptx::bytes_of(type)};
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
  const Format* const format = float_format_of(element.type);
  if (format == nullptr) return hex;
  const double number = number_of(*format, bits);
  if (element.type == ptx::Type::f64) return fmt::format("{} ({})", number, hex);
  return fmt::format("{} ({})", static_cast<float>(number), hex);
}

}  // namespace warpcheck::cudart
