// Texture and surface objects, as the machine sees them: memory, and how it is looked at.
//
// Source: CUDA C++ Programming Guide, "Texture and Surface Memory" and "Texture Fetching".
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <variant>
#include <vector>

#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::vgpu {

enum class TexelKind : std::uint8_t { unsigned_integer, signed_integer, floating };

struct TexelFormat {
  TexelKind kind = TexelKind::floating;
  std::uint8_t bits = 32;     // a channel: 8, 16 or 32
  std::uint8_t channels = 1;  // 1, 2 or 4
  [[nodiscard]] std::uint32_t bytes() const { return std::uint32_t{bits} / 8 * channels; }
};

// A box of texels in one allocation.
struct TexelBox {
  Allocation* memory = nullptr;
  std::uint64_t offset = 0;                         // of the first texel, bytes
  std::uint32_t width = 1, height = 1, layers = 1;  // layers: or the depth, or faces
  std::uint64_t pitch = 0, slice = 0;               // bytes between rows, and between layers
};

enum class TextureAddress : std::uint8_t { wrap, clamp, mirror, border };

// How many coordinates an array has, without the number of a layer.
enum class TextureShape : std::uint8_t { linear, line, plane, volume, cube };

struct Texture {
  TexelFormat format;
  TextureShape shape = TextureShape::plane;
  bool layered = false;
  std::vector<TexelBox> levels;
  std::array<TextureAddress, 3> address{};
  bool normalized = false;     // coordinates
  bool scaled = false;         // integers are read as numbers between 0 or -1, and 1
  bool srgb = false;           // of 8-bit channels, but for the fourth
  bool smooth = false;         // linear filter
  bool smooth_levels = false;  // between levels
  float level_bias = 0, level_min = 0, level_max = 0;
  std::array<float, 4> border{};
};

struct Surface {
  TexelFormat format;
  TextureShape shape = TextureShape::plane;
  bool layered = false;
  TexelBox box;
};

// What handles stand for.  A handle is never given out twice.
class TextureTable {
 public:
  struct Destroyed {};
  using Object = std::variant<Destroyed, Texture, Surface>;

  void add(std::uint64_t handle, Object object) { objects_[handle] = std::move(object); }
  void destroy(std::uint64_t handle) { objects_[handle] = Destroyed{}; }
  // Null: there has been no such object.
  [[nodiscard]] const Object* find(std::uint64_t handle) const {
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::uint64_t, Object> objects_;
};

}  // namespace warpcheck::vgpu
