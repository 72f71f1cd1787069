#include "vgpu/cudart/test_unit.hpp"

#include <cstring>

namespace warpcheck::cudart {
namespace {

template <typename T>
void store(std::vector<std::byte>& image, std::size_t offset, T value) {
  std::memcpy(image.data() + offset, &value, sizeof value);
}

}  // namespace

TestUnit::TestUnit(std::string_view ptx, std::uint16_t kind) {
  constexpr std::size_t kHeader = 16, kEntryHeader = 64;
  const std::size_t payload = (ptx.size() + 1 + 7) / 8 * 8;
  image_.resize(kHeader + kEntryHeader + payload);
  store<std::uint32_t>(image_, 0, 0xBA55ED50);
  store<std::uint16_t>(image_, 4, 1);
  store<std::uint16_t>(image_, 6, kHeader);
  store<std::uint64_t>(image_, 8, kEntryHeader + payload);
  store<std::uint16_t>(image_, kHeader, kind);
  store<std::uint32_t>(image_, kHeader + 4, kEntryHeader);
  store<std::uint64_t>(image_, kHeader + 8, payload);
  store<std::uint32_t>(image_, kHeader + 28, 75);
  std::memcpy(image_.data() + kHeader + kEntryHeader, ptx.data(), ptx.size());
  wrapper_.data = image_.data();
  handle_ = __cudaRegisterFatBinary(&wrapper_);
  __cudaRegisterFatBinaryEnd(handle_);
}

}  // namespace warpcheck::cudart
