#include "vgpu/check/counters/memory_counters.hpp"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "vgpu/check/reporter.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {
namespace {

// Whether the instruction moves a half of the rows of a transposed ldmatrix or stmatrix.
bool moves_half_of_matrix(const Program& program, std::uint32_t pc) {
  const Instr& instr = program.code[pc];
  const bool moves = instr.kind == InstrKind::load || instr.kind == InstrKind::store;
  if (!moves || ptx::bytes_of(instr.modifiers.type) != 2) return false;
  const std::string& text = program.source_of(pc).text;
  return text.starts_with("ldmatrix") || text.starts_with("stmatrix");
}

bool is_counted(ptx::Space space) {
  return space == ptx::Space::global || space == ptx::Space::shared || space == ptx::Space::local;
}

}  // namespace

void merge(std::vector<CountedInstr>& into, const std::vector<CountedInstr>& more) {
  const auto key = [](const CountedInstr& one) {
    return std::tie(one.kernel, one.place, one.file, one.line, one.ptx);
  };
  std::map<decltype(key(into.front())), std::size_t> known;
  into.reserve(into.size() + more.size());  // so that the keys stay valid
  for (std::size_t i = 0; i < into.size(); ++i) known.emplace(key(into[i]), i);
  for (const CountedInstr& one : more) {
    const auto found = known.find(key(one));
    if (found != known.end()) {
      into[found->second].counts.add(one.counts);
      continue;
    }
    into.push_back(one);
    known.emplace(key(into.back()), into.size() - 1);
  }
}

void MemoryCounters::on_sync(const Sync& sync) {
  if (sync.kind != Sync::Kind::kernel_start) return;
  last_ = sync.program;  // which may be another one at the same address
  last_counters_ = begin(*last_).counters.data();
}

MemoryCounters::OfProgram& MemoryCounters::begin(const Program& program) {
  OfProgram& known = programs_[&program];
  if (!known.counters.empty() && known.tier == program.native) return known;
  if (!known.counters.empty()) merge(earlier_, known.counts());
  known = {.tier = program.native, .kernel = program.kernel, .counters = {}, .places = {}};
  known.counters.resize(program.code.size() + 1);  // a run may end behind the last one
  std::uint32_t halves = 0;
  for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
    const Instr& instr = program.code[pc];
    known.counters[pc].is_counted = instr.kind != InstrKind::texture;
    if (moves_half_of_matrix(program, pc)) {
      known.counters[pc].half = halves++ % 2 == 0 ? Counter::Half::even : Counter::Half::odd;
    }
    if (pc != 0 && instr.source == program.code[pc - 1].source) {
      known.places.back().end = pc + 1;
      continue;
    }
    AccessSide side = side_at("", {.program = &program, .pc = pc});
    known.places.push_back({pc, pc + 1, std::move(side.file), std::move(side.ptx), side.line});
  }
  return known;
}

// Of the halves of a matrix, the second one is counted: as the words of all rows, which a GPU moves
// together.
bool MemoryCounters::has_whole_matrix(const Counter& counter, AccessedLanes& lanes) {
  // Lanes 8 i + 4 ... have the other half of the words of lanes 8 i ...
  const bool is_odd = counter.half == Counter::Half::odd;
  std::uint32_t at = is_odd ? kWarpLanes / 2 : 0;
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    if (lane / 4 % 2 == 0) matrix_[at++] = lanes.offset_of(lane);
  }
  lanes.mask = ~0u;
  lanes.bytes = 4;
  lanes.pattern = Pattern::scattered;
  lanes.offsets = matrix_.data();
  return is_odd;
}

inline void MemoryCounters::Cost::add_to(MemoryCounts& counts, std::uint64_t times) const {
  if (space == ptx::Space::local) {
    counts.local_sectors += times * moved.moved;
    counts.local_bytes += times * bytes;
    return;
  }
  const bool is_shared = space == ptx::Space::shared;
  (is_shared ? counts.shared_requests : counts.requests) += times;
  (is_shared ? counts.wavefronts : counts.sectors) += times * moved.moved;
  (is_shared ? counts.ideal_wavefronts : counts.ideal_sectors) += times * moved.ideal;
  counts.contended += times * contended;
}

