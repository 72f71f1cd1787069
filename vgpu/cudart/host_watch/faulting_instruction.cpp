#include "vgpu/cudart/host_watch/faulting_instruction.hpp"

#include <algorithm>
#include <cstddef>

#include "vgpu/cudart/host_watch/host_decoder.hpp"

namespace warpcheck::cudart {
namespace {

constexpr std::uint8_t kAccessBytesMax = 64;

bool is_repeated(const cs_x86& detail, unsigned instruction) {
  if (detail.prefix[0] != X86_PREFIX_REP && detail.prefix[0] != X86_PREFIX_REPNE) return false;
  switch (instruction) {
    case X86_INS_MOVSB:
    case X86_INS_MOVSW:
    case X86_INS_MOVSD:
    case X86_INS_MOVSQ:
    case X86_INS_STOSB:
    case X86_INS_STOSW:
    case X86_INS_STOSD:
    case X86_INS_STOSQ:
    case X86_INS_CMPSB:
    case X86_INS_CMPSW:
    case X86_INS_CMPSD:
    case X86_INS_CMPSQ:
    case X86_INS_SCASB:
    case X86_INS_SCASW:
    case X86_INS_SCASD:
    case X86_INS_SCASQ: return true;
    default: return false;
  }
}

}  // namespace

FaultingInstruction decode_faulting(const void* code, bool write) {
  FaultingInstruction result;
  if (host_decoder() == SIZE_MAX) return result;
  cs_insn* decoded = nullptr;
  const auto* const bytes = static_cast<const std::uint8_t*>(code);
  if (::cs_disasm(host_decoder(), bytes, kInstructionBytesMax, 0, 1, &decoded) != 1) return result;
  const cs_x86& detail = decoded->detail->x86;
  const std::uint8_t wanted = write ? CS_AC_WRITE : CS_AC_READ;
  for (std::uint8_t i = 0; i < detail.op_count; ++i) {
    const cs_x86_op& operand = detail.operands[i];
    if (operand.type != X86_OP_MEM) continue;
    const bool is_meant = (operand.access & wanted) != 0 || result.bytes == 1;
    if (is_meant) result.bytes = std::clamp<std::uint8_t>(operand.size, 1, kAccessBytesMax);
    if ((operand.access & wanted) != 0) break;
  }
  result.is_repeated = is_repeated(detail, decoded->id);
  ::cs_free(decoded, 1);
  return result;
}

}  // namespace warpcheck::cudart
