#include "vgpu/cudart/code/text_kernel.hpp"

#include <utility>

#include "vgpu/cudart/code/registry.hpp"

namespace warpcheck::cudart {

const void* register_kernel_text(BuildTexts texts, std::string_view kernel) {
  return Registry::instance().add_text_kernel(std::move(texts), kernel).host_function;
}

}  // namespace warpcheck::cudart
