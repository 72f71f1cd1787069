// The words of the mnemonics of matrix instructions.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "vgpu/program/matrix.hpp"
#include "vgpu/text/trimmed.hpp"

namespace warpcheck::vgpu {

inline std::vector<std::string_view> words_of(std::string_view mnemonic) {
  return split(mnemonic, '.');
}
bool has(const std::vector<std::string_view>& words, std::string_view wanted);
// "m16n8k16"
std::optional<MatrixShape> shape_of(std::string_view word);
// The types of elements among them, in their order.
std::vector<ptx::Type> types_of(const std::vector<std::string_view>& words);

}  // namespace warpcheck::vgpu
