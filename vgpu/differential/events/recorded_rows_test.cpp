// The rows of shared memory that machine code records must equal those that the interpreter
// reports.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "vgpu/check/counters/memory_counters.hpp"
#include "vgpu/check/race/rows/row_log.hpp"
#include "vgpu/differential/engine.hpp"
#include "vgpu/differential/events/logged_loads_testing.hpp"
#include "vgpu/differential/random/random_program.hpp"
#include "vgpu/machine/observer.hpp"
#include "vgpu/machine/undefined/undefined_memory.hpp"

namespace warpcheck::vgpu {
namespace {

// Logs rows of words in shared memory, and tracks which bytes are defined.
class Notes final : public Observer, private UndefinedMemory {
 public:
  using Noted = std::tuple<std::int32_t, std::uint32_t, std::uint32_t, std::uint32_t, bool, bool>;
  using Updated = std::tuple<RowLog::Offsets, std::uint32_t, std::uint32_t, std::uint32_t, int>;

  //   settles_at: the barrier from which on all bytes are defined
  explicit Notes(std::uint32_t settles_at) : settles_at_(settles_at) {}
  [[nodiscard]] UndefinedMemory* undefined_memory() override { return this; }
  void on_access(const Access& access) override {
    if (access.kind == AccessKind::atomic) {
      ++updates_told;
      EXPECT_TRUE(log_.take_updates(access));
    }
    if (is_row(access)) takes_row(row_of(access));
  }
  bool takes_row(const RowAccess& row) override {
    tell(row);
    if (row.space == ptx::Space::shared) loads.add(row);
    return true;
  }
  AccessRecord* record_of(std::uint32_t /*slot*/) override { return &log_.record(); }
  void on_sync(const Sync& sync) override {
    if (sync.kind == Sync::Kind::kernel_start) return;
    if (sync.kind == Sync::Kind::barrier_complete && ++barriers_ == settles_at_) {
      noted_.settled = sync.shared;
    }
    for (const RowLog::Row& row : log_.rows()) {
      seen.emplace_back(row.cell, row.pc, row.mask, row.warp, row.write, row.uniform);
      EXPECT_EQ(row.segment, 0u);
      sizes.push_back(row.bytes());
      if (row.scattered) scattered.push_back(log_.offsets_of(row));
    }
    for (const RowLog::UpdateRow& row : log_.updates()) {
      EXPECT_EQ(row.scope, ptx::Scope::gpu);
      updates.emplace_back(row.offset, row.pc, row.mask, row.warp, row.bytes);
    }
    logged += log_.rows().size();
    seen.insert(seen.end(), met_.begin(), met_.end());
    met_.clear();
    log_.begin(kBytes, kOrderedInThread);
    loads.list(log_.record(), sync.place);
  }

  static constexpr std::uint32_t kBytes = 512;
  static constexpr std::uint8_t kStored = 0x82, kApart = 0x83, kSpaced = 0x84;
  std::vector<Noted> seen;
  static constexpr std::uint32_t kSlack = 128;  // inactive lanes may be outside of the memory
  std::array<std::uint8_t, kBytes + 2 * kSlack> states{};
  std::vector<RowLog::Offsets> scattered;
  std::vector<std::uint32_t> sizes;  // of the logged rows, in bytes of a lane
  std::vector<Updated> updates;
  LoggedLoads loads;
  std::size_t logged = 0, told = 0, updates_told = 0;

