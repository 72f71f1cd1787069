#include "vgpu/cudart/host_watch/unread_result.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "vgpu/cudart/host_watch/host_decoder.hpp"

namespace warpcheck::cudart {
namespace {

constexpr std::size_t kInstructionsMax = 256;

// Where a path goes on, in which function of the stack.
struct Position {
  std::uint64_t address = 0;
  std::size_t frame = 0;
  friend auto operator<=>(const Position&, const Position&) = default;
};

struct Instruction {
  cs_insn* decoded = nullptr;
  explicit Instruction(std::uint64_t address) {
    const auto* const code = reinterpret_cast<const std::uint8_t*>(address);
    if (::cs_disasm(host_decoder(), code, kInstructionBytesMax, address, 1, &decoded) != 1)
      decoded = nullptr;
  }
  ~Instruction() {
    if (decoded != nullptr) ::cs_free(decoded, 1);
  }
  Instruction(const Instruction&) = delete;
  Instruction& operator=(const Instruction&) = delete;

  [[nodiscard]] bool is(std::uint8_t group) const {
    return ::cs_insn_group(host_decoder(), decoded, group);
  }
  [[nodiscard]] const cs_x86& detail() const { return decoded->detail->x86; }
  [[nodiscard]] std::uint64_t next() const { return decoded->address + decoded->size; }
};

enum class Result { unread_so_far, unread, read };

// What an instruction without a jump does to the result.
Result result_behind(const Instruction& instruction) {
  cs_regs read, written;
  std::uint8_t reads = 0, writes = 0;
  if (::cs_regs_access(host_decoder(), instruction.decoded, read, &reads, written, &writes) !=
      CS_ERR_OK) {
    return Result::read;
  }
  const auto has = [](std::span<const std::uint16_t> all, std::span<const std::uint16_t> some) {
    return std::ranges::find_first_of(all, some) != all.end();
  };
  constexpr std::array<std::uint16_t, 2> kWhole{X86_REG_RAX, X86_REG_EAX};
  constexpr std::array<std::uint16_t, 5> kAny{X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL,
                                              X86_REG_AH};
  const bool overwrites = has({written, writes}, kWhole);
  const cs_x86& detail = instruction.detail();
  const bool is_zero =
      (instruction.decoded->id == X86_INS_XOR || instruction.decoded->id == X86_INS_SUB) &&
      detail.op_count == 2 && detail.operands[0].type == X86_OP_REG &&
      detail.operands[1].type == X86_OP_REG && detail.operands[0].reg == detail.operands[1].reg;
  if (overwrites && is_zero) return Result::unread;
  const bool is_conditional = std::string_view(instruction.decoded->mnemonic).starts_with("cmov");
  if (has({read, reads}, kAny) || (overwrites && is_conditional)) return Result::read;
  return overwrites ? Result::unread : Result::unread_so_far;
}

}  // namespace

// What is not understood counts as a read.
bool is_never_read(const std::vector<const void*>& return_addresses) {
  if (host_decoder() == SIZE_MAX || return_addresses.empty()) return false;
  const auto behind = [&](std::size_t frame) {
    return Position{reinterpret_cast<std::uint64_t>(return_addresses[frame]), frame};
  };
  std::vector<Position> paths{behind(0)};
  std::set<Position> seen;
  while (!paths.empty()) {
    const Position at = paths.back();
    paths.pop_back();
    if (!seen.insert(at).second) continue;
    const Instruction instruction(at.address);
    if (instruction.decoded == nullptr || seen.size() > kInstructionsMax) return false;
    const Result result = result_behind(instruction);
    if (result == Result::read) return false;
    // No function takes an argument in this register.
    if (result == Result::unread || instruction.is(X86_GRP_CALL)) continue;
    if (instruction.is(X86_GRP_INT) || instruction.decoded->id == X86_INS_SYSCALL) return false;
    if (instruction.is(X86_GRP_RET)) {
      if (at.frame + 1 == return_addresses.size()) return false;
      paths.push_back(behind(at.frame + 1));
      continue;
    }
    if (instruction.is(X86_GRP_JUMP)) {
      const cs_x86& detail = instruction.detail();
      if (detail.op_count != 1 || detail.operands[0].type != X86_OP_IMM) return false;
      paths.push_back({static_cast<std::uint64_t>(detail.operands[0].imm), at.frame});
      if (instruction.decoded->id == X86_INS_JMP) continue;
    }
    paths.push_back({instruction.next(), at.frame});
  }
  return true;
}

}  // namespace warpcheck::cudart
