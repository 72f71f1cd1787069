// Texture results as the forms of a recording: one column of words each.
#pragma once

#include <vector>

#include "vgpu/conformance/recording.hpp"
#include "vgpu/conformance/textures.hpp"

namespace warpcheck::conformance {

inline constexpr const char* kTextureVectors = "textures.vectors";

std::vector<ptx::InstructionForm> forms_of(const std::vector<TextureResult>& results);
Recorded recorded_of(const TextureResult& result);

}  // namespace warpcheck::conformance
