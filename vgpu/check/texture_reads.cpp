#include "vgpu/check/texture_reads.hpp"

#include <algorithm>
#include <bit>

namespace warpcheck::vgpu {
namespace {

constexpr std::uint32_t kWordBytes = 4;

template <typename Visit>
void for_each_lane(std::uint32_t mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(static_cast<unsigned>(std::countr_zero(mask)));
}

bool reads_cached(const TextureInstr& instr) {
  return instr.operation != TextureInstr::Operation::store;
}

}  // namespace

std::unique_ptr<Checker> make_texture_reads_checker(Reporter& reporter) {
  return std::make_unique<TextureReadChecker>(reporter);
}

bool TextureReadChecker::watches_accesses_of(const Program& program) const {
  return std::ranges::any_of(program.texture_instrs, reads_cached);
}

void TextureReadChecker::on_sync(const Sync& sync) {
  if (sync.kind != Sync::Kind::kernel_start) return;
  if (++launch_ != 0) return;
  written_.clear();
  launch_ = 1;
}

void TextureReadChecker::on_access(Access& access) {
  if (access.space != ptx::Space::global) return;
  if (access.kind != AccessKind::read) {
    std::vector<Word>& words = written_[access.allocation];
    words.resize(access.allocation->bytes / kWordBytes + 1);
    return record(access, words);
  }
  if (access.program->code[access.pc].kind != InstrKind::texture) return;
  const auto found = written_.find(access.allocation);
  if (found == written_.end()) return;
  for_each_lane(access.mask, [&](unsigned lane) {
    const std::uint32_t end = access.offset[lane] + access.bytes;
    for (std::uint32_t at = access.offset[lane]; at < end; ++at) {
      const Word& word = found->second[at / kWordBytes];
      const bool is_written = word.launch == launch_ && (word.bytes >> at % kWordBytes & 1) != 0;
      if (is_written) return report(access, lane, word);
    }
  });
}

void TextureReadChecker::record(const Access& access, std::vector<Word>& words) const {
  for_each_lane(access.mask, [&](unsigned lane) {
    const ThreadId who = thread_of(access.place, lane);
    const std::uint32_t end = access.offset[lane] + access.bytes;
    for (std::uint32_t at = access.offset[lane]; at < end; ++at) {
      Word& word = words[at / kWordBytes];
      if (word.launch != launch_) word.bytes = 0;
      word.pc = access.pc;
      word.block = who.block;
      word.launch = launch_;
      word.thread = who.thread & 0xfff;
      word.bytes = (word.bytes | 1u << at % kWordBytes) & 0xf;
    }
  });
}

void TextureReadChecker::report(const Access& access, unsigned lane, const Word& word) {
  const Program& program = *access.program;
  reporter_.report({&program, word.pc, access.pc, 0}, [&] {
    Finding finding;
    finding.kind = FindingKind::data_race;
    finding.space = space_name(access.space);
    finding.kernel = kernel_name(program.kernel);
    finding.object = describe_element(access, lane);
    finding.accesses = {
        reporter_.side(role_name(AccessKind::write), program, word.pc, {word.block, word.thread}),
        reporter_.side(role_name(access.kind), program, access.pc, thread_of(access.place, lane))};
    finding.message =
        "textures and surfaces need not see what the same launch has written: (2) may read what "
        "was there before (1)";
    return finding;
  });
}

}  // namespace warpcheck::vgpu