 private:
  static bool is_row(const Access& access) {
    return access.kind != AccessKind::atomic && access.order == ptx::Order::weak;
  }
  static bool is_logged(const RowAccess& row) {
    if (row.space != ptx::Space::shared) return false;
    return row.bytes <= 4 || (row.pattern == Pattern::uniform && row.kind == AccessKind::read);
  }
  // Processes a row as the race checker does.
  void tell(const RowAccess& row) {
    if (!is_logged(row)) return;
    if (log_.take(row)) {
      ++told;
    } else {
      see(row);
    }
  }
  // Process a row as UnwrittenMemory does, but make nothing undefined.
  void read(Access& access) override {
    if (is_row(access)) passes(row_of(access));
  }
  void write(const Access& access) override {
    if (is_row(access)) passes(row_of(access));
  }
  [[nodiscard]] const NotedStates* noted_states() const override { return &noted_; }
  bool passes(const RowAccess& row) override {
    if (is_logged(row)) follow(row);
    return true;
  }
  void follow(const RowAccess& row) {
    if (row.allocation == noted_.settled) return;
    noted_.unsettled = row.allocation;
    noted_.states = states.data() + kSlack;
    bool is_defined = true;
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      if ((row.mask >> lane & 1) == 0) continue;
      const std::uint32_t offset = row.offset_of(lane);
      const std::span<std::uint8_t> bytes = std::span(states).subspan(kSlack + offset, row.bytes);
      if (row.kind == AccessKind::write) std::ranges::fill(bytes, state_of(row));
      is_defined &= std::ranges::all_of(bytes, [](std::uint8_t state) { return state != 0; });
    }
    if (!is_defined) see(row);
  }
  // Returns what a row leaves as the state of its bytes.
  static std::uint8_t state_of(const RowAccess& row) {
    if (row.pattern != Pattern::scattered || row.mask != ~0u) return kStored;
    const std::uint32_t first = row.offsets[0], step = row.offsets[1] - first;
    const bool are_even = row.offsets[1] > first && row.offsets[31] - first == 31 * step;
    return are_even ? kSpaced : kApart;
  }
  void see(const RowAccess& row) {
    const std::uint32_t first = row.pattern == Pattern::scattered ? 0 : row.first;
    met_.emplace_back(first, row.pc, row.mask, row.place.warp, row.kind == AccessKind::write,
                      row.pattern == Pattern::uniform);
  }

  RowLog log_;
  std::vector<Noted> met_;  // rows that the log did not accept, or that read undefined bytes
  std::uint32_t settles_at_, barriers_ = 0;
  NotedStates noted_{.stored = kStored, .stored_apart = kApart};
};

// Receives rows, and lists them between the other events.
class Rows final : public Observer {
 public:
  using Row = std::array<std::uint64_t, 6>;
  [[nodiscard]] Watched watches() const override { return {.rows = true}; }
  void on_rows(const Program& program, std::span<const RowAccess> rows) override {
    EXPECT_EQ(program.kernel, "k");
    ++calls;
    for (const RowAccess& row : rows) {
      std::uint64_t places = 0;
      for (std::uint32_t rest = row.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        places = (places + row.offset_of(lane)) * 0x9e3779b97f4a7c15u;
      }
      seen.push_back({row.pc, row.mask, row.place.warp << 8 | row.place.phase,
                      static_cast<std::uint64_t>(row.kind) << 8 | row.bytes, row.allocation->id,
                      places});
    }
  }
  void on_sync(const Sync& sync) override {
    seen.push_back({~0u, static_cast<std::uint64_t>(sync.kind), 0, 0, 0, 0});
  }
  void on_edge(std::uint32_t from, std::uint32_t to, const Program& /*program*/) override {
    seen.push_back({~0u, 99, from, to, 0, 0});
  }
  std::vector<Row> seen;
  std::size_t calls = 0;
};

// Rows at all distances from each other, with words that other threads have read or written, and
// with words that no thread has accessed.
constexpr const char* kRows = R"(// threads: 96
.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %p, %q;
.reg .b32 %t, %k, %n, %x, %y, %row, %at;
.reg .b64 %out, %mine;
.shared .align 4 .b8 cells[512];
ld.param.u64 %out, [out];
mov.u32 %t, %tid.x;
mul.wide.u32 %mine, %t, 8;
add.u64 %mine, %mine, %out;
mov.u32 %n, cells;
mov.u32 %k, 0;
PHASE:
mad.lo.u32 %row, %k, 4, %n;
ld.shared.u32 %x, [%row];
mad.lo.u32 %at, %t, 4, %row;
ld.shared.u32 %y, [%at];
and.b32 %y, %k, 1;
setp.eq.u32 %p, %y, 0;
@%p bra EVEN;
st.shared.u32 [%at+4], %x;
ld.shared.u32 %x, [%at+4];
EVEN:
bar.sync 0;
st.shared.u32 [%at], %x;
ld.shared.u32 %y, [%at+12];
bar.sync 0;
add.u32 %k, %k, 1;
setp.lt.u32 %q, %k, 24;
@%q bra PHASE;
st.global.u32 [%mine], %y;
ret;
}
)";

