// Separate from the reader, because the replacement of ptxas needs only this part
// (vgpu/cudart/drop_in/ptxas_main.cpp).
#include <cstdint>

#include "vgpu/cudart/code/module_image.hpp"

namespace warpcheck::cudart {
namespace {

void append_u64(std::string& to, std::uint64_t value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

std::string make_module_image(const std::vector<std::string>& texts) {
  std::uint64_t total = kImageMagic.size() + 2 * sizeof(std::uint64_t);
  for (const std::string& text : texts) total += sizeof(std::uint64_t) + text.size();
  std::string image(kImageMagic);
  append_u64(image, total);
  append_u64(image, texts.size());
  for (const std::string& text : texts) {
    append_u64(image, text.size());
    image += text;
  }
  return image;
}

}  // namespace warpcheck::cudart
