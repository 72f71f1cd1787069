#include "vgpu/check/texture_reads.hpp"

#include <algorithm>
#include <bit>

namespace warpcheck::vgpu {
namespace {

template <typename Visit>
void for_each_lane(std::uint32_t mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(static_cast<unsigned>(std::countr_zero(mask)));
}

bool reads_cached(const TextureInstr& instr) {
  return instr.operation != TextureInstr::Operation::store;
}

}  // namespace

bool TextureReadChecker::watches_accesses_of(const Program& program) const {
  return std::ranges::any_of(program.texture_instrs, reads_cached);
}

void TextureReadChecker::on_sync(const Sync& sync) {
  if (sync.kind == Sync::Kind::kernel_start) ++launch_;
}

void TextureReadChecker::on_access(Access& access) {
  if (access.space != ptx::Space::global) return;
  if (access.kind != AccessKind::read) {
    std::vector<Write>& bytes = written_[access.allocation];
    bytes.resize(access.allocation->bytes);
    return record(access, bytes);
  }
  if (access.program->code[access.pc].kind != InstrKind::texture) return;
  const auto found = written_.find(access.allocation);
  if (found == written_.end()) return;
  for_each_lane(access.mask, [&](unsigned lane) {
    for (std::uint32_t at = 0; at < access.bytes; ++at) {
      const Write& write = found->second[access.offset[lane] + at];
      if (write.launch == launch_) return report(access, lane, write);
    }
  });
}

void TextureReadChecker::record(const Access& access, std::vector<Write>& bytes) {
  for_each_lane(access.mask, [&](unsigned lane) {
    const Write write{launch_, access.pc, thread_of(access.place, lane)};
    std::fill_n(bytes.begin() + access.offset[lane], access.bytes, write);
  });
}

void TextureReadChecker::report(const Access& access, unsigned lane, const Write& write) {
  const Program& program = *access.program;
  reporter_.report({&program, write.pc, access.pc, 0}, [&] {
    Finding finding;
    finding.kind = FindingKind::data_race;
    finding.space = space_name(access.space);
    finding.kernel = kernel_name(program.kernel);
    finding.object = describe_element(access, lane);
    finding.accesses = {
        reporter_.side(role_name(AccessKind::write), program, write.pc, write.who),
        reporter_.side(role_name(access.kind), program, access.pc, thread_of(access.place, lane))};
    finding.message =
        "textures and surfaces need not see what the same launch has written: (2) may read what "
        "was there before (1)";
    return finding;
  });
}

}  // namespace warpcheck::vgpu