MemoryCounts MemoryCounters::Counter::all() const {
  MemoryCounts sum = counts;
  if (repeated != nullptr) repeated->cost.add_to(sum, repeated->times);
  return sum;
}

inline MemoryCounters::Cost MemoryCounters::cost_of(const AccessedLanes& lanes, ptx::Space space,
                                                    AccessKind kind) {
  const std::uint32_t active =
      lanes.mask == ~0u ? kWarpLanes : static_cast<std::uint32_t>(std::popcount(lanes.mask));
  Cost cost{.space = space, .moved = {}, .bytes = active * lanes.bytes};
  cost.moved = space == ptx::Space::shared ? costs_.wavefronts(lanes, kind) : costs_.sectors(lanes);
  // The one wavefront of all lanes' words holds no word twice.
  const bool is_one =
      space == ptx::Space::shared && lanes.bytes <= kBankBytes && cost.moved.moved == 1;
  if (kind == AccessKind::atomic && !is_one) cost.contended = active - costs_.places(lanes);
  return cost;
}

// Scattered lanes are compared with later ones only if they may lie as those before them did: data
// mostly has every row somewhere else.
bool MemoryCounters::may_repeat(Counter& counter, const AccessedLanes& lanes) {
  if (lanes.mask != ~0u || counter.half != Counter::Half::none) return false;
  if (lanes.pattern != Pattern::scattered) return true;
  const std::uint32_t span = lanes.offsets[kWarpLanes - 1] - lanes.offsets[0];
  return span == std::exchange(counter.span, span);
}

inline void MemoryCounters::count(Counter& counter, AccessedLanes lanes, ptx::Space space,
                                  AccessKind kind, std::uint64_t times) {
  if (counter.half != Counter::Half::none && !has_whole_matrix(counter, lanes)) return;
  if (!is_counted(space)) return;
  const Cost cost = cost_of(lanes, space, kind);
  cost.add_to(counter.counts, times);
  if (may_repeat(counter, lanes)) note_shape(counter, lanes, cost, kind);
}

void MemoryCounters::note_shape(Counter& counter, const AccessedLanes& lanes, const Cost& cost,
                                AccessKind kind) {
  if (counter.repeated == nullptr) counter.repeated = std::make_unique<Repeated>();
  Repeated& repeated = *counter.repeated;
  repeated.cost.add_to(counter.counts, std::exchange(repeated.times, 0));
  const bool is_shared = cost.space == ptx::Space::shared;
  repeated.shape.set(lanes, is_shared ? kBankBytes : kSectorBytes);
  repeated.cost = cost;
  repeated.kind = kind;
  repeated.bytes = lanes.bytes;
}

void MemoryCounters::on_access(const Access& access) {
  if (access.async_proxy) return;
  const RowAccess row = row_of(access);
  on_rows(*access.program, {&row, 1});
}

void MemoryCounters::on_rows(const Program& program, std::span<const RowAccess> rows) {
  for (const RowAccess& row : rows) {
    Counter& counter = counter_at(&program, row.pc);
    if (!counter.is_counted) continue;
    // Words of adjacent lanes, or of one place, take one wavefront.
    if (row.space == ptx::Space::shared && row.bytes == kBankBytes &&
        row.pattern != Pattern::scattered && row.kind != AccessKind::atomic &&
        counter.half == Counter::Half::none) {
      ++counter.counts.shared_requests;
      ++counter.counts.wavefronts;
      ++counter.counts.ideal_wavefronts;
      continue;
    }
    const std::uint64_t begin = row.allocation->address;
    const bool is_scattered = row.pattern == Pattern::scattered;
    const AccessedLanes lanes{
        .mask = row.mask,
        .bytes = row.bytes,
        .pattern = row.pattern,
        // lane 0 may be inactive, and its offset wrap below 0
        .first = is_scattered ? begin : begin + static_cast<std::int32_t>(row.first),
        .offsets = row.offsets};
    // Most rows that are not alike are those of lanes that data sends somewhere.
    if (is_scattered && row.mask == ~0u && counter.half == Counter::Half::none &&
        is_counted(row.space) && !may_repeat(counter, lanes)) {
      cost_of(lanes, row.space, row.kind).add_to(counter.counts, 1);
      continue;
    }
    if (row.mask == ~0u && counter.repeated != nullptr &&
        counter.repeated->is(lanes, row.space, row.kind, costs_.functions())) {
      ++counter.repeated->times;
      continue;
    }
    count(counter, lanes, row.space, row.kind, 1);
  }
}