// Vectors that all lanes load from one place: of words that nothing has written in the phase, and
// of words that the warp itself, or another one, has.
constexpr const char* kVectors = R"(// threads: 96
.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %odd, %again;
.reg .b32 %t, %k, %n, %m, %a<5>, %at, %row;
.reg .b64 %out, %mine, %w;
.shared .align 16 .b8 cells[512];
ld.param.u64 %out, [out];
mov.u32 %t, %tid.x;
mul.wide.u32 %mine, %t, 8;
add.u64 %mine, %mine, %out;
mov.u32 %n, cells;
mad.lo.u32 %at, %t, 4, %n;
mov.u32 %k, 0;
PHASE:
and.b32 %m, %k, 15;
mad.lo.u32 %row, %m, 16, %n;
and.b32 %m, %k, 3;
setp.eq.u32 %odd, %m, 3;
@%odd st.shared.u32 [%at], %k;
ld.shared.v4.u32 {%a0, %a1, %a2, %a3}, [%row];
ld.shared.v2.u32 {%a0, %a1}, [%row+8];
ld.shared.b64 %w, [%row+16];
ld.shared.v2.b64 {%w, %mine}, [%row+32];
ld.shared.u32 %a4, [%row+4];
bar.sync 0;
st.shared.u32 [%at+128], %a3;
bar.sync 0;
add.u32 %k, %k, 1;
setp.lt.u32 %again, %k, 24;
@%again bra PHASE;
ret;
}
)";

// Rows of some lanes and of one lane, words that the same threads read and write, and atomics.
constexpr const char* kSome = R"(// threads: 96
.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %some, %one, %low, %again;
.reg .b32 %t, %k, %n, %x, %y, %at, %m;
.reg .b64 %out, %mine;
.shared .align 4 .b8 cells[512];
ld.param.u64 %out, [out];
mov.u32 %t, %tid.x;
mul.wide.u32 %mine, %t, 8;
add.u64 %mine, %mine, %out;
mov.u32 %n, cells;
mov.u32 %k, 0;
mov.u32 %y, 0;
mad.lo.u32 %at, %t, 4, %n;
st.shared.u32 [%at], %t;
bar.sync 0;
PHASE:
and.b32 %m, %t, %k;
setp.eq.u32 %some, %m, 0;
setp.eq.u32 %one, %t, %k;
@%some ld.shared.u32 %x, [%at];
@%some add.u32 %x, %x, 1;
@%some st.shared.u32 [%at], %x;
@%one ld.shared.u32 %y, [%at+8];
@%one st.shared.u32 [%at+4], %k;
@%one st.shared.u32 [%at+8], %k;
setp.lt.u32 %low, %t, 40;
@!%low bra REST;
ld.shared.u32 %y, [%at+256];
ld.shared.u32 %x, [%at+260];
st.shared.u32 [%at+256], %y;
REST:
bar.sync 0;
mul.lo.u32 %m, %t, %k;
and.b32 %m, %m, 63;
mad.lo.u32 %m, %m, 4, %n;
red.shared.add.u32 [%m], %t;
red.shared.max.u32 [%m+128], %t;
bar.sync 0;
add.u32 %k, %k, 1;
setp.lt.u32 %again, %k, 24;
@%again bra PHASE;
ld.shared.u32 %x, [%at];
add.u32 %y, %x, %y;
st.global.u32 [%mine], %y;
ret;
}
)";

