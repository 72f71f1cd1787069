// What machine code notes of rows in shared memory is what the interpreter tells of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "vgpu/check/race/rows/row_log.hpp"
#include "vgpu/differential/engine.hpp"
#include "vgpu/differential/random_program.hpp"

namespace warpcheck::vgpu {
namespace {

// Logs rows of words in shared memory, and which bytes are defined.
class Notes final : public Observer {
 public:
  using Noted = std::tuple<std::int32_t, std::uint32_t, std::uint32_t, std::uint32_t, bool, bool>;

  void on_access(Access& access) override {
    const bool is_row = access.kind != AccessKind::atomic && access.order == ptx::Order::weak &&
                        access.pattern != Pattern::scattered;
    if (!is_row) return;
    const unsigned lane = access.first_lane();
    const std::uint32_t step = access.pattern == Pattern::strided ? access.bytes : 0;
    tell({.allocation = access.allocation,
          .place = access.place,
          .pc = access.pc,
          .mask = access.mask,
          .first = access.offset[lane] - lane * step,
          .space = access.space,
          .kind = access.kind,
          .pattern = access.pattern,
          .bytes = access.bytes,
          .element_bytes = access.element_bytes});
  }
  bool takes_row(const RowAccess& row) override {
    if (row.pattern != Pattern::scattered) tell(row);
    return true;
  }
  bool lends_notes(std::uint32_t /*slot*/, RowNotes& notes) override {
    notes.rows = &log_.notes();
    notes.states = &noted_;
    notes.stored = kStored;
    return true;
  }
  void on_sync(const Sync& sync) override {
    if (sync.kind == Sync::Kind::kernel_start) return;
    if (sync.kind == Sync::Kind::barrier_complete && ++barriers_ == kUnsettled) {
      noted_.settled = sync.shared;
    }
    for (const RowLog::Row& row : log_.rows()) {
      seen.emplace_back(row.cell, row.pc, row.mask, row.warp, row.write, row.uniform);
      EXPECT_EQ(row.segment, 0u);
      EXPECT_EQ(row.cells_log2, 0);
    }
    logged += log_.rows().size();
    seen.insert(seen.end(), met_.begin(), met_.end());
    met_.clear();
    log_.begin(kBytes);
  }

  static constexpr std::uint32_t kBytes = 512, kUnsettled = 24;
  static constexpr std::uint8_t kStored = 0x82;
  std::vector<Noted> seen;
  std::array<std::uint8_t, kBytes> states{};
  std::size_t logged = 0, told = 0;

 private:
  // As the race checker does.
  void tell(const RowAccess& row) {
    if (row.space != ptx::Space::shared || row.bytes != 4 || row.element_bytes != 4) return;
    if (log_.take_new(row) || log_.take(row, kOrderedInThread)) {
      ++told;
    } else {
      see(row);
    }
    if (row.allocation == noted_.settled) return;
    noted_.unsettled = row.allocation;
    noted_.states = states.data();
    const std::uint32_t lanes = row.pattern == Pattern::uniform ? 1 : kWarpLanes;
    const std::span<std::uint8_t> bytes = std::span(states).subspan(row.first, lanes * 4);
    if (row.kind == AccessKind::write) {
      std::ranges::fill(bytes, kStored);
    } else if (std::ranges::count(bytes, kStored) != std::ssize(bytes)) {
      see(row);
    }
  }
  void see(const RowAccess& row) {
    met_.emplace_back(row.first, row.pc, row.mask, row.place.warp, row.kind == AccessKind::write,
                      row.pattern == Pattern::uniform);
  }

  RowLog log_;
  std::vector<Noted> met_;  // what the log has not taken, or what has read undefined bytes
  std::uint32_t barriers_ = 0;
  NotedStates noted_;
};

// Rows at all distances from each other, of words that others have read or written and of words
// that nobody has.
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

TEST(NotedRows, AreThoseThatTheInterpreterTells) {
  const ptx::Module module = ptx::parse(kRows, "rows");
  for (const SimdLevel level : {SimdLevel::avx2, SimdLevel::avx512}) {
    if (level > host_simd_level()) continue;
    Notes interpreted, compiled;
    for (Notes* const notes : {&interpreted, &compiled}) {
      const MachineSettings settings{
          .level = level, .compiles = notes == &compiled, .watches = notes};
      EXPECT_EQ(run_on_machine(module, threads_of(kRows), settings).problem, "");
    }
    EXPECT_TRUE(interpreted.seen == compiled.seen);
    EXPECT_EQ(interpreted.states, compiled.states);
    EXPECT_EQ(interpreted.logged, interpreted.told);
    EXPECT_EQ(interpreted.logged, compiled.logged);
    // Two kinds of rows in each of 24 turns of three warps are new, and few of them are told.
    EXPECT_LT(compiled.told, compiled.logged - 100);
  }
}

}  // namespace
}  // namespace warpcheck::vgpu
