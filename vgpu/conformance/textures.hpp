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

// What is not known to the bit, in units of the result: see docs/conformance.md.
inline constexpr float kLevelError = 0.012F;              // a level of detail from gradients
inline constexpr float kSrgbError = 0.006F;               // the linear filter over sRGB
inline constexpr float kSignedByteError = 1.01F / 32767;  // the linear filter over signed bytes
inline constexpr float kVolumeLevelError = 0.02F;         // linear between levels of a volume

struct TextureResult {
  std::string name;                  // unique: "fetch 2d f32x4 13,7,5 normalized wrap linear"
  float error = 0;                   // 0: equal to the bit
  std::vector<std::uint32_t> words;  // of fetches, four each
};

// Throws std::runtime_error where a call of the runtime fails.
std::vector<TextureResult> fetch_textures();

}  // namespace warpcheck::conformance
