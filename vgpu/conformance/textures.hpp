// The texture and surface operations that are recorded and replayed: fetches and surface accesses
// of every shape, element type and mode, at coordinates inside, at edges, and far outside.
//
// The same host code and kernels run on a real GPU, which records, and on the virtual GPU, where a
// test compares.  Nothing here depends on which one it is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpcheck::conformance {

// Errors of results that are not reproduced exactly, in units of the result: see
// docs/develop/conformance.md.
inline constexpr float kLevelError = 0.012F;              // a level of detail from gradients
inline constexpr float kSrgbError = 0.006F;               // the linear filter over sRGB
inline constexpr float kSignedByteError = 1.01F / 32767;  // the linear filter over signed bytes
inline constexpr float kVolumeLevelError = 0.02F;         // linear between levels of a volume

struct TextureResult {
  std::string name;                  // unique: "fetch 2d f32x4 13,7,5 normalized wrap linear"
  float error = 0;                   // 0: equal to the bit
  std::vector<std::uint32_t> words;  // for fetches, four per fetch
};

// Throws std::runtime_error if a runtime call fails.
std::vector<TextureResult> fetch_textures();

}  // namespace warpcheck::conformance
