// Products of matrices (mma, wmma, wgmma): each element of the result is c plus a sum of products,
// in the order of k, as consecutive fma operations of the domain.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "vgpu/check/shadow/shadow_registers.hpp"
#include "vgpu/machine/matrix/matrix_elements.hpp"
#include "vgpu/program/matrix.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

// The shadows of a product's results, until the machine has performed it.
template <class Value>
struct ShadowProduct {
  struct Result {
    Bank bank = Bank::word;
    std::uint64_t at = 0;
    std::uint32_t bytes = 0;
    unsigned lane = 0;
    ShadowReading<Value> value;
  };
  std::vector<Result> results;

  void give(ShadowRegisters<Value>& registers, std::uint32_t lanes) {
    for (const Result& one : results) {
      if ((lanes >> one.lane & 1u) == 0) continue;
      ShadowCells<Value>& cells = registers.cells({one.bank, 0});
      switch (one.value.state) {
        case ShadowState::plain: cells.make_plain(one.at, one.bytes); break;
        case ShadowState::lost: cells.lose(one.at, one.bytes, one.value.site); break;
        case ShadowState::value: cells.set(one.at, one.bytes, one.value.value); break;
      }
    }
  }
};

// Returns whether the elements of a product are followed one by one.  Single bytes have no shadows,
// so products of 8-bit floats are followed where their bits count as exact; their sums have fewer
// bits than a bound of roundings would allow.
template <class Domain>
bool has_shadow_product(const MatrixProduct& product) {
  const auto is_followed = [](ptx::Type type) {
    return type == ptx::Type::f16 || type == ptx::Type::bf16 || type == ptx::Type::tf32 ||
           type == ptx::Type::f32 || type == ptx::Type::f64 ||
           (Domain::kTrustsBits && (type == ptx::Type::e4m3x2 || type == ptx::Type::e5m2x2));
  };
  return is_followed(product.a) && is_followed(product.b) && is_followed(product.c) &&
         is_followed(product.d) && !product.sparse && product.blocks == 0;
}

// The type that a domain knows an element by: those that it has no rule for are singles in a
// register, or are read as such.
constexpr ptx::Type shadow_type_of(ptx::Type type) {
  return type == ptx::Type::tf32 || is_byte_float(type) ? ptx::Type::f32 : type;
}
inline std::uint64_t shadow_bits_of(std::uint64_t bits, ptx::Type type) {
  if (!is_byte_float(type)) return bits;
  const double value = matrix_element(type, static_cast<std::uint32_t>(bits)).value;
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

template <class Value>
struct ShadowElement {
  std::optional<ShadowOperand<Value>> operand;  // nothing: it is lost
  std::uint32_t site = 0;
};

// Reads a matrix, by rows of `columns` elements.
template <class Domain>
std::vector<ShadowElement<typename Domain::Value>> shadow_matrix(
    Domain& domain, const ShadowFrame& frame, const Instr& instr,
    ShadowRegisters<typename Domain::Value>& registers, MatrixOperand operand, std::uint32_t rows,
    std::uint32_t columns, std::uint32_t site) {
  using Value = typename Domain::Value;
  const MatrixProduct product = product_of(instr);
  const ElementPlaces places(product, operand);
  const ptx::Type type = product.type_of(operand);
  const std::uint32_t bytes = element_bits(type) / 8;
  std::vector<ShadowElement<Value>> elements(std::size_t{rows} * columns);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    for (std::uint32_t reg = 0; reg < places.registers(); ++reg) {
      const Ref ref = row_after(instr[operand], reg);
      for (std::uint32_t part = 0; part < places.parts(); ++part) {
        const MatrixPlace at = places.at(lane, reg, part);
        ShadowReading<Value> reading = registers.read(frame, ref, lane, part * bytes, bytes, site);
        if (reading.state == ShadowState::value && !is_of_type<Domain>(reading.value, type))
          reading = {ShadowState::lost, {}, site};
        if (reading.state == ShadowState::lost && Domain::kTrustsBits) reading = {};
        const std::uint64_t bits =
            shadow_bits_of(frame.bits_of(ref, lane, part * bytes, bytes), type);
        ShadowElement<Value>& element = elements[std::size_t{at.row} * columns + at.column];
        std::optional<Value> value = reading.value;
        if (reading.state == ShadowState::plain) {
          value = domain.constant(bits, shadow_type_of(type));
        }
        if (value && reading.state != ShadowState::lost) {
          element.operand = {reading.state == ShadowState::plain, *value, bits};
        }
        element.site = reading.state == ShadowState::lost ? reading.site : site;
      }
    }
  }
  return elements;
}