// Lanes in random order, at words of their own, which they also write, or at words that they share,
// as in tiles of 16 lanes; and tiles whose halves are adjacent words, or one word, in each order.
constexpr const char* kScattered = R"(// threads: 96
.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %again;
.reg .b32 %t, %k, %n, %x, %y, %z, %at, %m;
.reg .b64 %out, %mine;
.shared .align 4 .b8 cells[512];
ld.param.u64 %out, [out];
mov.u32 %t, %tid.x;
mul.wide.u32 %mine, %t, 8;
add.u64 %mine, %mine, %out;
mov.u32 %n, cells;
mov.u32 %k, 0;
mad.lo.u32 %at, %t, 4, %n;
st.shared.u32 [%at], %t;
bar.sync 0;
PHASE:
mad.lo.u32 %m, %t, 5, %k;
and.b32 %m, %m, 127;
mad.lo.u32 %m, %m, 4, %n;
ld.shared.u32 %x, [%m];
add.u32 %x, %x, 1;
st.shared.u32 [%m], %x;
bar.sync 0;
shr.u32 %m, %t, 4;
mad.lo.u32 %m, %m, 16, %k;
mad.lo.u32 %m, %m, 4, %n;
ld.shared.u32 %y, [%m];
and.b32 %m, %t, 15;
mad.lo.u32 %m, %m, 4, %n;
ld.shared.u32 %z, [%m];
add.u32 %y, %y, %z;
mul.lo.u32 %m, %t, %t;
and.b32 %m, %m, 63;
mad.lo.u32 %m, %m, 4, %n;
ld.shared.u32 %z, [%m+256];
add.u32 %y, %y, %z;
bar.sync 0;
and.b32 %m, %t, 16;
mad.lo.u32 %m, %m, 5, %t;
and.b32 %m, %m, 95;
add.u32 %m, %m, %k;
mad.lo.u32 %m, %m, 4, %n;
ld.shared.u32 %z, [%m];
add.u32 %y, %y, %z;
shr.u32 %m, %t, 4;
and.b32 %m, %m, 1;
sub.u32 %m, 0, %m;
and.b32 %m, %m, %t;
add.u32 %m, %m, %k;
mad.lo.u32 %m, %m, 4, %n;
ld.shared.u32 %z, [%m];
add.u32 %y, %y, %z;
shr.u32 %m, %t, 4;
and.b32 %m, %m, 1;
sub.u32 %m, %m, 1;
and.b32 %m, %m, %t;
add.u32 %m, %m, %k;
mad.lo.u32 %m, %m, 4, %n;
ld.shared.u32 %z, [%m+64];
add.u32 %y, %y, %z;
bar.sync 0;
st.shared.u32 [%at], %t;
shr.u32 %m, %t, 4;
mad.lo.u32 %m, %m, 16, %k;
mad.lo.u32 %m, %m, 4, %n;
ld.shared.u32 %z, [%m];
bar.sync 0;
add.u32 %k, %k, 1;
setp.lt.u32 %again, %k, 16;
@%again bra PHASE;
st.global.u32 [%mine], %y;
ret;
}
)";

// Lanes that load parts of words, as in tiles of 16 lanes: one element, adjacent elements from a
// word's beginning on and from elsewhere, elements far apart; and a word that another thread
// writes.
constexpr const char* kParts = R"(// threads: 96
.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %again;
.reg .b16 %h;
.reg .b32 %t, %k, %n, %low, %high, %at, %m, %y, %x;
.reg .b64 %out, %mine;
.shared .align 4 .b8 cells[512];
ld.param.u64 %out, [out];
mov.u32 %t, %tid.x;
mul.wide.u32 %mine, %t, 8;
add.u64 %mine, %mine, %out;
mov.u32 %n, cells;
mov.u32 %k, 0;
mov.u32 %y, 0;
and.b32 %low, %t, 15;
shr.u32 %high, %t, 4;
mad.lo.u32 %at, %t, 4, %n;
st.shared.u32 [%at], %t;
bar.sync 0;
PHASE:
mad.lo.u32 %m, %high, 32, %n;
add.u32 %m, %m, %k;
ld.shared.s8 %x, [%m];
add.u32 %y, %y, %x;
add.u32 %m, %m, %k;
ld.shared.u16 %h, [%m];
cvt.u32.u16 %x, %h;
add.u32 %y, %y, %x;
mad.lo.u32 %m, %low, 2, %n;
add.u32 %m, %m, %k;
add.u32 %m, %m, %k;
ld.shared.u16 %h, [%m];
cvt.u32.u16 %x, %h;
add.u32 %y, %y, %x;
add.u32 %m, %n, %low;
add.u32 %m, %m, %k;
ld.shared.u8 %x, [%m];
add.u32 %y, %y, %x;
mad.lo.u32 %m, %high, 64, %n;
mad.lo.u32 %m, %low, 2, %m;
ld.shared.u16 %h, [%m];
cvt.u32.u16 %x, %h;
add.u32 %y, %y, %x;
mad.lo.u32 %m, %high, 48, %n;
add.u32 %m, %m, %low;
ld.shared.u8 %x, [%m+4];
add.u32 %y, %y, %x;
mad.lo.u32 %m, %t, 4, %n;
ld.shared.u8 %x, [%m+3];
add.u32 %y, %y, %x;
bar.sync 0;
st.shared.u32 [%at], %y;
mad.lo.u32 %m, %high, 32, %n;
ld.shared.u8 %x, [%m];
bar.sync 0;
add.u32 %k, %k, 1;
setp.lt.u32 %again, %k, 16;
@%again bra PHASE;
st.global.u32 [%mine], %y;
ret;
}
)";

