// Launches with weak memory between others of the same program: data that the machine keeps for a
// program from launch to launch belongs to launches without weak memory.
#include <vector>

#include "vgpu/check/weak/write_histories.hpp"
#include "vgpu/machine/sync/sync_testing.hpp"
#include "vgpu/schedule/strategies.hpp"

namespace warpcheck::vgpu {
namespace {

// An observer that receives every access as a whole.
struct SharedReads final : Observer {
  void on_access(const Access& access) override {
    const bool is_shared_read = access.space == ptx::Space::shared;
    if (is_shared_read) bytes.push_back(access.bytes);
  }
  std::vector<std::uint8_t> bytes;
};

class WeakLaunchesTest : public SyncTest {
 protected:
  std::vector<std::uint8_t> shared_reads(std::string_view strategy_name) {
    const std::unique_ptr<Strategy> strategy = make_strategy(strategy_name, 1);
    const Allocation* const out = memory_.allocate(1024);
    const std::uint64_t address = out->address;
    Launch launch;
    launch.program = &program_;
    launch.grid = {2};
    launch.block = {32};
    launch.parameters = std::as_bytes(std::span(&address, 1));
    SharedReads reads;
    WriteHistories histories(WarpModel::independent);
    std::vector<Observer*> observers{&reads};
    if (strategy->chooses_past(0)) {
      launch.weak_memory = &histories;
      observers.push_back(&histories);
    }
    machine_.run(launch, WarpModel::independent, *strategy, observers, limits_);
    return reads.bytes;
  }
};

TEST_F(WeakLaunchesTest, MachineCodeTellsAccessesAsBefore) {
  compile(
      "ld.shared.u32 %r5, [s+4];\nst.relaxed.gpu.global.u32 [%rd1], %r5;\n"
      "ld.relaxed.gpu.global.u32 %r6, [%rd1];",
      ".shared .b32 s[64];\n");
  limits_.compile = Compile::at_once;
  ASSERT_TRUE(WriteHistories::concern(program_));
  for (const char* const name : {"default", "default", "weak_memory", "default", "default"}) {
    EXPECT_EQ(shared_reads(name), (std::vector<std::uint8_t>{4, 4})) << name;
  }
}

}  // namespace
}  // namespace warpcheck::vgpu
