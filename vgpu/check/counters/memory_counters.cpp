#include "vgpu/check/counters/memory_counters.hpp"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "vgpu/check/reporter.hpp"
#include "vgpu/machine/access/appended_rows.hpp"
#include "vgpu/machine/access/queued_row.hpp"
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

// Of a scattered row: equal for those of the same kind and width.
std::uint32_t recorded_key(const RecordedRow& row) {
  return std::uint32_t{row.cells_log2} | std::uint32_t{row.write} << 8 |
         std::uint32_t{row.uniform} << 16 | std::uint32_t{row.scattered} << 24;
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
  last_ = nullptr;  // it may be another program at the same address
  static_cast<void>(counters_of(*sync.program));
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
    if (instr.kind == InstrKind::texture) known.counters[pc].its = Counter::Counts::none;
    if (moves_half_of_matrix(program, pc)) {
      known.counters[pc].its =
          halves++ % 2 == 0 ? Counter::Counts::even_half : Counter::Counts::odd_half;
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
  sum.shared_requests += words;
  sum.wavefronts += words;
  sum.ideal_wavefronts += words;
  return sum;
}

inline MemoryCounters::Cost MemoryCounters::cost_of(const CountedRow& row) {
  const AccessedLanes& lanes = row.lanes;
  const bool is_shared = row.space == ptx::Space::shared;
  const std::uint32_t active =
      lanes.mask == ~0u ? kWarpLanes : static_cast<std::uint32_t>(std::popcount(lanes.mask));
  Cost cost{.space = row.space, .moved = {}, .bytes = active * lanes.bytes};
  cost.moved = is_shared ? costs_.wavefronts(lanes, row.kind) : costs_.sectors(lanes);
  // The one wavefront of all lanes' words holds no word twice.
  const bool is_one = is_shared && lanes.bytes <= kBankBytes && cost.moved.moved == 1;
  if (row.kind == AccessKind::atomic && !is_one) cost.contended = active - costs_.places(lanes);
  return cost;
}

// Most scattered rows are one more in the shape of their instruction's last one.
[[gnu::always_inline]] inline bool MemoryCounters::repeats(Counter& counter, std::uint32_t key,
                                                           std::uint64_t begin,
                                                           const std::uint32_t* offsets) {
  Repeated* const repeated = counter.repeated.get();
  const bool is_one_more = repeated != nullptr && repeated->key == key &&
                           repeated->shape.is_of(begin, offsets, costs_.functions());
  if (is_one_more) ++repeated->times;
  return is_one_more;
}

// Returns whether all lanes may lie as those of the scattered row before did.
inline bool MemoryCounters::lies_as_before(Counter& counter, const std::uint32_t* offsets) {
  const std::uint32_t span = offsets[kWarpLanes - 1] - offsets[0];
  return span == std::exchange(counter.span, span);
}

void MemoryCounters::count_new(Counter& counter, const CountedRow& row) {
  const AccessedLanes& lanes = row.lanes;
  const bool is_scattered = lanes.pattern == Pattern::scattered;
  const bool are_all = lanes.mask == ~0u;
  if (counter.its != Counter::Counts::all) [[unlikely]]
    return count_half_of_matrix(counter, row);
  if (!is_counted(row.space)) return;
  const bool is_atomic = row.kind == AccessKind::atomic;
  const bool is_row = lanes.pattern == Pattern::strided || (!is_scattered && !is_atomic);
  // Words of adjacent lanes, or of one place, take one wavefront.
  if (is_row && row.space == ptx::Space::shared && lanes.bytes == kBankBytes) {
    ++counter.words;
    return;
  }
  if (row.space == ptx::Space::global && is_row) return count_sectors(counter, lanes);
  if (!are_all) return cost_of(row).add_to(counter.counts, 1);
  if (!is_scattered) {
    Repeated* const repeated = counter.repeated.get();
    const bool is_one_more = repeated != nullptr && repeated->key == row.key &&
                             repeated->shape.is_of(lanes, costs_.functions());
    return is_one_more ? void(++repeated->times) : note_shape(counter, row);
  }
  // Data mostly has every row somewhere else.  So only a row that may lie as the one before it did
  // is kept to compare later ones with.
  if (lies_as_before(counter, lanes.offsets)) return note_shape(counter, row);
  if (row.space == ptx::Space::global && !is_atomic) return count_sectors(counter, lanes);
  cost_of(row).add_to(counter.counts, 1);
}

// Counts a request of global memory at whose addresses no lanes contend.
inline void MemoryCounters::count_sectors(Counter& counter, const AccessedLanes& lanes) {
  const AccessCost cost = costs_.sectors(lanes);
  ++counter.counts.requests;
  counter.counts.sectors += cost.moved;
  counter.counts.ideal_sectors += cost.ideal;
}

void MemoryCounters::note_shape(Counter& counter, const CountedRow& row) {
  if (counter.repeated == nullptr) counter.repeated = std::make_unique<Repeated>();
  Repeated& repeated = *counter.repeated;
  repeated.cost.add_to(counter.counts, std::exchange(repeated.times, 1));
  repeated.shape.set(row.lanes, row.space == ptx::Space::shared ? kBankBytes : kSectorBytes);
  repeated.cost = cost_of(row);
  repeated.key = row.key;
}

// Of the halves of a matrix, the second one is counted: as the words of all rows, which a GPU moves
// together.
void MemoryCounters::count_half_of_matrix(Counter& counter, CountedRow row) {
  if (counter.its == Counter::Counts::none) return;
  // Lanes 8 i + 4 ... have the other half of the words of lanes 8 i ...
  const bool is_odd = counter.its == Counter::Counts::odd_half;
  std::uint32_t at = is_odd ? kWarpLanes / 2 : 0;
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    if (lane / 4 % 2 == 0) matrix_[at++] = row.lanes.offset_of(lane);
  }
  if (!is_odd) return;
  row.lanes.mask = ~0u;
  row.lanes.bytes = 4;
  row.lanes.pattern = Pattern::scattered;
  row.lanes.offsets = matrix_.data();
  cost_of(row).add_to(counter.counts, 1);
}