void MemoryCounters::on_tally(const Program& program, std::span<const InstrTally> tally) {
  for (std::uint32_t pc = 0; pc < tally.size(); ++pc) {
    Counter& counter = counter_at(&program, pc);
    counter.runs += tally[pc].runs();
    counter.lanes += tally[pc].lanes();
    counter.counts.divergences += tally[pc].divergences;
    if (pc < program.code.size()) count_tallied(counter, program.code[pc], tally[pc]);
  }
}

// Counts rows that the machine has counted: each kind costs the same at all its places.
void MemoryCounters::count_tallied(Counter& counter, const Instr& instr, const InstrTally& tally) {
  if ((tally.rows | tally.shifted_rows | tally.uniform_rows) == 0) return;
  const ptx::Modifiers& modifiers = instr.modifiers;
  AccessedLanes lanes{.mask = ~0u, .bytes = ptx::bytes_of(modifiers.type) * modifiers.vector};
  const AccessKind kind = instr.kind == InstrKind::load ? AccessKind::read : AccessKind::write;
  lanes.pattern = Pattern::strided;
  if (tally.rows != 0) count(counter, lanes, modifiers.space, kind, tally.rows);
  lanes.first = lanes.bytes;  // not a multiple of a sector
  if (tally.shifted_rows != 0) count(counter, lanes, modifiers.space, kind, tally.shifted_rows);
  lanes.pattern = Pattern::uniform;
  if (tally.uniform_rows != 0) count(counter, lanes, modifiers.space, kind, tally.uniform_rows);
}

std::vector<CountedInstr> MemoryCounters::OfProgram::counts() const {
  std::vector<CountedInstr> all;
  std::int64_t executions = 0, lanes = 0;
  for (const Place& place : places) {
    CountedInstr one{kernel, place.file, place.line, place.begin, place.ptx, {}};
    std::int64_t most = 0, lanes_of_most = 0;
    for (std::uint32_t pc = place.begin; pc < place.end; ++pc) {
      executions += counters[pc].runs;
      lanes += counters[pc].lanes;
      if (executions > most) {
        most = executions;
        lanes_of_most = lanes;
      }
      one.counts.add(counters[pc].all());
    }
    one.counts.executions = static_cast<std::uint64_t>(most);
    one.counts.lanes = static_cast<std::uint64_t>(lanes_of_most);
    if (most != 0) all.push_back(std::move(one));
  }
  return all;
}

std::vector<CountedInstr> MemoryCounters::counts() const {
  std::vector<CountedInstr> all = earlier_;
  std::vector<const OfProgram*> programs;
  for (const auto& [program, known] : programs_) programs.push_back(&known);
  // By name, as the addresses of programs depend on the process.
  std::ranges::stable_sort(programs, {}, [](const OfProgram* one) { return one->kernel; });
  for (const OfProgram* const one : programs) merge(all, one->counts());
  return all;
}

MemoryCounts MemoryCounters::total() const {
  MemoryCounts sum;
  for (const CountedInstr& one : counts()) sum.add(one.counts);
  return sum;
}

void MemoryCounters::clear() {
  programs_.clear();
  earlier_.clear();
  last_ = nullptr;
}

}  // namespace warpcheck::vgpu
