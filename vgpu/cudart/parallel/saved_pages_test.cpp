#include "vgpu/cudart/parallel/saved_pages.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "vgpu/machine/undefined/memory_shadow.hpp"

namespace warpcheck::cudart {
namespace {

using States = std::vector<std::uint8_t>;

// The states of an allocation, some of which are those of a page.
struct Shadow {
  Shadow(std::uint32_t allocation_bytes, std::uint32_t page_offset, const States& states)
      : offset(page_offset), bytes(static_cast<std::uint32_t>(states.size())) {
    shadow.begin(allocation_bytes);
    shadow.make_states();
    shadow.write(offset, bytes, states.data());
  }
  [[nodiscard]] States states() const {
    States found(bytes);
    shadow.read(offset, bytes, found.data());
    return found;
  }
  vgpu::MemoryShadow shadow;
  std::uint32_t offset = 0, bytes = 0;
};

// Keeps a page with these states, changes it, and expects that it can be restored.
void expect_restored(const States& states) {
  const auto bytes = static_cast<std::uint32_t>(states.size());
  const std::uint32_t large = vgpu::MemoryShadow::kSectoredMin + bytes;
  for (const std::uint32_t allocation_bytes : {bytes, large}) {
    std::vector<std::byte> data(bytes);
    for (std::uint32_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(i % 251);
    std::vector<std::byte> changed = data;
    Shadow page(allocation_bytes, allocation_bytes - bytes, states);
    KeptPages kept;
    kept.add(changed.data(), bytes, &page.shadow, page.offset);
    for (std::byte& one : changed) one ^= std::byte{0xff};
    page.shadow.set(page.offset, bytes, 0x83);
    kept.put_back();
    EXPECT_EQ(changed, data);
    EXPECT_EQ(page.states(), states);
  }
}

TEST(KeptPages, RestoreBytesAndStates) {
  expect_restored(States(kParallelPageBytes, 0x80));
  expect_restored(States(10, 0));
  expect_restored({0x87});
  for (const std::size_t differs : {std::size_t{0}, std::size_t{1}, std::size_t{4095}}) {
    States states(kParallelPageBytes, 0x80);
    states[differs] = 1;
    expect_restored(states);
  }
}

// Memory that nobody has written before needs no copy.
TEST(KeptPages, OfOneValueAreNotCopied) {
  std::vector<std::byte> data(kParallelPageBytes, std::byte{3});
  Shadow unwritten(kParallelPageBytes, 0, States(kParallelPageBytes, 0));
  KeptPages kept;
  kept.add(data.data(), kParallelPageBytes, &unwritten.shadow, 0);
  EXPECT_EQ(kept.bytes_copied(), 0u);
  data.assign(kParallelPageBytes, std::byte{4});
  unwritten.shadow.set(0, kParallelPageBytes, 0x81);
  kept.put_back();
  EXPECT_EQ(data, std::vector<std::byte>(kParallelPageBytes, std::byte{3}));
  EXPECT_EQ(unwritten.states(), States(kParallelPageBytes, 0));
  States states(kParallelPageBytes, 0);
  states[7] = 1;
  Shadow mixed(kParallelPageBytes, 0, states);
  KeptPages with_states;
  with_states.add(data.data(), kParallelPageBytes, &mixed.shadow, 0);
  EXPECT_EQ(with_states.bytes_copied(), kParallelPageBytes);
  data.assign(kParallelPageBytes, std::byte{4});
  mixed.shadow.set(0, kParallelPageBytes, 0x81);
  with_states.put_back();
  EXPECT_EQ(data[5], std::byte{3});
  EXPECT_EQ(mixed.states(), states);
}

TEST(KeptPages, RestoreBytesWithoutStates) {
  std::vector<std::byte> data(100, std::byte{1});
  KeptPages kept;
  kept.add(data.data(), 100, nullptr, 0);
  data.assign(100, std::byte{2});
  kept.put_back();
  EXPECT_EQ(data, std::vector<std::byte>(100, std::byte{1}));
}

}  // namespace
}  // namespace warpcheck::cudart
