// The rows of global memory that machine code appends to queues must equal those that the
// interpreter reports, counted or not.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "vgpu/check/counters/memory_counters.hpp"
#include "vgpu/differential/engine.hpp"
#include "vgpu/differential/events/logged_loads_testing.hpp"
#include "vgpu/differential/random/random_program.hpp"
#include "vgpu/machine/observer.hpp"

namespace warpcheck::vgpu {
namespace {

// Lists rows of global memory of one kind, in the order of their execution.
class Queued final : public Observer {
 public:
  using Row = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, int, int, std::uint64_t>;

  explicit Queued(QueuedKind kind = {}) { queue_.kind = kind; }
  bool takes_row(const RowAccess& row) override {
    if (row.space != ptx::Space::global || row.kind != kind()) return true;
    drain();
    ++told;
    see(row, record_.time + std::uint64_t{row.place.warp} * kWarpLanes);
    loads.add(row);
    queue_.permitted = buffer_.data() + kBufferBytes - kQueuedRowMax + 1;
    return true;
  }
  void on_access(const Access& access) override { takes_row(row_of(access)); }
  AccessRecord* record_of(std::uint32_t /*slot*/) override { return &record_; }
  std::optional<RowQueue*> queue_of(const Allocation& /*allocation*/) override { return &queue_; }
  void on_sync(const Sync& sync) override {
    drain();
    if (sync.kind == Sync::Kind::barrier_complete) record_.time += 1000;
    // Every other phase, the rows are reported.
    if (record_.time / 1000 % 2 == 1) queue_.close();
    loads.list(record_, sync.place);
  }
  std::vector<Row> seen;
  LoggedLoads loads;
  std::size_t told = 0;

 private:
  static constexpr std::size_t kBufferBytes = 1000;
  [[nodiscard]] AccessKind kind() const {
    return queue_.kind.scope == 0 ? AccessKind::read : AccessKind::atomic;
  }
  void drain() {
    const std::byte* from = buffer_.data();
    while (from < queue_.next) {
      QueuedRow queued;
      std::memcpy(&queued, from, sizeof queued);
      from += sizeof queued;
      EXPECT_EQ(queued.scope, queue_.kind.scope);
      RowAccess row;
      row.pc = queued.pc;
      row.mask = queued.mask;
      row.first = queued.first;
      row.kind = kind();
      row.bytes = queued.bytes;
      row.pattern = queued.pattern;
      if (row.pattern == Pattern::scattered) {
        row.offsets = reinterpret_cast<const std::uint32_t*>(from);
        from += kWarpLanes * sizeof(std::uint32_t);
      }
      see(row, queued.time);
    }
    EXPECT_TRUE(from == queue_.next);
    queue_.next = buffer_.data();
  }
  void see(const RowAccess& row, std::uint64_t time) {
    std::uint64_t places = 0;
    for (std::uint32_t rest = row.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      places = (places + row.offset_of(lane)) * 0x9e3779b97f4a7c15u;
    }
    // Machine code queues lanes of atomics as scattered that may lie otherwise.
    const int pattern = kind() == AccessKind::read ? static_cast<int>(row.pattern) : 0;
    seen.emplace_back(time, row.pc, row.mask, row.bytes, pattern, places);
  }

  alignas(8) std::array<std::byte, kBufferBytes> buffer_{};
  AccessRecord record_;
  RowQueue queue_{.next = buffer_.data()};
};

// Reads of global memory of all widths and patterns, by all lanes and by some; and a read that goes
// to global and to shared memory by turns.
constexpr const char* kReads = R"(// threads: 96
.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %some, %again;
.reg .b32 %t, %k, %x, %y, %m;
.reg .b16 %h;
.reg .b64 %out, %mine, %word, %at, %d, %cells;
.shared .align 4 .b8 cells[64];
ld.param.u64 %out, [out];
mov.u32 %t, %tid.x;
mul.wide.u32 %mine, %t, 8;
add.u64 %mine, %mine, %out;
mul.wide.u32 %word, %t, 4;
add.u64 %word, %word, %out;
mov.u64 %cells, cells;
cvta.shared.u64 %cells, %cells;
mov.u32 %k, 0;
mov.u32 %y, 0;
PHASE:
ld.global.u32 %x, [%word+4];
add.u32 %y, %y, %x;
ld.global.u64 %d, [%mine];
cvt.u32.u64 %x, %d;
add.u32 %y, %y, %x;
ld.global.v2.u32 {%x, %m}, [%mine];
add.u32 %y, %y, %x;
ld.global.u32 %x, [%out+64];
add.u32 %y, %y, %x;
mul.wide.u32 %at, %t, 2;
add.u64 %at, %at, %out;
ld.global.u16 %h, [%at+2];
cvt.u32.u16 %x, %h;
add.u32 %y, %y, %x;
ld.global.s8 %x, [%at+1];
add.u32 %y, %y, %x;
mul.lo.u32 %m, %t, %t;
add.u32 %m, %m, %k;
and.b32 %m, %m, 63;
mul.wide.u32 %at, %m, 4;
add.u64 %at, %at, %out;
ld.global.u32 %x, [%at];
add.u32 %y, %y, %x;
ld.u32 %x, [%at+8];
add.u32 %y, %y, %x;
and.b32 %m, %k, 1;
setp.eq.u32 %some, %m, 0;
selp.b64 %at, %out, %cells, %some;
ld.u32 %x, [%at+4];
add.u32 %y, %y, %x;
and.b32 %m, %t, %k;
setp.eq.u32 %some, %m, 0;
@%some ld.global.u32 %x, [%word];
add.u32 %y, %y, %x;
bar.sync 0;
add.u32 %k, %k, 1;
setp.lt.u32 %again, %k, 24;
@%again bra PHASE;
st.global.u32 [%mine], %y;
ret;
}
)";

