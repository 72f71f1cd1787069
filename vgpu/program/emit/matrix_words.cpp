#include "vgpu/program/emit/matrix_words.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace warpcheck::vgpu {

using ptx::Type;

bool has(const std::vector<std::string_view>& words, std::string_view wanted) {
  return std::find(words.begin(), words.end(), wanted) != words.end();
}

std::optional<MatrixShape> shape_of(std::string_view word) {
  MatrixShape shape;
  const char* at = word.data();
  const char* const end = at + word.size();
  for (const auto& [letter, size] : {std::pair{'m', &shape.m}, {'n', &shape.n}, {'k', &shape.k}}) {
    if (at == end || *at != letter) return std::nullopt;
    const std::from_chars_result read = std::from_chars(at + 1, end, *size);
    if (read.ec != std::errc()) return std::nullopt;
    at = read.ptr;
  }
  return shape;
}

std::vector<Type> types_of(const std::vector<std::string_view>& words) {
  std::vector<Type> types;
  for (const std::string_view word : words) {
    for (const Type type : {Type::f16, Type::bf16, Type::tf32, Type::f32, Type::f64, Type::s32,
                            Type::s8, Type::u8, Type::s4, Type::u4, Type::b1}) {
      if (ptx::name_of(type) == word) types.push_back(type);
    }
    if (word == "e4m3") types.push_back(Type::e4m3x2);
    if (word == "e5m2") types.push_back(Type::e5m2x2);
    if (word == "e3m2") types.push_back(Type::e3m2x2);
    if (word == "e2m3") types.push_back(Type::e2m3x2);
    if (word == "e2m1") types.push_back(Type::e2m1x2);
  }
  return types;
}

}  // namespace warpcheck::vgpu