// Calculates the shadows of a product.  Products are .aligned, so all lanes are there.
template <class Domain, class Here>
ShadowProduct<typename Domain::Value> shadow_product(
    Domain& domain, const ShadowFrame& frame, const Instr& instr,
    ShadowRegisters<typename Domain::Value>& registers, std::uint32_t active, std::uint32_t site,
    Here here) {
  using Value = typename Domain::Value;
  using Element = ShadowElement<Value>;
  const MatrixProduct product = product_of(instr);
  const std::uint32_t m = product.shape.m, n = product.shape.n, k = product.shape.k;
  ShadowProduct<Value> results;
  const ElementPlaces places(product, MatrixOperand::d);
  const bool is_followed = active == ~0u && has_shadow_product<Domain>(product);
  std::vector<Element> a, b, c;
  if (is_followed) {
    a = shadow_matrix(domain, frame, instr, registers, MatrixOperand::a, m, k, site);
    b = shadow_matrix(domain, frame, instr, registers, MatrixOperand::b, k, n, site);
    c = shadow_matrix(domain, frame, instr, registers, MatrixOperand::c, m, n, site);
  }
  const ShadowOperation fma{ptx::Opcode::fma_, &instr.modifiers, shadow_type_of(product.a),
                            product.d};
  const auto sum_at = [&](const MatrixPlace& at, unsigned lane) -> ShadowReading<Value> {
    if (!is_followed) return {ShadowState::lost, {}, site};
    Element sum = c[std::size_t{at.row} * n + at.column];
    bool is_plain = sum.operand && sum.operand->is_plain;
    for (std::uint32_t step = 0; step < k; ++step) {
      const Element& x = a[std::size_t{at.row} * k + step];
      const Element& y = b[std::size_t{step} * n + at.column];
      if (!x.operand || !y.operand || !sum.operand) {
        return {ShadowState::lost, {}, !x.operand ? x.site : !y.operand ? y.site : sum.site};
      }
      is_plain = is_plain && x.operand->is_plain && y.operand->is_plain;
      const std::array<ShadowOperand<Value>, 3> operands{*x.operand, *y.operand, *sum.operand};
      const std::optional<Value> value = domain.apply(here(lane), fma, operands, nullptr);
      sum = {
          .operand = value ? std::optional<ShadowOperand<Value>>({false, *value, 0}) : std::nullopt,
          .site = site};
    }
    if (is_plain && !Domain::lifts(fma)) return {};
    if (!sum.operand) return {ShadowState::lost, {}, sum.site};
    return {ShadowState::value, sum.operand->value, ptx::kNone};
  };
  const std::uint32_t bytes = is_followed ? ptx::bytes_of(product.d) : 4;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    for (std::uint32_t reg = 0; reg < places.registers(); ++reg) {
      const Ref ref = row_after(instr[MatrixOperand::d], reg);
      for (std::uint32_t part = 0; part < places.parts(); ++part) {
        const std::uint64_t at = frame.byte_of(ref, lane) + std::uint64_t{part} * bytes;
        results.results.push_back(
            {ref.bank, at, bytes, lane, sum_at(places.at(lane, reg, part), lane)});
      }
    }
  }
  return results;
}

}  // namespace warpcheck::vgpu
