// The rows of global memory whose words machine code marks as their threads' must equal those that
// the interpreter reports, and none of them may conflict with an earlier one.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "vgpu/check/race/rows/word_owners.hpp"
#include "vgpu/differential/engine.hpp"
#include "vgpu/differential/random/random_program.hpp"
#include "vgpu/machine/access/queued_row.hpp"
#include "vgpu/machine/observer.hpp"

namespace warpcheck::vgpu {
namespace {

// Lists plain rows of global memory in the order of their execution.  A period ends at a row that
// conflicts with an earlier one.
class Owned final : public Observer {
 public:
  using Row = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, bool, std::uint64_t>;

  explicit Owned(OwnFn own) : owners_(own) { begin(); }
  bool takes_row(const RowAccess& row) override {
    if (row.space != ptx::Space::global || row.bytes < 4) return true;
    drain();
    ++told;
    const std::uint64_t time = record_.time + std::uint64_t{row.place.warp} * kWarpLanes;
    const bool conflicts = !note(row, time);
    if (!owners_.take(row, row.place)) {
      begin();
      // Lanes of one row may conflict, too.
      if (!note(row, time) || !owners_.take(row, row.place)) begin();
    } else {
      EXPECT_FALSE(conflicts);
    }
    see(row, time);
    queue_.permitted = buffer_.data() + buffer_.size() - kQueuedRowMax + 1;
    return true;
  }
  void on_access(const Access& access) override { takes_row(row_of(access)); }
  AccessRecord* record_of(std::uint32_t /*slot*/) override { return &record_; }
  std::optional<RowQueue*> queue_of(const Allocation& /*allocation*/) override { return &queue_; }
  void on_sync(const Sync& sync) override {
    drain();
    if (sync.kind == Sync::Kind::block_start) {
      record_.owner = sync.place.block * OwnerMark::kBlock;
      record_.time = std::uint64_t{sync.place.block} << 32;
    }
    if (sync.kind == Sync::Kind::barrier_complete) record_.time += 1000;
  }
  std::vector<Row> seen;
  std::size_t told = 0, periods = 0;

 private:
  struct Word {
    std::set<std::uint64_t> threads;
    bool is_written = false;
  };

  void begin() {
    ++periods;
    words_.clear();
    ASSERT_TRUE(owners_.begin(kBytes));
    owners_.lend(queue_);
    queue_.kind = QueuedKind::owned();
  }
  // Returns whether no word is written and accessed by several threads.
  bool note(const RowAccess& row, std::uint64_t time) {
    bool is_allowed = true;
    const std::uint64_t thread = time >> 32 << 32 | time % 1000;
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      if ((row.mask >> lane & 1) == 0) continue;
      for (std::uint32_t byte = 0; byte < row.bytes; byte += 4) {
        Word& word = words_[row.offset_of(lane) + byte];
        word.threads.insert(thread + lane);
        word.is_written |= row.kind == AccessKind::write;
        is_allowed &= !word.is_written || word.threads.size() == 1;
      }
    }
    return is_allowed;
  }
  void drain() {
    const std::byte* from = buffer_.data();
    while (from < queue_.next) {
      RowAccess row;
      const QueuedRow queued = take_queued(from, row);
      EXPECT_TRUE(note(row, queued.time)) << "at pc " << row.pc;
      see(row, queued.time);
    }
    queue_.next = buffer_.data();
  }
  void see(const RowAccess& row, std::uint64_t time) {
    std::uint64_t places = row.bytes;
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      if ((row.mask >> lane & 1) == 0) continue;
      places = (places + row.offset_of(lane)) * 0x9e3779b97f4a7c15u;
    }
    seen.emplace_back(time, row.pc, row.mask, row.kind == AccessKind::write, places);
  }

  static constexpr std::uint32_t kBytes = 10'816;
  alignas(8) std::array<std::byte, 2000> buffer_{};
  WordOwners owners_;
  std::map<std::uint32_t, Word> words_;
  AccessRecord record_;
  RowQueue queue_{.next = buffer_.data()};
};