// The maximum number of rows and atomics that machine code may record.
struct ToldMax {
  std::size_t rows, updates;
};

void expect_same_notes(const std::string& text, std::uint32_t settles_at, const ToldMax& told_max) {
  const ptx::Module module = ptx::parse(text, "rows");
  for (const SimdLevel level : {SimdLevel::avx2, SimdLevel::avx512}) {
    if (level > host_simd_level()) continue;
    Notes interpreted(settles_at), compiled(settles_at);
    Rows one_by_one, in_batches;
    for (Notes* const notes : {&interpreted, &compiled}) {
      const bool compiles = notes == &compiled;
      const MachineSettings settings{.level = level,
                                     .compiles = compiles,
                                     .watches = notes,
                                     .watches_too = compiles ? &in_batches : &one_by_one};
      EXPECT_EQ(run_on_machine(module, threads_of(text), settings).problem, "");
    }
    EXPECT_TRUE(one_by_one.seen == in_batches.seen);
    EXPECT_LT(in_batches.calls, one_by_one.calls);
    EXPECT_TRUE(interpreted.seen == compiled.seen);
    EXPECT_TRUE(interpreted.updates == compiled.updates);
    if (text.find("shfl.sync") != std::string::npos) {
      expect_same_loads(interpreted.loads.seen, compiled.loads.seen);
    }
    EXPECT_TRUE(interpreted.scattered == compiled.scattered);
    EXPECT_TRUE(interpreted.sizes == compiled.sizes);
    EXPECT_EQ(interpreted.states, compiled.states);
    EXPECT_EQ(interpreted.logged, interpreted.told);
    EXPECT_EQ(interpreted.updates.size(), interpreted.updates_told);
    EXPECT_EQ(interpreted.logged, compiled.logged);
    EXPECT_LE(compiled.told, told_max.rows);
    EXPECT_LE(compiled.updates_told, told_max.updates);
  }
}

// Counted as they stand in the record, and as the interpreter reports them.
TEST(RecordedRows, AreCounted) {
  for (const std::string text : {kRows, kVectors, kSome, kParts, kScattered}) {
    const ptx::Module module = ptx::parse(text, "rows");
    for (const SimdLevel level : {SimdLevel::avx2, SimdLevel::avx512}) {
      if (level > host_simd_level()) continue;
      MemoryCounters interpreted, compiled;
      for (MemoryCounters* const counters : {&interpreted, &compiled}) {
        Notes notes(20);
        const MachineSettings settings{.level = level,
                                       .compiles = counters == &compiled,
                                       .watches = &notes,
                                       .watches_too = counters};
        EXPECT_EQ(run_on_machine(module, threads_of(text), settings).problem, "");
      }
      EXPECT_EQ(interpreted.counts(), compiled.counts());
      EXPECT_GT(compiled.total().wavefronts, 100u);
    }
  }
}

TEST(RecordedRows, AreLogged) {
  expect_same_notes(with_collective(kRows), 24, {14, 0});
  expect_same_notes(with_collective(kVectors), 20, {100, 0});
  expect_same_notes(with_collective(kSome), 20, {40, 62});
  expect_same_notes(with_collective(kParts), 20, {300, 0});
  expect_same_notes(with_collective(kScattered), 20, {100, 0});
}

TEST(RecordedRows, AreThoseThatTheInterpreterTells) { expect_same_notes(kRows, 24, {14, 0}); }

TEST(RecordedRows, MayBeVectorsAtOnePlace) { expect_same_notes(kVectors, 20, {100, 0}); }

TEST(RecordedRows, MayBeOfSomeLanes) { expect_same_notes(kSome, 20, {40, 62}); }

TEST(RecordedRows, MayBePartsOfWords) { expect_same_notes(kParts, 20, {300, 0}); }

TEST(RecordedRows, MayBeScattered) { expect_same_notes(kScattered, 20, {100, 0}); }

}  // namespace
}  // namespace warpcheck::vgpu
