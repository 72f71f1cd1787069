#include "vgpu/machine/warp/words_ahead.hpp"

#include <algorithm>

#include "vgpu/program/flow/order_sources.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Space;

constexpr std::uint64_t kPrime = 0x0000'0100'0000'01b3u;  // of FNV-1a
// Words of a block's shared memory; addresses of other memory never have the first bit.
constexpr std::uint64_t kSharedWord = std::uint64_t{1} << 63;
constexpr unsigned kBlockShift = 24;

}  // namespace

void WordsAhead::begin_launch() {
  kernel_ = 0xcbf2'9ce4'8422'2325u;
  if (!launch_.strategy().sees_words()) return;
  for (const char letter : launch_.program().kernel) {
    kernel_ = (kernel_ ^ static_cast<unsigned char>(letter)) * kPrime;
  }
  kernel_ = (kernel_ ^ launch_.program().code.size()) * kPrime;
}

const AccessedWords* WordsAhead::of(const RunningFragment& run, std::uint32_t active) {
  const Instr& instr = launch_.program().code[run.pc];
  const bool is_access = instr.kind == InstrKind::load || instr.kind == InstrKind::store ||
                         instr.kind == InstrKind::atomic;
  const Space space = instr.modifiers.space;
  if (!is_access || (space != Space::generic && space != Space::shared && space != Space::global)) {
    return nullptr;
  }
  const Ref& operand = instr[MemoryOperand::address];
  const AddressRow row{row_of(run.banks, operand),
                       operand.bank == Bank::wide || operand.bank == Bank::constant,
                       static_cast<std::uint64_t>(instr.displacement), 0};
  const std::uint32_t bytes = std::min(ptx::bytes_of(instr.modifiers.type) * instr.modifiers.vector,
                                       static_cast<std::uint32_t>(4 * kWordsMax));
  std::size_t count = 0;
  for (std::uint32_t rest = active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    std::uint64_t address = address_of(row, lane);
    std::uint64_t memory = 0;
    const bool in_shared = space == Space::shared ||
                           (space == Space::generic && address - kSharedWindow < kWindowBytes);
    if (in_shared) {
      if (space == Space::generic) address -= kSharedWindow;
      if (address >= kWindowBytes) continue;
      memory = kSharedWord | std::uint64_t{run.slot.block} << kBlockShift;
    } else if (address - kLocalWindow < kWindowBytes || address - kParamWindow < kWindowBytes) {
      continue;
    }
    for (std::uint64_t word = address / 4; word <= (address + bytes - 1) / 4; ++word) {
      if (count == words_.size()) break;
      // the word of the lane before
      if (count != 0 && words_[count - 1] == (word | memory)) continue;
      words_[count] = word | memory;
      lanes_[count++] = static_cast<std::uint8_t>(lane);
    }
  }
  if (count == 0) return nullptr;
  accessed_.site = (kernel_ ^ run.pc) * kPrime | 1;
  accessed_.reads = instr.kind != InstrKind::store;
  accessed_.writes = instr.kind != InstrKind::load;
  accessed_.commutes = reduction_of(instr) && instr[AtomicOperand::old].bank == Bank::none;
  accessed_.phase = run.slot.phase;
  accessed_.words = std::span(words_).first(count);
  accessed_.lanes = std::span(lanes_).first(count);
  return &accessed_;
}

}  // namespace warpcheck::vgpu