// Words of the thread and of its neighbours, vectors, words at any distance, words that many read,
// and lanes that share words; each of them read and written in loops, so that some repeat.
constexpr const char* kOwned = R"(// threads: 96
.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %again, %rare;
.reg .b32 %t, %b, %k, %x, %y, %z, %w, %m;
.reg .b64 %out, %word, %pair, %quad, %at, %low, %d;
ld.param.u64 %out, [out];
mov.u32 %t, %tid.x;
mov.u32 %b, %ctaid.x;
mad.lo.u32 %b, %b, 96, %t;
mul.wide.u32 %word, %b, 4;
add.u64 %word, %word, %out;
mul.wide.u32 %pair, %b, 8;
add.u64 %pair, %pair, %out;
mul.wide.u32 %quad, %b, 16;
add.u64 %quad, %quad, %out;
mov.u32 %k, 0;
mov.u32 %y, 0;
LOOP:
ld.global.u32 %x, [%word];
add.u32 %x, %x, %y;
st.global.u32 [%word], %x;
ld.global.u32 %y, [%word+4];
ld.global.u32 %x, [%out];
ld.global.v2.u32 {%x, %z}, [%pair];
st.global.u32 [%word], %z;
ld.global.b64 %d, [%pair];
mul.lo.u32 %m, %t, 5;
rem.u32 %m, %m, 96;
sub.u32 %x, %b, %t;
add.u32 %m, %m, %x;
mul.wide.u32 %at, %m, 4;
add.u64 %at, %at, %out;
ld.global.u32 %x, [%at+2048];
st.global.u32 [%at+2048], %k;
ld.global.u32 %x, [%at+2048];
mul.lo.u32 %m, %t, %k;
and.b32 %m, %m, 63;
mul.wide.u32 %at, %m, 4;
add.u64 %at, %at, %out;
ld.global.u32 %x, [%at+4096];
add.u32 %y, %y, %x;
rem.u32 %m, %k, 7;
setp.ne.u32 %rare, %m, 6;
@%rare bra NEXT;
st.global.u32 [%at+4096], %y;
ld.global.u32 %x, [%word+4096];
st.global.u32 [%word+8], %x;
ld.global.v4.u32 {%x, %y, %z, %w}, [%quad];
NEXT:
st.global.v4.u32 [%quad+7168], {%x, %y, %z, %w};
ld.global.v4.u32 {%x, %y, %z, %w}, [%quad+7168];
st.global.v2.u32 [%pair+5120], {%x, %y};
ld.global.v2.u32 {%x, %y}, [%out+10240];
ld.global.v2.u32 {%x, %y}, [%pair+5128];
add.u32 %k, %k, 1;
setp.lt.u32 %again, %k, 20;
@%again bra LOOP;
ret;
}
)";

TEST(OwnedRows, AreThoseThatTheInterpreterTells) {
  const ptx::Module module = ptx::parse(kOwned, "owned");
  for (const SimdLevel level : {SimdLevel::avx2, SimdLevel::avx512}) {
    if (level > host_simd_level()) continue;
    const char* const name = level == SimdLevel::avx2 ? "avx2" : "avx512";
    SCOPED_TRACE(name);
    Owned interpreted(race_row_functions(name).own), compiled(race_row_functions(name).own);
    for (Owned* const owned : {&interpreted, &compiled}) {
      const MachineSettings settings{
          .level = level, .compiles = owned == &compiled, .watches = owned, .blocks = 2};
      EXPECT_EQ(run_on_machine(module, threads_of(kOwned), settings).problem, "");
    }
    EXPECT_TRUE(interpreted.seen == compiled.seen);
    EXPECT_EQ(interpreted.told, interpreted.seen.size());
    EXPECT_GT(interpreted.periods, 10u);
    EXPECT_GE(compiled.periods, interpreted.periods);
    EXPECT_LT(compiled.told, compiled.seen.size() / 2);
  }
}

}  // namespace
}  // namespace warpcheck::vgpu
