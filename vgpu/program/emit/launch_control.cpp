// Cluster launch control (clusterlaunchcontrol; PTX ISA 9.0, 9.7.13.17): a block takes over the
// work of a cluster that has not begun.
//
// The response is opaque to programs.  Here its words are the place of the first block of the
// cluster that will not begin, and 1; all are 0 if there is no such cluster.
#include <array>

#include "vgpu/program/emit/families.hpp"
#include "vgpu/program/emit/matrix_words.hpp"
#include "vgpu/program/emit/steps.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

using Kind = ptx::Operand::Kind;
using ptx::Opcode;
using ptx::Type;

namespace {

constexpr std::uint32_t kResponseBytes = 16, kWordBits = 32;

void emit_request(Emission& e, const ptx::Instruction& in, Instr& out, bool multicast) {
  if (in.operands.size() != 2) e.refuse(in, "another number of operands");
  out.kind = InstrKind::bulk_copy;
  out.modifiers = {};
  out.modifiers.multicast = multicast;
  const Place own{in.modifiers.space};
  out[BulkOperand::target] = address_row(e, in, in.operands[0], own);
  out[BulkOperand::object] = address_row(e, in, in.operands[1], own);
  out[BulkOperand::bytes] = e.constants.word(kResponseBytes);
  out[BulkOperand::rows] = e.frame.temporary(Bank::word);
  for (int more = 0; more < 3; ++more) e.frame.temporary(Bank::word);
  if (multicast) {  // the machine sets them
    out[BulkOperand::blocks] = e.frame.temporary(Bank::word);
    copy_row(e, in, out[BulkOperand::blocks], e.constants.word(0), false);
  }
  out.address_rows = e.frame.temporary(Bank::wide).offset;
  e.frame.temporary(Bank::wide);
  e.push(out);
}

void emit_is_canceled(Emission& e, const ptx::Instruction& in, Instr& out, Ref response) {
  out.kind = InstrKind::compute;
  out.opcode = Opcode::setp_;
  out.modifiers = {};
  out.modifiers.type = Type::u64;
  out.modifiers.compare = ptx::Compare::ge;
  out[CompareOperand::p] = e.destination(in, in.operands[0]);
  out[CompareOperand::a] = row_after(response, 1);
  out[CompareOperand::b] = e.constants.wide(std::uint64_t{1} << kWordBits);
  e.push(out);
}

// Returns a word of the response.
Ref word_of_response(Emission& e, const ptx::Instruction& in, Ref response, std::uint32_t word) {
  Ref half = row_after(response, word / 2);
  if (word % 2 != 0) {
    half = calculate(e, in, Opcode::shr_, Type::u64, {half, e.constants.word(kWordBits)});
  }
  ptx::Modifiers narrow;
  narrow.type = Type::u32;
  narrow.source_type = Type::u64;
  return calculate(e, in, Opcode::cvt_, narrow, {half}, Bank::word);
}

void emit_place(Emission& e, const ptx::Instruction& in, const std::vector<std::string_view>& words,
                Ref response) {
  const ptx::Operand& to = in.operands[0];
  if (to.kind == Kind::vector) {
    if (!has(words, "v4") || to.parts.size() != 4) e.refuse(in, "a vector of another length");
    for (std::uint32_t i = 0; i < 4; ++i) {
      const Ref part = e.destination(in, to.parts[i]);
      if (part.bank != Bank::none)
        copy_row(e, in, part, word_of_response(e, in, response, i), true);
    }
    return;
  }
  constexpr std::array<std::string_view, 3> kPlaces{"get_first_ctaid::x", "get_first_ctaid::y",
                                                    "get_first_ctaid::z"};
  for (std::uint32_t i = 0; i < kPlaces.size(); ++i) {
    if (!has(words, kPlaces[i])) continue;
    return copy_row(e, in, e.destination(in, to), word_of_response(e, in, response, i), true);
  }
  e.refuse(in, "a query of this kind");
}

}  // namespace

void emit_launch_control(Emission& e, const ptx::Instruction& in, Instr& out) {
  const std::vector<std::string_view> words = words_of(in.text);
  if (has(words, "try_cancel")) {
    return emit_request(e, in, out, has(words, "multicast::cluster::all"));
  }
  if (!has(words, "query_cancel") || in.operands.size() != 2) {
    e.refuse(in, "an operation of this kind");
  }
  const Ref response = e.quad(in, in.operands[1]);
  if (has(words, "is_canceled")) return emit_is_canceled(e, in, out, response);
  emit_place(e, in, words, response);
}

}  // namespace warpcheck::vgpu
