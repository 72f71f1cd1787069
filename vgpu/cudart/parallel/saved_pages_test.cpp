#include "vgpu/cudart/parallel/saved_pages.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace warpcheck::cudart {
namespace {

// Keeps a page with these states, changes it, and expects that it can be restored.
void expect_restored(const std::vector<std::uint8_t>& states) {
  const auto bytes = static_cast<std::uint32_t>(states.size());
  std::vector<std::byte> data(bytes);
  for (std::uint32_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(i % 251);
  std::vector<std::byte> changed = data;
  std::vector<std::uint8_t> changed_states = states;
  KeptPages kept;
  kept.add(changed.data(), changed_states.data(), bytes);
  for (std::byte& one : changed) one ^= std::byte{0xff};
  for (std::uint8_t& one : changed_states) one ^= 0xff;
  kept.put_back();
  EXPECT_EQ(changed, data);
  EXPECT_EQ(changed_states, states);
}

TEST(KeptPages, RestoreBytesAndStates) {
  expect_restored(std::vector<std::uint8_t>(kParallelPageBytes, 0x80));
  expect_restored(std::vector<std::uint8_t>(10, 0));
  expect_restored({7});
  for (const std::size_t differs : {std::size_t{0}, std::size_t{1}, std::size_t{4095}}) {
    std::vector<std::uint8_t> states(kParallelPageBytes, 0x80);
    states[differs] = 1;
    expect_restored(states);
  }
}

// Memory that nobody has written before needs no copy.
TEST(KeptPages, OfOneValueAreNotCopied) {
  std::vector<std::byte> data(kParallelPageBytes, std::byte{3});
  std::vector<std::uint8_t> states(kParallelPageBytes, 0);
  KeptPages kept;
  kept.add(data.data(), states.data(), kParallelPageBytes);
  EXPECT_EQ(kept.bytes_copied(), 0u);
  data.assign(kParallelPageBytes, std::byte{4});
  states.assign(kParallelPageBytes, 9);
  kept.put_back();
  EXPECT_EQ(data, std::vector<std::byte>(kParallelPageBytes, std::byte{3}));
  EXPECT_EQ(states, std::vector<std::uint8_t>(kParallelPageBytes, 0));
  std::vector<std::uint8_t> mixed(kParallelPageBytes, 0);
  mixed[7] = 1;
  KeptPages with_states;
  with_states.add(data.data(), mixed.data(), kParallelPageBytes);
  EXPECT_EQ(with_states.bytes_copied(), kParallelPageBytes);
  data.assign(kParallelPageBytes, std::byte{4});
  mixed.assign(kParallelPageBytes, 9);
  with_states.put_back();
  EXPECT_EQ(data[5], std::byte{3});
  EXPECT_EQ(mixed[6], 0);
  EXPECT_EQ(mixed[7], 1);
}

TEST(KeptPages, RestoreBytesWithoutStates) {
  std::vector<std::byte> data(100, std::byte{1});
  KeptPages kept;
  kept.add(data.data(), nullptr, 100);
  data.assign(100, std::byte{2});
  kept.put_back();
  EXPECT_EQ(data, std::vector<std::byte>(100, std::byte{1}));
}

}  // namespace
}  // namespace warpcheck::cudart