// Atomics in global memory: of adjacent lanes, of lanes in any order, and of lanes at one place; of
// all lanes and of some; and of another size and another scope.
constexpr const char* kAtomics = R"(// threads: 96
.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %some, %again;
.reg .b32 %t, %k, %x, %y, %m;
.reg .b64 %out, %mine, %word, %at, %d;
ld.param.u64 %out, [out];
mov.u32 %t, %tid.x;
mul.wide.u32 %mine, %t, 8;
add.u64 %mine, %mine, %out;
mul.wide.u32 %word, %t, 4;
add.u64 %word, %word, %out;
mov.u32 %k, 0;
PHASE:
red.global.add.u32 [%word], %t;
atom.global.max.u32 %x, [%word+4], %k;
red.global.add.u32 [%out+64], %x;
mul.lo.u32 %m, %t, %t;
add.u32 %m, %m, %k;
and.b32 %m, %m, 63;
mul.wide.u32 %at, %m, 4;
add.u64 %at, %at, %out;
atom.global.add.u32 %y, [%at], %t;
red.global.min.s32 [%at+16], %y;
atom.global.exch.b32 %y, [%word], %t;
red.add.u32 [%at], %t;
red.cta.global.add.u32 [%word], %t;
red.global.add.u64 [%mine], %mine;
and.b32 %m, %t, %k;
setp.eq.u32 %some, %m, 0;
@%some red.global.add.u32 [%word], %y;
bar.sync 0;
add.u32 %k, %k, 1;
setp.lt.u32 %again, %k, 24;
@%again bra PHASE;
ret;
}
)";

// Runs a program interpreted and as machine code, which may report so many percent of the rows;
// counted or not.
void expect_same_queue(const std::string& text, QueuedKind kind, std::size_t told_percent,
                       bool is_counted = false) {
  const ptx::Module module = ptx::parse(text, "queued");
  for (const SimdLevel level : {SimdLevel::avx2, SimdLevel::avx512}) {
    if (level > host_simd_level()) continue;
    MemoryCounters of_interpreted, of_compiled;
    Queued interpreted(kind), compiled(kind);
    for (Queued* const queued : {&interpreted, &compiled}) {
      const bool compiles = queued == &compiled;
      MachineSettings settings{.level = level, .compiles = compiles, .watches = queued};
      if (is_counted) settings.watches_too = compiles ? &of_compiled : &of_interpreted;
      EXPECT_EQ(run_on_machine(module, threads_of(text), settings).problem, "");
    }
    EXPECT_EQ(of_interpreted.counts(), of_compiled.counts());
    EXPECT_EQ(of_compiled.total().requests != 0, is_counted);
    EXPECT_TRUE(interpreted.seen == compiled.seen);
    EXPECT_EQ(interpreted.told, interpreted.seen.size());
    if (text.find("shfl.sync") != std::string::npos) {
      expect_same_loads(interpreted.loads.seen, compiled.loads.seen);
    }
    EXPECT_LT(compiled.told, compiled.seen.size() * told_percent / 100);
  }
}

TEST(RecordedReads, AreThoseThatTheInterpreterTells) { expect_same_queue(kReads, {}, 70); }

TEST(RecordedAtomics, AreThoseThatTheInterpreterTells) {
  expect_same_queue(kAtomics, QueuedKind::atomics(ptx::Scope::gpu, 4), 80);
}

TEST(RecordedReads, AreCounted) { expect_same_queue(kReads, {}, 70, true); }

TEST(RecordedAtomics, AreCounted) {
  expect_same_queue(kAtomics, QueuedKind::atomics(ptx::Scope::gpu, 4), 80, true);
}

TEST(RecordedReads, AreLogged) { expect_same_queue(with_collective(kReads), {}, 70); }

}  // namespace
}  // namespace warpcheck::vgpu
