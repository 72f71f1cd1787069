// What texture and surface instructions are recorded and replayed for: fetches and surface accesses
// of every shape, element type and mode, at coordinates inside, at edges, and far outside.
//
// The same host code and kernels run on a real GPU, where they record, and on the virtual GPU,
// where a test compares.  Nothing here depends on which it is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpcheck::conformance {

struct TextureResult {
  std::string name;  // "tex2d f32x4 normalized wrap linear": unique
  // Interpolated: within an error of the real GPU's; else equal.
  bool is_filtered = false;
  std::vector<std::uint32_t> words;  // four for each fetch
};

// Throws std::runtime_error where a call of the runtime fails.
std::vector<TextureResult> fetch_textures();

}  // namespace warpcheck::conformance
