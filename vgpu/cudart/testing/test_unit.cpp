#include "vgpu/cudart/testing/test_unit.hpp"

#include <cstring>

namespace warpcheck::cudart {
namespace {

template <typename T>
void store(std::vector<std::byte>& image, std::size_t offset, T value) {
  std::memcpy(image.data() + offset, &value, sizeof value);
}

std::vector<std::byte> fatbinary_of(std::string_view ptx, std::uint16_t kind,
                                    std::uint32_t sm = 75) {
  constexpr std::size_t kHeader = 16, kEntryHeader = 64;
  const std::size_t payload = (ptx.size() + 1 + 7) / 8 * 8;
  std::vector<std::byte> image(kHeader + kEntryHeader + payload);
  store<std::uint32_t>(image, 0, 0xBA55ED50);
  store<std::uint16_t>(image, 4, 1);
  store<std::uint16_t>(image, 6, kHeader);
  store<std::uint64_t>(image, 8, kEntryHeader + payload);
  store<std::uint16_t>(image, kHeader, kind);
  store<std::uint32_t>(image, kHeader + 4, kEntryHeader);
  store<std::uint64_t>(image, kHeader + 8, payload);
  store<std::uint32_t>(image, kHeader + 28, sm);
  std::memcpy(image.data() + kHeader + kEntryHeader, ptx.data(), ptx.size());
  return image;
}

}  // namespace

TestUnit::TestUnit(std::string_view ptx, std::uint16_t kind, std::uint32_t sm)
    : image_(fatbinary_of(ptx, kind, sm)) {
  enroll();
}

TestUnit::TestUnit(const std::vector<std::string_view>& parts,
                   const std::vector<std::uint32_t>& targets)
    : image_(fatbinary_of("", 2)) {
  for (const std::string_view part : parts) {
    const std::size_t at = parts_.size();
    parts_.push_back(fatbinary_of(part, 1, at < targets.size() ? targets[at] : 75));
    list_.push_back(parts_.back().data());
  }
  list_.push_back(nullptr);
  wrapper_.version = 2;
  wrapper_.extra = list_.data();
  enroll();
}

void TestUnit::enroll() {
  wrapper_.data = image_.data();
  handle_ = __cudaRegisterFatBinary(&wrapper_);
  __cudaRegisterFatBinaryEnd(handle_);
}

}  // namespace warpcheck::cudart