void MemoryCounters::on_access(const Access& access) {
  if (access.async_proxy) return;
  const RowAccess row = row_of(access);
  on_rows(*access.program, {&row, 1});
}

void MemoryCounters::on_rows(const Program& program, std::span<const RowAccess> rows) {
  Counter* const counters = counters_of(program);
  for (const RowAccess& row : rows) count(counters[row.pc], row);
}

inline void MemoryCounters::count(Counter& counter, const RowAccess& row) {
  const bool is_scattered = row.pattern == Pattern::scattered;
  const std::uint64_t begin = row.allocation->address;
  const std::uint32_t key = CountedRow::key_of(row.space, row.kind, row.pattern, row.bytes);
  if (is_scattered && row.mask == ~0u && repeats(counter, key, begin, row.offsets)) return;
  count_new(counter,
            {.lanes = {.mask = row.mask,
                       .bytes = row.bytes,
                       .pattern = row.pattern,
                       // lane 0 may be inactive, and its offset wrap below 0
                       .first = is_scattered ? begin : begin + static_cast<std::int32_t>(row.first),
                       .offsets = row.offsets},
             .space = row.space,
             .kind = row.kind,
             .key = key});
}

void MemoryCounters::count_new(Counter& counter, const RecordedRow& row,
                               const AppendedRows& appended) {
  CountedRow shared{.lanes = {.mask = row.mask, .bytes = row.bytes(), .pattern = row.pattern()},
                    .space = ptx::Space::shared,
                    .kind = row.write ? AccessKind::write : AccessKind::read,
                    .key = recorded_key(row)};
  // Shared memory begins at a multiple of what its lanes are compared by.
  if (row.scattered) {
    shared.lanes.offsets = appended.offsets[row.cell].data();
  } else {
    shared.lanes.first = static_cast<std::uint64_t>(std::int64_t{row.cell} * kBankBytes);
  }
  count_new(counter, shared);
}

bool MemoryCounters::takes_appended(const Program& program, const AppendedRows& appended) {
  Counter* const counters = counters_of(program);
  for (const RecordedRow& row : appended.rows) {
    Counter& counter = counters[row.pc];
    if (!row.scattered && row.cells_log2 == 0) {
      ++counter.words;
      continue;
    }
    const bool may_repeat = row.scattered && row.mask == ~0u;
    if (may_repeat && repeats(counter, recorded_key(row), 0, appended.offsets[row.cell].data()))
        [[likely]]
      continue;
    count_new(counter, row, appended);
  }
  for (const RecordedAtomics& row : appended.atomics) count(counters[row.pc], row);
  for (const QueuedRows& queued : appended.queued) count(counters, queued);
  return true;
}

// Mostly data says where the lanes go, and no row lies as the one before it.
inline void MemoryCounters::count(Counter& counter, const RecordedAtomics& row) {
  const std::uint32_t* const offsets = row.offset.data();
  const std::uint32_t key =
      CountedRow::key_of(ptx::Space::shared, AccessKind::atomic, Pattern::scattered, row.bytes);
  const bool are_words = row.mask == ~0u && row.bytes == kBankBytes;
  if (are_words && !lies_as_before(counter, offsets)) {
    const SharedWords words = costs_.functions().shared_words(offsets);
    ++counter.counts.shared_requests;
    ++counter.counts.ideal_wavefronts;
    counter.counts.wavefronts += words.lanes_of_busiest_bank;
    counter.counts.contended += kWarpLanes - words.different;
    return;
  }
  if (row.mask == ~0u && repeats(counter, key, 0, offsets)) return;
  count_new(counter, {.lanes = {.mask = row.mask,
                                .bytes = row.bytes,
                                .pattern = Pattern::scattered,
                                .offsets = offsets},
                      .space = ptx::Space::shared,
                      .kind = AccessKind::atomic,
                      .key = key});
}

inline void MemoryCounters::count(Counter* counters, const QueuedRows& queued) {
  RowAccess row;
  row.allocation = queued.allocation;
  for (const std::byte* from = queued.begin; from != queued.end;) {
    take_queued(from, row);
    Counter& counter = counters[row.pc];
    const bool is_row = row.pattern == Pattern::strided && counter.its == Counter::Counts::all;
    if (!is_row) {
      count(counter, row);
      continue;
    }
    const std::uint64_t first = row.allocation->address + static_cast<std::int32_t>(row.first);
    count_sectors(
        counter,
        {.mask = row.mask, .bytes = row.bytes, .pattern = Pattern::strided, .first = first});
  }
}

void MemoryCounters::on_tally(const Program& program, std::span<const InstrTally> tally) {
  Counter* const counters = counters_of(program);
  for (std::uint32_t pc = 0; pc < tally.size(); ++pc) {
    Counter& counter = counters[pc];
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
  CountedRow row{.lanes = {.mask = ~0u, .bytes = ptx::bytes_of(modifiers.type) * modifiers.vector},
                 .space = modifiers.space};
  row.kind = instr.kind == InstrKind::load ? AccessKind::read : AccessKind::write;
  row.lanes.pattern = Pattern::strided;
  cost_of(row).add_to(counter.counts, tally.rows);
  row.lanes.first = row.lanes.bytes;  // not a multiple of a sector
  cost_of(row).add_to(counter.counts, tally.shifted_rows);
  row.lanes.pattern = Pattern::uniform;
  cost_of(row).add_to(counter.counts, tally.uniform_rows);
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
