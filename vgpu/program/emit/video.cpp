// Decodes the operands of video instructions: selectors, masks and signs.
// PTX ISA 9.0, 9.7.18, 9.7.19.
#include <optional>
#include <string_view>

#include "vgpu/program/emit/families.hpp"
#include "vgpu/program/video.hpp"

namespace warpcheck::vgpu {

using ptx::Type;

namespace {

using BitField = VideoOperands::BitField;

// "b3", "h1", or nothing.
std::optional<BitField> part_named(std::string_view selector) {
  if (selector.empty()) return BitField{};
  if (selector.size() != 2) return std::nullopt;
  const unsigned index = static_cast<unsigned>(selector[1]) - '0';
  if (selector[0] == 'b' && index < 4) return BitField{static_cast<std::uint8_t>(8 * index), 8};
  if (selector[0] == 'h' && index < 2) return BitField{static_cast<std::uint8_t>(16 * index), 16};
  return std::nullopt;
}

// Decodes "h21", "b7654", the highest element first; an empty selector means `elements` neighbours
// from `first` on.
std::optional<std::array<std::uint8_t, 4>> elements_named(std::string_view selector,
                                                          unsigned elements, unsigned first) {
  std::array<std::uint8_t, 4> of{};
  for (unsigned i = 0; i < elements; ++i) of[i] = static_cast<std::uint8_t>(first + i);
  if (selector.empty()) return of;
  if (selector.size() != elements + 1 || selector[0] != (elements == 2 ? 'h' : 'b')) {
    return std::nullopt;
  }
  for (unsigned i = 0; i < elements; ++i) {
    const unsigned index = static_cast<unsigned>(selector[elements - i]) - '0';
    if (index >= 2 * elements) return std::nullopt;
    of[i] = static_cast<std::uint8_t>(index);
  }
  return of;
}

// Decodes "h10", "b320": the written elements; an empty mask means all.
std::optional<std::uint8_t> mask_named(std::string_view mask, unsigned elements) {
  if (mask.empty()) return static_cast<std::uint8_t>((1u << elements) - 1);
  if (mask.size() < 2 || mask[0] != (elements == 2 ? 'h' : 'b')) return std::nullopt;
  std::uint8_t written = 0;
  for (const char digit : mask.substr(1)) {
    const unsigned index = static_cast<unsigned>(digit) - '0';
    if (index >= elements) return std::nullopt;
    written = static_cast<std::uint8_t>(written | 1u << index);
  }
  return written;
}

bool has_suffix(std::string_view mnemonic, std::string_view suffix) {
  const std::size_t at = mnemonic.find(suffix);
  return at != std::string_view::npos &&
         (at + suffix.size() == mnemonic.size() || mnemonic[at + suffix.size()] == '.');
}

}  // namespace

void emit_video(Emission& e, const ptx::Instruction& in, Instr& out) {
  const std::size_t count = in.operands.size();
  if (count < 3 || count > 4) e.refuse(in, "expected three or four operands");
  const ptx::Operand &d = in.operands[0], &a = in.operands[1], &b = in.operands[2];
  VideoOperands selected;
  const unsigned elements = video_elements(in.opcode);
  if (elements == 1) {
    const auto of_d = part_named(d.name), of_a = part_named(a.name), of_b = part_named(b.name);
    if (!of_d || !of_a || !of_b) e.refuse(in, "a selector other than .b0 - .b3, .h0, .h1");
    // In these cases GPUs deviate from the ISA.
    if (*of_d != BitField{} && (in.modifiers.sat || d.name == "h1")) {
      e.refuse(in, "a result that is merged into c by .sat or .h1");
    }
    selected.d = *of_d;
    selected.a = *of_a;
    selected.b = *of_b;
  } else {
    const auto of_a = elements_named(a.name, elements, 0);
    const auto of_b = elements_named(b.name, elements, elements);
    const auto mask = mask_named(d.name, elements);
    if (!of_a || !of_b || !mask) e.refuse(in, "a selector or mask of another kind");
    selected.of_a = *of_a;
    selected.of_b = *of_b;
    selected.mask = *mask;
  }
  if (count > 3 && !in.operands[3].name.empty()) e.refuse(in, "a selector of c");
  selected.negated_a = a.negated;
  selected.negated_b = b.negated;
  selected.negated_c = count > 3 && in.operands[3].negated;
  if (selected.negated_c && selected.negated_a != selected.negated_b) {
    e.refuse(in, "both the product and c are negated");
  }
  selected.plus_one = has_suffix(in.text, ".po");
  selected.scale = has_suffix(in.text, ".shr7") ? 7 : has_suffix(in.text, ".shr15") ? 15 : 0;
  out.kind = InstrKind::compute;
  out.packed = encoded(selected);
  out[ComputeOperand::d] = e.destination(in, d);
  for (std::size_t i = 1; i < count; ++i) {
    ptx::Operand plain = in.operands[i];
    plain.negated = false;
    out[ComputeOperand::d + i] = e.source(in, plain, Type::u32);
  }
  e.push(out);
}

}  // namespace warpcheck::vgpu
