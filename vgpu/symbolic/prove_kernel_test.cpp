#include "vgpu/symbolic/prove_kernel.hpp"

#include <gtest/gtest.h>
#include <z3++.h>

#include <string>
#include <vector>

namespace warpcheck::vgpu::symbolic {
namespace {

// A tree sums one value a thread in shared memory; the middle of an odd number stays.  Lines of the
// source are those of the .loc directives.
constexpr std::string_view kTree = R"(.version 8.0
.target sm_75
.address_size 64
.extern .shared .align 16 .b8 share[];
.visible .entry tree(.param .u64 in, .param .u64 out, .param .u32 n)
{
  .reg .pred %p<8>;
  .reg .b32 %r<20>;
  .reg .b64 %rd<10>;
  .loc 1 1 0
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %ctaid.x;
  mad.lo.s32 %r5, %r4, %r3, %r2;
  shl.b32 %r6, %r2, 2;
  mov.u32 %r7, share;
  add.s32 %r8, %r7, %r6;
  mov.u32 %r9, 0;
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra STORE;
  mul.wide.s32 %rd3, %r5, 4;
  add.s64 %rd4, %rd1, %rd3;
  .loc 1 2 0
  ld.global.u32 %r9, [%rd4];
STORE:
  .loc 1 3 0
  st.shared.u32 [%r8], %r9;
  setp.lt.u32 %p2, %r3, 2;
  @%p2 bra LAST;
LOOP:
  .loc 1 4 0
  bar.sync 0;
  add.s32 %r10, %r3, 1;
  shr.u32 %r11, %r10, 1;
  shr.u32 %r12, %r3, 1;
  setp.ge.u32 %p3, %r2, %r12;
  @%p3 bra NEXT;
  shl.b32 %r13, %r11, 2;
  add.s32 %r14, %r8, %r13;
  .loc 1 5 0
  ld.shared.u32 %r15, [%r14];
  ld.shared.u32 %r16, [%r8];
  add.s32 %r17, %r15, %r16;
  .loc 1 6 0
  st.shared.u32 [%r8], %r17;
NEXT:
  mov.u32 %r3, %r11;
  setp.gt.u32 %p4, %r3, 1;
  @%p4 bra LOOP;
LAST:
  setp.ne.s32 %p5, %r2, 0;
  @%p5 bra END;
  .loc 1 7 0
  ld.shared.u32 %r18, [share];
  mul.wide.u32 %rd5, %r4, 4;
  add.s64 %rd6, %rd2, %rd5;
  st.global.u32 [%rd6], %r18;
END:
  ret;
}
)";

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result(text);
  const std::size_t at = result.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return result.replace(at, from.size(), to);
}

