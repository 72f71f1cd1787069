// Fetches textures and accesses surfaces on the virtual GPU, and compares the results with those of
// a real GPU.
#include "vgpu/conformance/textures.hpp"

#include <bit>
#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>

#include "vgpu/conformance/texture_forms.hpp"

namespace warpcheck::conformance {
namespace {

const std::filesystem::path kVectors =
    std::filesystem::path(WARPCHECK_SOURCE_DIR) / "vgpu/conformance/vectors";

bool agrees(std::uint32_t word, std::uint64_t recorded, float error) {
  if (word == recorded || error == 0) return word == recorded;
  const float difference =
      std::bit_cast<float>(word) - std::bit_cast<float>(static_cast<std::uint32_t>(recorded));
  return std::abs(difference) <= error;
}

TEST(Textures, AgreeWithTheRecordedGpu) {
  const std::vector<TextureResult> results = fetch_textures();
  const Recording recording = unpack(read_file(kVectors / kTextureVectors), forms_of(results));
  ASSERT_EQ(results.size(), recording.forms.size());
  std::size_t words = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const TextureResult& result = results[i];
    const Recorded& recorded = recording.forms[i];
    ASSERT_EQ(result.name, recorded.text);
    ASSERT_EQ(result.words.size(), recorded.values.size()) << result.name;
    words += result.words.size();
    for (std::size_t word = 0; word < result.words.size(); ++word) {
      EXPECT_TRUE(agrees(result.words[word], recorded.values[word], result.error))
          << result.name << ", word " << word << ": " << std::hex << result.words[word]
          << ", recorded " << recorded.values[word];
    }
  }
  EXPECT_GT(words, 1'000'000);
}

}  // namespace
}  // namespace warpcheck::conformance
