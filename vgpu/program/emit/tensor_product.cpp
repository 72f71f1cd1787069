// Products of matrices in tensor memory: tcgen05.mma.  Source: PTX ISA 9.0, 9.7.16.10.9.
#include "vgpu/program/emit/tensor_instr.hpp"

namespace warpcheck::vgpu {

using Kind = ptx::Operand::Kind;
using ptx::Type;

namespace {

constexpr std::uint32_t kDisabledWords = 4;  // of each block of the pair

// Where a factor's qualifier says how many there are for a row.
std::uint32_t scale_blocks_of(TensorWords& words, ProductKind kind) {
  if (!is_scaled(kind)) return 0;
  words.require("block_scale");
  if (words.take("scale_vec::1X")) return 1;
  if (words.take("scale_vec::2X")) return 2;
  if (words.take("scale_vec::4X") || words.take("block16")) return 4;
  words.take("block32");
  return kind == ProductKind::mxf8f6f4 ? 1 : 2;
}

// The buffer that holds a matrix between products changes no result.  Returns its use.
std::string_view take_collector(TensorWords& words, bool is_by_columns) {
  for (const std::string_view use : {"fill", "use", "lastuse", "discard"}) {
    if (!is_by_columns && words.take(fmt::format("collector::a::{}", use))) return use;
    for (const char buffer : {'0', '1', '2', '3'}) {
      if (is_by_columns && words.take(fmt::format("collector::b{}::{}", buffer, use))) return use;
    }
  }
  return {};
}

class ProductEmitter {
 public:
  ProductEmitter(Emission& e, const ptx::Instruction& in) : e_(e), in_(in) {}

  void read_operands(TensorMemoryInstr& tensor, bool may_disable) {
    tensor.address = tensor_address(e_, in_, next(), tensor.offset);
    const ptx::Operand& a = next();
    tensor.a_is_here = a.kind == Kind::address;
    tensor.a = tensor.a_is_here ? tensor_address(e_, in_, a, tensor.a_offset)
                                : e_.source(in_, a, Type::b64);
    tensor.b = e_.source(in_, next(), Type::b64);
    if (tensor.is_sparse) {
      tensor.metadata = tensor_address(e_, in_, next(), tensor.metadata_offset);
    }
    tensor.description = e_.source(in_, next(), Type::b32);
    if (is_scaled(tensor.kind)) {
      tensor.scale_a = tensor_address(e_, in_, next(), tensor.scale_a_offset);
      tensor.scale_b = tensor_address(e_, in_, next(), tensor.scale_b_offset);
    } else if (may_disable && is_next(Kind::vector)) {
      read_disabled(tensor, next());
    }
    tensor.adds = e_.source(in_, next(), Type::pred);
    if (at_ == in_.operands.size()) return;
    if (tensor.is_by_columns) {
      tensor.zero_columns = e_.source(in_, next(), Type::b64);
    } else {
      read_scale(tensor, next());
    }
    if (at_ != in_.operands.size()) e_.refuse(in_, "more operands than this form has");
  }

 private:
  [[nodiscard]] bool is_next(Kind kind) const {
    return at_ < in_.operands.size() && in_.operands[at_].kind == kind;
  }
  const ptx::Operand& next() {
    if (at_ == in_.operands.size()) e_.refuse(in_, "an operand is missing");
    return in_.operands[at_++];
  }
  void read_disabled(TensorMemoryInstr& tensor, const ptx::Operand& masks) {
    if (masks.parts.size() != std::size_t{kDisabledWords} * tensor.ctas) {
      e_.refuse(in_, fmt::format("a vector of {} masks of lanes is missing",
                                 kDisabledWords * tensor.ctas));
    }
    for (const ptx::Operand& mask : masks.parts) {
      tensor.disabled.push_back(e_.source(in_, mask, Type::b32));
    }
  }
  // The value is a constant from 0 to 15.
  void read_scale(TensorMemoryInstr& tensor, const ptx::Operand& scale) {
    constexpr std::uint64_t kShiftMax = 15;
    const bool may_scale = tensor.kind == ProductKind::f16 || tensor.kind == ProductKind::tf32;
    if (!may_scale || scale.kind != Kind::immediate || scale.bits > kShiftMax) {
      e_.refuse(in_, "a factor of the accumulator that is no constant from 0 to 15");
    }
    tensor.scale_shift = static_cast<std::uint32_t>(scale.bits);
  }

  Emission& e_;
  const ptx::Instruction& in_;
  std::size_t at_ = 0;
};

}  // namespace

void emit_tensor_product(Emission& e, const ptx::Instruction& in,
                         const std::vector<std::string_view>& text, Instr& out) {
  TensorWords words(e, in, text);
  TensorMemoryInstr tensor{.op = TensorOp::product};
  tensor.is_by_columns = words.take("ws");
  tensor.is_sparse = words.take("sp");
  tensor.ctas = words.take_group();
  tensor.kind = words.choose<ProductKind>("the kind", {{"kind::f16", ProductKind::f16},
                                                       {"kind::tf32", ProductKind::tf32},
                                                       {"kind::f8f6f4", ProductKind::f8f6f4},
                                                       {"kind::i8", ProductKind::i8},
                                                       {"kind::mxf8f6f4", ProductKind::mxf8f6f4},
                                                       {"kind::mxf4", ProductKind::mxf4},
                                                       {"kind::mxf4nvf4", ProductKind::mxf4nvf4}});
  tensor.scale_blocks = scale_blocks_of(words, tensor.kind);
  tensor.shifts_a = words.take("ashift");
  const std::string_view use = take_collector(words, tensor.is_by_columns);
  words.end();
  if (tensor.shifts_a && (use == "use" || use == "fill" || is_scaled(tensor.kind))) {
    e.refuse(in, ".ashift with this kind, or with .collector::a::use or ::fill");
  }
  if (tensor.is_by_columns && (tensor.ctas != 1 || is_scaled(tensor.kind))) {
    e.refuse(in, ".ws with two blocks, or with this kind");
  }
  ProductEmitter(e, in).read_operands(tensor, !tensor.is_by_columns);
  if (tensor.shifts_a && !tensor.a_is_here) e.refuse(in, ".ashift of a matrix in shared memory");
  push_tensor(e, out, std::move(tensor));
}

}  // namespace warpcheck::vgpu
