// Texture and surface objects, as the machine sees them: memory, and how it is looked at.
//
// Source: CUDA C++ Programming Guide, "Texture and Surface Memory" and "Texture Fetching".
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>
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
//
// CUDA does not say what becomes of a launch whose object the host destroys before it has ended.
// Programs rely on what an H100 does: launches that were asked for before still have it.
class TextureTable {
 public:
  struct Destroyed {};
  using Object = std::variant<Destroyed, Texture, Surface>;

  void add(std::uint64_t handle, Object object) { objects_[handle].object = std::move(object); }
  //   launches: the host has asked for so many (Launch::asked_as), some of which have not ended;
  //             nothing: all have
  void destroy(std::uint64_t handle, std::optional<std::uint32_t> launches) {
    objects_[handle].launches = launches.value_or(0);
    kept_.push_back(handle);
    if (launches) return;
    for (const std::uint64_t each : std::exchange(kept_, {})) objects_[each].object = Destroyed{};
  }
  // For the launch of this number.  Null: there has been no such object.
  [[nodiscard]] const Object* find(std::uint64_t handle, std::uint32_t asked_as) const {
    static constexpr Object kDestroyed;
    const auto found = objects_.find(handle);
    if (found == objects_.end()) return nullptr;
    return asked_as < found->second.launches ? &found->second.object : &kDestroyed;
  }

 private:
  struct Entry {
    Object object;
    // Only the first so many launches have it.
    std::uint32_t launches = std::numeric_limits<std::uint32_t>::max();
  };
  std::map<std::uint64_t, Entry> objects_;
  std::vector<std::uint64_t> kept_;  // destroyed before all launches that have them had ended
};

}  // namespace warpcheck::vgpu
