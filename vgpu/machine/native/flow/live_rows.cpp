#include "vgpu/machine/native/flow/live_rows.hpp"

#include <algorithm>

namespace warpcheck::vgpu {
namespace {

// The number of instructions that is_live() examines before it assumes that a value is live.
constexpr std::uint32_t kReach = 256;
// The limit for the sets of all blocks: analysing larger programs would take longer than compiling
// them.
constexpr std::size_t kWordsMax = std::size_t{1} << 18;

}  // namespace

bool overwrites(const Instr& instr) {
  if (instr.guard.bank != Bank::none) return false;
  switch (instr.kind) {
    case InstrKind::compute:
    case InstrKind::special:
    case InstrKind::param:
    case InstrKind::local_address:
    case InstrKind::load: return true;
    default: return false;
  }
}

LiveRows::LiveRows(const Program& program) : flow_(program) {
  is_known_ = flow_.is_known();
  for (std::uint32_t pc = 0; is_known_ && pc < program.code.size(); ++pc) {
    is_known_ = !flow_.is_opaque(pc);
  }
  if (!is_known_) return;
  words_ = flow_.registers() / 64 + 1;
  is_known_ = flow_.graph().blocks().size() * words_ <= kWordsMax;
  if (!is_known_) return;
  find_read_by_others();
  solve();
}

void LiveRows::find_read_by_others() {
  read_by_others_.assign(words_, 0);
  const std::vector<Instr>& code = flow_.program().code;
  for (std::uint32_t pc = 0; pc < code.size(); ++pc) {
    if (code[pc].kind != InstrKind::warp && code[pc].kind != InstrKind::warp_sync) continue;
    for (const std::uint32_t number : flow_.reads(pc)) {
      read_by_others_[number / 64] |= std::uint64_t{1} << (number % 64);
    }
  }
}

void LiveRows::solve() {
  const std::vector<Instr>& code = flow_.program().code;
  const std::size_t blocks = flow_.graph().blocks().size();
  // read before written; written
  std::vector<std::uint64_t> read(blocks * words_), written(blocks * words_);
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::size_t first = block * words_;
    const BlockGraph::Block& range = flow_.graph().blocks()[block];
    for (std::uint32_t pc = range.begin; pc < range.end; ++pc) {
      for (const std::uint32_t number : flow_.reads(pc)) {
        if (!bit(written, first, number)) {
          read[first + number / 64] |= std::uint64_t{1} << (number % 64);
        }
      }
      if (!overwrites(code[pc])) continue;
      for (const std::uint32_t number : flow_.writes(pc)) {
        if (!bit(read, first, number)) {
          written[first + number / 64] |= std::uint64_t{1} << (number % 64);
        }
      }
    }
  }
  live_at_end_.assign(blocks * words_, 0);
  for (bool changes = true; changes;) {
    changes = false;
    for (std::size_t block = blocks; block-- != 0;) {
      for (const std::uint32_t next : flow_.graph().successors(static_cast<std::uint32_t>(block))) {
        for (std::size_t i = 0; i < words_; ++i) {
          const std::size_t at = next * words_ + i;
          const std::uint64_t before = read[at] | (live_at_end_[at] & ~written[at]);
          std::uint64_t& live = live_at_end_[block * words_ + i];
          changes |= (before & ~live) != 0;
          live |= before;
        }
      }
    }
  }
  live_at_begin_.resize(blocks * words_);
  for (std::size_t at = 0; at < live_at_begin_.size(); ++at) {
    live_at_begin_[at] = read[at] | (live_at_end_[at] & ~written[at]);
  }
}

std::vector<std::uint32_t> LiveRows::live_at_begin(Bank bank, std::uint32_t rows) const {
  const std::size_t begin =
      flow_.graph().block_of(flow_.program().functions.front().entry) * words_;
  std::vector<std::uint32_t> live;
  for (std::uint32_t row = 0; row < rows; ++row) {
    const std::uint32_t number = flow_.register_at(bank, row);
    if (number == ptx::kNone) continue;
    if (bit(live_at_begin_, begin, number) || bit(read_by_others_, 0, number)) live.push_back(row);
  }
  return live;
}

bool LiveRows::is_live(std::uint32_t pc, const Ref& ref) const {
  if (!is_known_ || pc >= flow_.program().code.size()) return true;
  return is_live(pc, flow_.register_of(pc, ref));
}

bool LiveRows::is_live(std::uint32_t pc, Bank bank, std::uint32_t row) const {
  if (!is_known_ || pc >= flow_.program().code.size()) return true;
  return is_live(pc, flow_.register_at(bank, row));
}

bool LiveRows::is_live(std::uint32_t pc, std::uint32_t number) const {
  if (number == ptx::kNone || bit(read_by_others_, 0, number)) return true;
  const std::uint32_t block = flow_.graph().block_of(pc);
  // Machine code asks where its blocks begin.
  if (pc == flow_.graph().blocks()[block].begin) return bit(live_at_begin_, block * words_, number);
  const std::uint32_t end = flow_.graph().blocks()[block].end;
  const auto has = [number](std::span<const std::uint32_t> registers) {
    return std::ranges::find(registers, number) != registers.end();
  };
  for (std::uint32_t at = pc; at < end; ++at) {
    if (at - pc == kReach || has(flow_.reads(at))) return true;
    if (overwrites(flow_.program().code[at]) && has(flow_.writes(at))) return false;
  }
  return bit(live_at_end_, block * words_, number);
}

}  // namespace warpcheck::vgpu
