// The checker that docs/develop/adding-a-checker.md builds overrides on_rows() alone.  It sees
// every access, interpreted and in machine code, also beside suspended launches.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <vector>

#include "vgpu/check/checker.hpp"
#include "vgpu/check/checkers.hpp"
#include "vgpu/machine/link.hpp"
#include "vgpu/machine/machine.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/ptx/module.hpp"
#include "vgpu/schedule/default_policy.hpp"

namespace warpcheck::vgpu {
namespace {
#include "line_counter_of_docs.hpp"
}  // namespace
}  // namespace warpcheck::vgpu

namespace warpcheck::cudart {
namespace {

constexpr std::uint32_t kBlocks = 50, kThreads = 48, kRounds = 20;

// Each thread makes three accesses in a round, and one afterwards; every second thread makes one
// more in a round.
constexpr const char* kProgram = R"(
.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %p<4>;
.reg .b32 %r<20>;
.reg .b64 %rd<9>;
.shared .align 4 .b8 cells[256];
ld.param.u64 %rd1, [out];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
mad.lo.u32 %r3, %r2, 48, %r1;
mul.wide.u32 %rd2, %r3, 4;
add.s64 %rd3, %rd1, %rd2;
mov.u32 %r4, cells;
mad.lo.u32 %r5, %r1, 4, %r4;
xor.b32 %r6, %r1, 5;
mad.lo.u32 %r6, %r6, 4, %r4;
and.b32 %r7, %r1, 1;
setp.eq.u32 %p1, %r7, 0;
mov.u32 %r8, 0;
LOOP:
st.shared.u32 [%r5], %r8;
bar.sync 0;
ld.shared.u32 %r9, [%r6];
ld.shared.u32 %r10, [%r4];
@%p1 ld.shared.u32 %r9, [%r5];
bar.sync 0;
add.u32 %r8, %r8, 1;
setp.lt.u32 %p2, %r8, 20;
@%p2 bra LOOP;
st.global.u32 [%rd3], %r9;
ret;
}
)";
constexpr std::uint64_t kAccesses =
    std::uint64_t{kBlocks} * (kThreads * (3 * kRounds + 1) + kThreads / 2 * kRounds);

TEST(CheckerOfDocs, SeesEveryAccess) {
  vgpu::Program program = vgpu::decode(ptx::parse(kProgram, "test.ptx"), "k");
  vgpu::link(program);
  for (const vgpu::Compile compile : {vgpu::Compile::never, vgpu::Compile::at_once}) {
    vgpu::DeviceMemory memory;
    vgpu::Machine machine{memory};
    vgpu::Checkers checkers{vgpu::CheckerSet{}, vgpu::WarpModel::independent};
    EXPECT_TRUE(checkers.may_be_split()) << "without the one of the page";
    vgpu::Reporter reporter;
    vgpu::LineCounter lines{reporter};
    EXPECT_FALSE(lines.may_be_split()) << "one machine must run the launch";
    std::vector<vgpu::Observer*> observers(checkers.observers().begin(),
                                           checkers.observers().end());
    observers.push_back(&lines);
    const auto counted = [&] {
      return std::accumulate(lines.counts().begin(), lines.counts().end(), std::uint64_t{0},
                             [](std::uint64_t sum, const auto& line) { return sum + line.second; });
    };
    vgpu::Allocation* const out = memory.allocate(4 * kBlocks * kThreads);
    for (vgpu::Observer* const observer : checkers.observers()) observer->on_allocate(*out);
    vgpu::Launch launch;
    launch.program = &program;
    launch.grid = {kBlocks, 1, 1};
    launch.block = {kThreads, 1, 1};
    launch.parameters = std::as_bytes(std::span(&out->address, 1));
    const vgpu::Limits limits{.steps_max = vgpu::kNoLimit, .compile = compile};
    vgpu::DefaultPolicy policy;
    const std::uint32_t suspended = 1;
    for (std::uint64_t launches = 1; launches <= 3; ++launches) {
      launch.index = static_cast<std::uint32_t>(launches);
      if (launches == 2) lines.begins_beside({&suspended, 1});
      EXPECT_EQ(machine.run(launch, vgpu::WarpModel::independent, policy, observers, limits).end,
                vgpu::Outcome::End::completed);
      if (launches == 2) lines.resumes({.launch = suspended, .known = {}});
      EXPECT_EQ(counted(), launches * kAccesses);
    }
    EXPECT_TRUE(checkers.findings().empty());
  }
}

}  // namespace
}  // namespace warpcheck::cudart
