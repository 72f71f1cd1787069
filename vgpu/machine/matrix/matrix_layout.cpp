#include "vgpu/machine/matrix/matrix_layout.hpp"

#include <memory>
#include <tuple>

#include "vgpu/machine/memory/thread_object.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Type;

std::vector<std::uint16_t> places_of(const MatrixProduct& product, MatrixOperand operand,
                                     std::uint32_t columns) {
  const ElementPlaces places(product, operand);
  const bool in_halves = is_in_halves(product, product.type_of(operand));
  std::vector<std::uint16_t> of_elements;
  of_elements.reserve(std::size_t{places.registers()} * kWarpLanes * places.parts());
  for (std::uint32_t reg = 0; reg < places.registers(); ++reg) {
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      for (std::uint32_t part = 0; part < places.parts(); ++part) {
        MatrixPlace at = places.at(lane, reg, part);
        if (in_halves) at = place_of_byte(product, operand, at);
        of_elements.push_back(static_cast<std::uint16_t>(at.row * columns + at.column));
      }
    }
  }
  return of_elements;
}

MatrixLayout new_layout(const MatrixProduct& product) {
  MatrixLayout layout;
  layout.product = product;
  layout.depth = product.sparse ? product.shape.k / 2 : product.shape.k;
  layout.a = places_of(product, MatrixOperand::a, layout.depth);
  layout.b = places_of(product, MatrixOperand::b, product.shape.n);
  layout.c = places_of(product, MatrixOperand::c, product.shape.n);
  layout.d = places_of(product, MatrixOperand::d, product.shape.n);
  return layout;
}

// What product_of() reads.
auto key_of(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  return std::tuple(instr.packed, m.type, m.source_type, m.third_type, m.satfinite, m.rounding,
                    m.bool_op);
}

struct KnownLayout {
  decltype(key_of(Instr{})) key;
  MatrixLayout layout;
};

}  // namespace

const MatrixLayout& layout_of(const Instr& instr) {
  thread_local ThreadObject<std::vector<std::unique_ptr<const KnownLayout>>> known;
  thread_local const KnownLayout* last = nullptr;
  const auto key = key_of(instr);
  if (last != nullptr && last->key == key) return last->layout;
  for (const auto& one : known.value) {
    if (one->key != key) continue;
    last = one.get();
    return last->layout;
  }
  known.value.push_back(std::make_unique<const KnownLayout>(key, new_layout(product_of(instr))));
  last = known.value.back().get();
  return last->layout;
}

bool is_in_halves(const MatrixProduct& product, Type type) {
  const bool is_byte = type == Type::e4m3x2 || type == Type::e5m2x2;
  return is_byte && !product.of_group && !product.in_bytes;
}

MatrixPlace place_of_byte(const MatrixProduct& product, MatrixOperand operand, MatrixPlace at) {
  std::uint32_t& k = operand == MatrixOperand::a ? at.column : at.row;
  const bool is_packed = product.sparse && operand == MatrixOperand::a;
  const std::uint32_t half = product.shape.k / (is_packed ? 4 : 2);
  k = k / 4 * 2 + k % 2 + (k % 4 < 2 ? 0 : half);
  return at;
}

}  // namespace warpcheck::vgpu
