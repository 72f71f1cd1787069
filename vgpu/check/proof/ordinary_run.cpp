#include "vgpu/check/proof/ordinary_run.hpp"

#include <algorithm>

#include "vgpu/program/flow/data_uses.hpp"

namespace warpcheck::vgpu {

DataUses::Of DataUses::of(const Program& program) {
  const auto look = [&] {
    return Of{find_data_use(program).pc != ptx::kNone, order_shows_in_times_alone(program)};
  };
  if (program.native == nullptr) return look();
  const auto known = known_.find(program.native);
  return known != known_.end() ? known->second
                               : known_.emplace(program.native, look()).first->second;
}

std::optional<StoredConstant> DataUses::stored_by(const Program& program, std::uint32_t pc) {
  if (program.native == nullptr) return stored_constant(program, pc);
  const auto [known, is_new] = stored_.try_emplace({program.native, pc});
  if (is_new) known->second = stored_constant(program, pc);
  return known->second;
}

void KnownDecisions::add(const ValueDecision& decision, const Obstacle& obstacle) {
  if (decision.code == nullptr || decision.from == ptx::kNone) return;
  of_kernel_.clear();
  all_.push_back({decision, obstacle});
}

void KnownDecisions::begin_run() {
  for (Known& known : all_) known.loads = known.decides = false;
}

void KnownDecisions::begin_kernel(const Program& program) {
  of_kernel_.clear();
  for (Known& known : all_) {
    if (known.decision.code == program.native) of_kernel_.push_back(&known);
  }
}

void KnownDecisions::executes(std::uint32_t pc) {
  for (std::size_t i = 0; i < of_kernel_.size(); ++i) {
    Known& known = *of_kernel_[i];
    known.loads = known.loads || pc == known.decision.from;
    known.decides = known.decides || pc == known.decision.pc;
    // The first of them is told: of the others nothing more need be known.
    if (known.is_again()) of_kernel_.resize(i);
  }
}

const Obstacle* KnownDecisions::again() const {
  const auto found = std::ranges::find_if(all_, &Known::is_again);
  return found == all_.end() ? nullptr : &found->obstacle;
}

void OrdinaryRun::begin() {
  decisions_.begin_run();
  forget();
  obstacles_.clear();
  programs_.clear();
  result_.clear();
  may_be_decided_ = host_has_results_ = false;
  times_alone_ = true;
}

void OrdinaryRun::on_sync(const Sync& sync) {
  HostCalls::on_sync(sync);
  if (sync.kind != Sync::Kind::kernel_start) return;
  decisions_.begin_kernel(*sync.program);
  if (std::ranges::find(programs_, sync.program) == programs_.end())
    programs_.push_back(sync.program);
  const DataUses::Of uses = uses_.of(*sync.program);
  may_be_decided_ =
      may_be_decided_ || host_has_results_ || !sync.unordered_launches.empty() || uses.may_decide;
  times_alone_ = times_alone_ && uses.times_alone;
}

bool OrdinaryRun::is_of_one_constant(const Finding& note) const {
  const bool is_of_launch = note.relation == Relation::lanes || note.relation == Relation::warps ||
                            note.relation == Relation::blocks;
  if (note.kind != FindingKind::data_race || note.severity != Severity::note || !is_of_launch ||
      note.accesses.size() != 2) {
    return false;
  }
  bool is_known = false;
  for (const Program* const program : programs_) {
    if (kernel_name(program->kernel) != note.kernel) continue;
    const auto first = uses_.stored_by(*program, note.accesses[0].instruction);
    if (!first || first != uses_.stored_by(*program, note.accesses[1].instruction)) return false;
    is_known = true;
  }
  return is_known;
}

void OrdinaryRun::on_access(const Access& access) {
  decisions_.executes(access.pc);
  may_be_decided_ = may_be_decided_ ||
                    (access.space != ptx::Space::param && access.allocation->is_shared_with_host());
  if (access.undefined == 0 || !obstacles_.empty()) return;
  obstacles_.push_back(
      obstacle_at(Obstacle::Kind::undefined_value, *access.program, access.pc, ptx::kNone));
}

// All bytes of rows are defined.
void OrdinaryRun::on_rows(const Program& /*program*/, std::span<const RowAccess> rows) {
  for (const RowAccess& row : rows) {
    decisions_.executes(row.pc);
    may_be_decided_ = may_be_decided_ || row.allocation->is_shared_with_host();
  }
}

void OrdinaryRun::on_host_access(const HostAccess& access) {
  HostCalls::on_host_access(access);
  if (access.write || host_has_results_) return;
  host_has_results_ = true;
  const std::byte* const bytes = access.allocation->data + access.offset;
  result_.assign(bytes, bytes + access.bytes);
}

void OrdinaryRun::on_opaque_operation(std::string_view call) {
  HostCalls::on_opaque_operation(call);
  may_be_decided_ = true;
  if (obstacles_.empty()) obstacles_.push_back(opaque_obstacle(call));
}

}  // namespace warpcheck::vgpu
