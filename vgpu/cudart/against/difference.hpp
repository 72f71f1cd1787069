// The first difference between what two devices have left in memory, and how far apart the
// elements are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vgpu/cudart/against/launch_image.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::cudart {

// What a kernel's stores and atomic operations leave in global memory: one type for all, or plain
// bytes of one width.
struct Element {
  ptx::Type type = ptx::Type::none;  // f32, f64 or f16; none: no floating-point type
  std::uint32_t bytes = 4;
};
[[nodiscard]] Element element_of(const vgpu::Program& program);

struct Difference {
  std::size_t image = 0;     // which of the images
  std::uint64_t offset = 0;  // of the first element that differs, in bytes
  std::uint64_t count = 0;   // elements that differ, in all images
  // The largest distance of floating-point elements that differ, in units in the last place;
  // nothing: they have another type, or a NaN stands against a number.
  std::optional<std::uint64_t> ulps;
};
// Returns nothing if all bytes are equal.  NaNs are equal, whatever their payloads.
[[nodiscard]] std::optional<Difference> find_difference(const std::vector<MemoryImage>& one,
                                                        const std::vector<MemoryImage>& other,
                                                        const Element& element);

// "1.5 (0x3fc00000)", "0x0000002a"
[[nodiscard]] std::string value_text(const MemoryImage& image, std::uint64_t offset,
                                     const Element& element);

}  // namespace warpcheck::cudart
