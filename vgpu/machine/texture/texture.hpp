// Texture and surface objects as the machine uses them: the memory, and how fetches read it.
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
  std::uint8_t bits = 32;     // per channel: 8, 16 or 32
  std::uint8_t channels = 1;  // 1, 2 or 4
  [[nodiscard]] std::uint32_t bytes() const { return std::uint32_t{bits} / 8 * channels; }
};

// A box of texels inside one allocation.
struct TexelBox {
  Allocation* memory = nullptr;
  std::uint64_t offset = 0;                         // of the first texel, bytes
  std::uint32_t width = 1, height = 1, layers = 1;  // layers, the depth, or faces
  std::uint64_t pitch = 0, slice = 0;               // bytes between rows, and between layers
};

enum class TextureAddress : std::uint8_t { wrap, clamp, mirror, border };

// The shape of an array: how many coordinates it has, without a layer number.
enum class TextureShape : std::uint8_t { linear, line, plane, volume, cube };

struct Texture {
  TexelFormat format;
  TextureShape shape = TextureShape::plane;
  bool layered = false;
  std::vector<TexelBox> levels;
  std::array<TextureAddress, 3> address{};
  bool normalized = false;     // coordinates
  bool scaled = false;         // integers are read as numbers between 0 or -1, and 1
  bool srgb = false;           // for 8-bit channels, except the fourth
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

// The objects behind the handles of textures and surfaces.  A handle is never reused.
//
// CUDA does not define a launch whose object the host destroys before the launch has ended.
// Programs rely on the behaviour of an H100: launches that were requested before can still use the
// object.
class TextureTable {
 public:
  struct Destroyed {};
  using Object = std::variant<Destroyed, Texture, Surface>;

  void add(std::uint64_t handle, Object object) { objects_[handle].object = std::move(object); }
  //   launches: the number of launches requested so far (Launch::asked_as), if some of them
  //             have not ended; nothing: all have ended
  void destroy(std::uint64_t handle, std::optional<std::uint32_t> launches) {
    objects_[handle].launches = launches.value_or(0);
    kept_.push_back(handle);
    if (launches) return;
    for (const std::uint64_t each : std::exchange(kept_, {})) objects_[each].object = Destroyed{};
  }
  // Returns the object for the launch of this number.  Null: there was never such an object.
  [[nodiscard]] const Object* find(std::uint64_t handle, std::uint32_t asked_as) const {
    static constexpr Object kDestroyed;
    const auto found = objects_.find(handle);
    if (found == objects_.end()) return nullptr;
    return asked_as < found->second.launches ? &found->second.object : &kDestroyed;
  }

 private:
  struct Entry {
    Object object;
    // Only launches with a lower number can use it.
    std::uint32_t launches = std::numeric_limits<std::uint32_t>::max();
  };
  std::map<std::uint64_t, Entry> objects_;
  std::vector<std::uint64_t> kept_;  // destroyed before all launches that can use them had ended
};

}  // namespace warpcheck::vgpu
