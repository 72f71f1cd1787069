#include "vgpu/conformance/texture_forms.hpp"

namespace warpcheck::conformance {

std::vector<ptx::InstructionForm> forms_of(const std::vector<TextureResult>& results) {
  std::vector<ptx::InstructionForm> forms;
  for (const TextureResult& result : results) {
    ptx::InstructionForm& form = forms.emplace_back();
    form.text = form.mnemonic = result.name;
    form.results = {"u32"};
  }
  return forms;
}

Recorded recorded_of(const TextureResult& result) {
  return {result.name,
          static_cast<std::uint32_t>(result.words.size()),
          {result.words.begin(), result.words.end()}};
}

}  // namespace warpcheck::conformance
