// How orders are taken away, and mutants made, of single instructions.
#include "harness/orders/order_changes.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/orders/mutants.hpp"

namespace warpcheck {
namespace {

ptx::Module module_of(const std::string& body) {
  return ptx::parse(
      ".version 9.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 p) {\n"
      ".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<3>;\n"
      ".shared .align 8 .b64 object;\n" +
          body + "\nret;\n}\n",
      "test");
}

// "kind: change: text", of the first instruction.
std::vector<std::string> changes_of(const std::string& instruction) {
  ptx::Module module = module_of(instruction);
  const ptx::Function& function = module.functions.front();
  std::vector<std::string> lines;
  for (const OrderChange& one : order_changes(function, function.body.front())) {
    lines.push_back(std::string(name_of(one.kind)) + ": " + one.change + ": " + one.text);
    // The machine accepts what results.
    ptx::Edits edits{{.kind = one.edit, .place = ptx::InstructionPlace{"k", 0}, .text = one.text}};
    ptx::Module changed = module_of(instruction);
    EXPECT_EQ(ptx::apply_edits(changed, edits), 1U) << lines.back();
  }
  return lines;
}

using ChangeLines = std::vector<std::string>;

TEST(OrderChanges, RemoveBarriersWaitsAndFences) {
  EXPECT_EQ(changes_of("bar.sync 0;"), (ChangeLines{"block-barrier: removed: "}));
  EXPECT_EQ(changes_of("barrier.sync.aligned 1, 64;"), (ChangeLines{"block-barrier: removed: "}));
  EXPECT_EQ(changes_of("bar.warp.sync -1;"), (ChangeLines{"warp-barrier: removed: "}));
  EXPECT_EQ(changes_of("barrier.cluster.arrive.aligned;"),
            (ChangeLines{"cluster-barrier: removed: "}));
  EXPECT_EQ(changes_of("cp.async.wait_group 1;"), (ChangeLines{"copy-wait: removed: "}));
  EXPECT_EQ(changes_of("griddepcontrol.wait;"), (ChangeLines{"grid-wait: removed: "}));
  EXPECT_EQ(changes_of("mbarrier.try_wait.parity.shared.b64 %p1, [object], 0;"),
            (ChangeLines{"phase-wait: removed: setp.eq.u32 %p1, 0, 0;"}));
  EXPECT_EQ(changes_of("membar.gl;"), (ChangeLines{"fence: removed: ", "scope: .cta: membar.cta"}));
  EXPECT_EQ(changes_of("fence.acq_rel.gpu;"),
            (ChangeLines{"fence: removed: ", "scope: .cta: fence.acq_rel.cta"}));
  EXPECT_EQ(changes_of("membar.cta;"), (ChangeLines{"fence: removed: "}));
  EXPECT_EQ(changes_of("bar.red.popc.u32 %r1, 0, %p1;"), ChangeLines{});
}

TEST(OrderChanges, WeakenAccesses) {
  EXPECT_EQ(changes_of("ld.volatile.global.u32 %r1, [%rd1];"),
            (ChangeLines{"volatile-access: weak: ld.global.u32"}));
  EXPECT_EQ(changes_of("ld.acquire.gpu.global.u32 %r1, [%rd1];"),
            (ChangeLines{"memory-order: relaxed: ld.relaxed.gpu.global.u32",
                         "scope: .cta: ld.acquire.cta.global.u32"}));
  EXPECT_EQ(changes_of("st.relaxed.sys.u32 [%rd1], %r1;"),
            (ChangeLines{"strong-access: weak: st.u32", "scope: .cta: st.relaxed.cta.u32"}));
  EXPECT_EQ(changes_of("atom.global.add.u32 %r1, [%rd1], 1;"),
            (ChangeLines{"scope: .cta: atom.relaxed.cta.global.add.u32"}));
  EXPECT_EQ(changes_of("atom.acq_rel.gpu.global.exch.b32 %r1, [%rd1], 1;"),
            (ChangeLines{"memory-order: relaxed: atom.relaxed.gpu.global.exch.b32",
                         "scope: .cta: atom.acq_rel.cta.global.exch.b32"}));
  EXPECT_EQ(changes_of("atom.shared.add.u32 %r1, [%r2], 1;"), ChangeLines{});
  EXPECT_EQ(changes_of("ld.global.u32 %r1, [%rd1];"), ChangeLines{});
}

TEST(OrderChanges, BarrierBesideAnother) {
  const ptx::Module module = module_of(
      "bar.sync 0;\n"                 // 0
      "add.s32 %r1, %r2, 1;\n"        // 1
      "bar.sync 0;\n"                 // 2
      "ld.global.u32 %r1, [%rd1];\n"  // 3
      "bar.sync 0;\n"                 // 4
      "st.global.u32 [%rd1], %r1;\n"  // 5
      "bar.sync 1;\n"                 // 6
      "bar.sync 0;\n"                 // 7
      "LOOP: bar.sync 0;\n"           // 8
      "@%p1 bra LOOP;\n"              // 9
      "bar.sync 0, 64;\n"             // 10
      "bar.sync 0;");                 // 11
  const ptx::Function& function = module.functions.front();
  std::vector<std::uint32_t> beside;
  for (const std::uint32_t at : {0U, 2U, 4U, 6U, 7U, 8U, 10U, 11U})
    beside.push_back(barrier_beside(function, at));
  constexpr std::uint32_t kNo = ptx::kNone;
  EXPECT_EQ(beside, (std::vector<std::uint32_t>{2, 0, kNo, kNo, kNo, kNo, kNo, kNo}));
}

// "kind: change", each of which the machine accepts.
std::vector<std::string> mutants_of(const std::string& instruction) {
  const ptx::Module module = module_of(instruction);
  const ptx::Function& function = module.functions.front();
  std::vector<std::string> lines;
  for (const InstructionMutation& one : mutations_of(function, function.body.front())) {
    lines.push_back(std::string(name_of(one.kind)) + ": " + one.change);
    ptx::Edits edits{{.kind = one.edit, .place = ptx::InstructionPlace{"k", 0}, .text = one.text}};
    ptx::Module changed = module_of(instruction);
    EXPECT_EQ(ptx::apply_edits(changed, edits), 1U) << lines.back();
  }
  return lines;
}

TEST(Mutations, ShiftBoundsAndIndicesAndSplitAtomics) {
  EXPECT_EQ(mutants_of("setp.lt.s32 %p1, %r1, 32;"),
            (ChangeLines{"comparison: setp.lt.s32 made setp.le.s32",
                         "constant: setp.lt.s32 with 32 made 33",
                         "constant: setp.lt.s32 with 32 made 31"}));
  EXPECT_EQ(mutants_of("setp.eq.s32 %p1, %r1, %r2;"), ChangeLines{});
  EXPECT_EQ(mutants_of("setp.lt.f32 %p1, %f1, %f2;"), ChangeLines{});
  EXPECT_EQ(mutants_of("@!%p1 ld.global.v2.u32 {%r1, %r2}, [%rd1+8];"),
            (ChangeLines{"index: ld.global.v2.u32 at an index one more",
                         "index: ld.global.v2.u32 at an index one less"}));
  EXPECT_EQ(mutants_of("ld.param.u64 %rd1, [p];"), ChangeLines{});
  EXPECT_EQ(mutants_of("atom.global.add.f32 %f1, [%rd1], %f2;"),
            (ChangeLines{"atomic: atom.global.add.f32 made a load and a store"}));
  EXPECT_EQ(mutants_of("@%p1 red.shared.max.s32 [%r1], %r2;"),
            (ChangeLines{"atomic: red.shared.max.s32 made a load and a store"}));
  EXPECT_EQ(mutants_of("atom.global.exch.b32 %r1, [%rd1], %r2;"), ChangeLines{});
}

TEST(Mutations, StatementIsTheInstruction) {
  const ptx::Module module = module_of("@%p1 st.shared.f32 [%r1+-4], 0f3F800000;");
  const ptx::Function& function = module.functions.front();
  EXPECT_EQ(statement_of(function, function.body.front()),
            "@%p1 st.shared.f32 [%r1-4], 0f3F800000;");
}

}  // namespace
}  // namespace warpcheck
