#include "vgpu/check/race/one_statement.hpp"

#include "vgpu/check/race/race_finding.hpp"
#include "vgpu/check/race/race_lack.hpp"
#include "vgpu/check/race/stored_bytes.hpp"

namespace warpcheck::vgpu {
namespace {

bool store_the_same(const Access& store, unsigned a, unsigned b) {
  for (std::uint32_t i = 0; i < store.bytes; ++i) {
    if (stored_byte(store, a, i) != stored_byte(store, b, i)) return false;
  }
  return true;
}

}  // namespace

void check_one_statement(const Access& store, Reporter& reporter) {
  if (store.values[0] == nullptr || store.pattern == Pattern::strided) return;
  for (unsigned lane = 1; lane < kWarpLanes; ++lane) {
    if ((store.mask >> lane & 1) == 0) continue;
    // All lanes store as many bytes, to a multiple of them.
    const unsigned earlier = lane_that_stores_before(store, lane, 0);
    if (earlier == kWarpLanes || store_the_same(store, earlier, lane)) continue;
    const Program& program = *store.program;
    const RacingAccess one{store.pc, store.kind};
    reporter.report(key_of_race(program, one, one, Weight::race), Relation::lanes, [&] {
      return race_finding(
          reporter, store, lane, Weight::race,
          reporter.side(role_at(program, store.pc, store.kind), program, store.pc,
                        thread_of(store.place, earlier)),
          {Lack::unknown, "lanes of one warp execute this store at once, in no order"});
    });
    return;
  }
}

}  // namespace warpcheck::vgpu