KernelContract contract_of_tree() {
  using Kind = ParameterContract::Kind;
  const Term n = Term::name("n"), block = Term::name("blockDim.x"), grid = Term::name("gridDim.x");
  KernelContract contract;
  contract.parameters = {
      {.kind = Kind::pointer, .name = "in", .bytes = Term::constant(4) * n},
      {.kind = Kind::pointer, .name = "out", .bytes = Term::constant(4) * grid},
      {.kind = Kind::scalar, .name = "n", .range = {0, 2'147'480'000}},
  };
  contract.launch.dynamic_shared_bytes = Term::constant(4) * block;
  contract.conditions = {{grid, Condition::Relation::equal,
                          Term::of(Term::Kind::divide, n + block - Term::constant(1), block)}};
  return contract;
}

KernelProof prove(std::string_view text, const KernelContract& contract = contract_of_tree()) {
  return prove_kernel(ptx::parse(text, "tree.ptx"), "tree", contract);
}

void expect_suspected(std::string_view text, std::string_view kind, std::uint32_t line) {
  const KernelProof proof = prove(text);
  EXPECT_EQ(proof.answer, Answer::suspected) << proof.reason;
  EXPECT_EQ(proof.kind, kind);
  EXPECT_EQ(proof.location.line, line);
}

TEST(ProveKernel, ProvesATreeForEveryBlockAndSize) {
  const KernelProof proof = prove(kTree);
  EXPECT_EQ(proof.answer, Answer::proved) << proof.reason << " " << proof.location.line;
}

TEST(ProveKernel, SuspectsARaceWithoutTheBarrier) {
  expect_suspected(replaced(kTree, "bar.sync 0;", ""), "data-race", 3);
}

TEST(ProveKernel, SuspectsAnIndexThatIsOffByOne) {
  expect_suspected(replaced(kTree, "[%r14]", "[%r14+4]"), "out-of-bounds", 5);
}

TEST(ProveKernel, SuspectsARelaxedBound) {
  expect_suspected(replaced(kTree, "setp.ge.s32 %p1", "setp.gt.s32 %p1"), "out-of-bounds", 2);
}

TEST(ProveKernel, SuspectsAFoldThatRoundsTwoWays) {
  // The middle of three is read by one thread and written by another in the same round.
  expect_suspected(replaced(replaced(kTree, "shr.u32 %r12, %r3, 1", "shr.u32 %r12, %r10, 1"),
                            "shr.u32 %r11, %r10, 1", "shr.u32 %r11, %r3, 1"),
                   "data-race", 5);
}

TEST(ProveKernel, SuspectsABarrierThatNotAllThreadsMeet) {
  expect_suspected(
      replaced(kTree, "ld.global.u32 %r9, [%rd4];", "ld.global.u32 %r9, [%rd4];\n  bar.sync 0;"),
      "barrier-divergence", 2);
}

// The lower half of the threads waits, the others go through the loop.
TEST(ProveKernel, FollowsIterationsWithoutABarrier) {
  const std::string conditional =
      replaced(replaced(kTree, "bar.sync 0;", ""), ".loc 1 5 0", ".loc 1 5 0\n  bar.sync 0;");
  const KernelProof proof = prove(conditional);
  EXPECT_EQ(proof.answer, Answer::suspected);
  EXPECT_EQ(proof.kind, "data-race");
}

TEST(ProveKernel, SuspectsMisalignedAddresses) {
  expect_suspected(replaced(kTree, "mul.wide.s32 %rd3, %r5, 4", "mul.wide.s32 %rd3, %r5, 2"),
                   "misaligned-access", 2);
}

TEST(ProveKernel, SuspectsAnIndexThatWraps) {
  KernelContract contract = contract_of_tree();
  contract.parameters[2].range.high = 2'147'483'647;
  const KernelProof proof = prove(kTree, contract);
  EXPECT_EQ(proof.answer, Answer::suspected);
  EXPECT_EQ(proof.kind, "out-of-bounds");
  EXPECT_EQ(proof.location.line, 2u);
  EXPECT_GT(proof.suspect.scalars.at("n"), 2'147'482'600);
}

TEST(ProveKernel, NamesTheLineWhoseDataDecides) {
  const KernelProof proof =
      prove(replaced(kTree, "add.s32 %r17, %r15, %r16;", "add.s32 %r8, %r8, %r16;"));
  EXPECT_EQ(proof.answer, Answer::undecided);
  EXPECT_EQ(proof.location.line, 5u);
}

TEST(ProveKernel, ProvesRacesAndBarriersWhereDataDecidesABound) {
  const KernelProof bound = prove(replaced(kTree, "ld.global.u32 %r9, [%rd4];",
                                           "ld.global.u32 %r9, [%rd4];\n"
                                           "mul.wide.s32 %rd3, %r9, 4;\n"
                                           "add.s64 %rd4, %rd1, %rd3;\n"
                                           "ld.global.u32 %r9, [%rd4];"));
  EXPECT_EQ(bound.answer, Answer::undecided);
  EXPECT_EQ(bound.location.line, 2u);
  EXPECT_TRUE(bound.is_free_of_races);
  const KernelProof place =
      prove(replaced(kTree, "add.s32 %r17, %r15, %r16;", "add.s32 %r8, %r8, %r16;"));
  EXPECT_EQ(place.answer, Answer::undecided);
  EXPECT_FALSE(place.is_free_of_races);
}

TEST(ProveKernel, NamesABarrierThatThreadsLeaveBefore) {
  EXPECT_TRUE(prove(kTree).left_barriers.empty());
  const KernelProof left = prove(replaced(kTree, "END:\n",
                                          "  .loc 1 8 0\n  setp.ge.s32 %p6, %r18, 5;\n"
                                          "  @%p6 bra END;\n  bar.sync 0;\nEND:\n"));
  EXPECT_EQ(left.answer, Answer::proved) << left.reason;
  ASSERT_EQ(left.left_barriers.size(), 1u);
  EXPECT_EQ(left.left_barriers[0].line, 8u);
}

TEST(ProveKernel, DoesNotFollowNumbersThatDecideNothing) {
  const KernelProof seeded = prove(
      replaced(kTree, ".loc 1 5 0", "mad.lo.u32 %r19, %r19, 1664525, 1013904223;\n  .loc 1 5 0"));
  EXPECT_EQ(seeded.answer, Answer::proved);
  EXPECT_EQ(seeded.questions, prove(kTree).questions);
}

// Of numbers that data advances: each thread merges the two halves of its row of 2 n.
constexpr std::string_view kMerge = R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry tree(.param .u64 in, .param .u64 out, .param .u32 n)
{
  .reg .pred %p<8>;
  .reg .b32 %r<20>;
  .reg .b64 %rd<10>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  shl.b32 %r3, %r1, 1;
  mul.lo.s32 %r4, %r2, %r3;
  add.s32 %r5, %r4, %r1;
  add.s32 %r6, %r4, %r3;
  mov.u32 %r7, %r4;
  mov.u32 %r10, %r4;
  mov.u32 %r11, %r5;
LOOP:
  mul.wide.s32 %rd3, %r10, 4;
  add.s64 %rd3, %rd1, %rd3;
  mul.wide.s32 %rd4, %r11, 4;
  add.s64 %rd4, %rd1, %rd4;
  setp.ge.s32 %p1, %r10, %r5;
  @%p1 bra SECOND;
  setp.ge.s32 %p2, %r11, %r6;
  @%p2 bra FIRST;
  .loc 1 1 0
  ld.global.u32 %r12, [%rd3];
  ld.global.u32 %r13, [%rd4];
  setp.le.s32 %p3, %r12, %r13;
  @%p3 bra FIRST;
SECOND:
  .loc 1 2 0
  ld.global.u32 %r14, [%rd4];
  add.s32 %r11, %r11, 1;
  bra.uni NEXT;
FIRST:
  .loc 1 3 0
  ld.global.u32 %r14, [%rd3];
  add.s32 %r10, %r10, 1;
NEXT:
  mul.wide.s32 %rd5, %r7, 4;
  add.s64 %rd5, %rd2, %rd5;
  .loc 1 4 0
  st.global.u32 [%rd5], %r14;
  add.s32 %r7, %r7, 1;
  setp.lt.s32 %p4, %r7, %r6;
  @%p4 bra LOOP;
  ret;
}
)";

// Each thread puts the negative numbers of its row of 2 n at the begin, the others at the end.
constexpr std::string_view kPartition = R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry tree(.param .u64 in, .param .u64 out, .param .u32 n)
{
  .reg .pred %p<8>;
  .reg .b32 %r<20>;
  .reg .b64 %rd<10>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  shl.b32 %r3, %r1, 1;
  mul.lo.s32 %r4, %r2, %r3;
  mov.u32 %r5, 0;
  add.s32 %r6, %r3, -1;
  mov.u32 %r7, 0;
LOOP:
  add.s32 %r8, %r4, %r7;
  mul.wide.s32 %rd3, %r8, 4;
  add.s64 %rd3, %rd1, %rd3;
  .loc 1 1 0
  ld.global.u32 %r9, [%rd3];
  setp.lt.s32 %p1, %r9, 0;
  selp.b32 %r10, %r5, %r6, %p1;
  add.s32 %r11, %r4, %r10;
  mul.wide.s32 %rd4, %r11, 4;
  add.s64 %rd4, %rd2, %rd4;
  .loc 1 2 0
  st.global.u32 [%rd4], %r9;
  selp.b32 %r12, 1, 0, %p1;
  add.s32 %r5, %r5, %r12;
  selp.b32 %r13, 0, -1, %p1;
  add.s32 %r6, %r6, %r13;
  add.s32 %r7, %r7, 1;
  setp.lt.s32 %p2, %r7, %r3;
  @%p2 bra LOOP;
  ret;
}
)";

KernelContract contract_of_rows() {
  KernelContract contract = contract_of_tree();
  contract.parameters[0].bytes = contract.parameters[1].bytes =
      Term::constant(512) * Term::name("n");
  contract.parameters[2].range = {1, 1'000};
  contract.launch.grid[0] = {1, 1};
  contract.launch.block[0] = {64, 64};
  contract.launch.dynamic_shared_bytes = {};
  contract.conditions.clear();
  return contract;
}

TEST(ProveKernel, FollowsNumbersOfWhichDataAdvancesOne) {
  const KernelProof merge = prove(kMerge, contract_of_rows());
  EXPECT_EQ(merge.answer, Answer::proved) << merge.reason << " line " << merge.location.line;
  const KernelProof partition = prove(kPartition, contract_of_rows());
  EXPECT_EQ(partition.answer, Answer::proved)
      << partition.reason << " line " << partition.location.line;
  const std::string twice = replaced(kMerge, "add.s32 %r10, %r10, 1;", "add.s32 %r10, %r10, 2;");
  EXPECT_NE(prove(twice, contract_of_rows()).answer, Answer::proved);
  const std::string both =
      replaced(kPartition, "selp.b32 %r13, 0, -1, %p1;", "selp.b32 %r13, -2, -1, %p1;");
  EXPECT_NE(prove(both, contract_of_rows()).answer, Answer::proved);
}

TEST(ProveKernel, GivesTheSameAnswerAgain) {
  const std::string mutant = replaced(kTree, "bar.sync 0;", "");
  const KernelProof one = prove(mutant), other = prove(mutant);
  EXPECT_EQ(one.units, other.units);
  EXPECT_EQ(one.suspect.scalars, other.suspect.scalars);
}

TEST(ProveKernel, EndsAtALimitWithALine) {
  // Whatever the limit is, the answer is the proof, or a line; and again the same one.
  for (const std::uint64_t limit : {0U, 10'000U, 100'000U, 300'000U}) {
    const ptx::Module module = ptx::parse(kTree, "tree.ptx");
    const ProofLimits limits{.units_of_kernel = limit};
    const KernelProof proof = prove_kernel(module, "tree", contract_of_tree(), limits);
    EXPECT_EQ(proof.answer, Answer::undecided) << limit;
    EXPECT_EQ(proof.reason, "the solver's limit was reached there");
    EXPECT_NE(proof.location.line, 0u);
    const KernelProof again = prove_kernel(module, "tree", contract_of_tree(), limits);
    EXPECT_EQ(again.location.line, proof.location.line);
    EXPECT_EQ(again.units, proof.units);
  }
}

TEST(ProveKernel, WritesItsQuestionsInALanguageOfSolvers) {
  // Another solver's instance answers each as it was answered.
  std::vector<std::string> questions;
  ProofLimits limits;
  limits.on_question = [&](const std::string& question) { questions.push_back(question); };
  const ptx::Module module = ptx::parse(replaced(kTree, "bar.sync 0;", ""), "tree.ptx");
  const KernelProof proof = prove_kernel(module, "tree", contract_of_tree(), limits);
  ASSERT_EQ(questions.size(), proof.questions);
  ASSERT_GT(questions.size(), 20u);
  std::size_t sat = 0, unsat = 0;
  for (const std::string& question : questions) {
    if (question.find("(set-info :status unknown)") != std::string::npos) continue;
    const bool is_sat = question.find("(set-info :status sat)") != std::string::npos;
    z3::context context;
    z3::solver solver(context);
    solver.from_string(question.c_str());
    EXPECT_EQ(solver.check(), is_sat ? z3::sat : z3::unsat) << question;
    ++(is_sat ? sat : unsat);
  }
  EXPECT_GT(sat, 0u);
  EXPECT_GT(unsat, 0u);
}

TEST(ProveKernel, RefusesAContractOfOtherParameters) {
  KernelContract contract = contract_of_tree();
  contract.parameters.pop_back();
  EXPECT_THROW(static_cast<void>(prove(kTree, contract)), std::invalid_argument);
}

TEST(Term, IsWrittenAsInC) {
  const Term n = Term::name("n");
  EXPECT_EQ(text_of(Term::constant(4) * (n + Term::constant(1))), "4 * (n + 1)");
}

}  // namespace
}  // namespace warpcheck::vgpu::symbolic
