#include "vgpu/program/flow/passing_edges.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <string>

namespace warpcheck::vgpu {
namespace {

// Returns the edges, each as "its instruction>what it leads to: marks"; a mark is the number of its
// region, with ' for one of a loop, and what is done, or where that is decided: with ? if it counts
// even if nothing is done, with ?? if not.
std::string edges_of(const std::string& body, const std::string& functions = "") {
  const Program program = decode(
      ptx::parse(".version 8.0\n.target sm_80\n.address_size 64\n.shared .align 4 .b8 s[256];\n" +
                     functions + ".visible .entry k()\n{\n.reg .pred %p<8>;\n.reg .b32 %r<16>;\n" +
                     body + "ret;\n}\n",
                 "test.ptx"),
      "k");
  const auto edges = find_passing_edges(program);
  if (edges == nullptr) return "";
  std::string found;
  for (const PassingEdges::Edge& edge : edges->edges) {
    found +=
        fmt::format("{}>{}:", program.source_of(edge.from).text, program.source_of(edge.to).text);
    for (const PassingEdges::Mark& mark : edge.marks) {
      found += fmt::format(" {}{}{}{}", mark.enters ? "" : "then ", mark.region,
                           edges->is_of_loop[mark.region] ? "' " : " ",
                           program.source_of(mark.place).text);
      if (!mark.acts) found += mark.matters ? "?" : "??";
    }
    found += "; ";
  }
  return found;
}

constexpr const char* kOdd = "mov.u32 %r1, %tid.x;\nsetp.gt.u32 %p1, %r1, 5;\n";

TEST(PassingEdges, LeadBehindABarrierInABranch) {
  EXPECT_EQ(
      edges_of(std::string(kOdd) +
               "@%p1 bra L;\nbar.sync 0;\nL:\nadd.u32 %r2, %r1, 1;\nst.shared.u32 [s], %r2;\n"),
      "bra>add.u32: 0 st.shared.u32; ");
}

TEST(PassingEdges, AreNoneWhereAllComeToTheBarrier) {
  EXPECT_EQ(edges_of("mov.u32 %r1, %tid.x;\nbar.sync 0;\nst.shared.u32 [s], %r1;\n"), "");
}

TEST(PassingEdges, AreNoneIfNothingIsDoneBehindTheBarrier) {
  EXPECT_EQ(edges_of(std::string(kOdd) +
                     "@%p1 bra L;\nst.shared.u32 [s], 1;\nbar.sync 0;\nst.shared.u32 [s], 2;\nL:\n"
                     "add.u32 %r2, %r1, 1;\n"),
            "");
}

TEST(PassingEdges, LeadWhereSomethingMayBeDone) {
  EXPECT_EQ(edges_of(std::string(kOdd) +
                     "@%p1 bra L;\nbar.sync 0;\nL:\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra E;\n"
                     "st.shared.u32 [s], 1;\nE:\n"),
            "bra>setp.eq.u32: 0 bra?; bra>st.shared.u32: then 0 st.shared.u32; ");
}

TEST(PassingEdges, SkipABarrierByItsGuard) {
  EXPECT_EQ(edges_of(std::string(kOdd) +
                     "@%p1 bar.sync 0;\nadd.u32 %r2, %r1, 1;\nst.shared.u32 [s], %r2;\n"),
            "bar.sync>add.u32: 0 st.shared.u32; ");
}

// What is done beside the barrier is not behind it.
TEST(PassingEdges, BeginWithTheOtherBranch) {
  EXPECT_EQ(edges_of(std::string(kOdd) +
                     "@%p1 bra L;\nbar.sync 0;\nbra J;\nL:\nst.shared.u32 [s], 1;\nJ:\n"
                     "atom.shared.add.u32 %r2, [s], 1;\n"),
            "bra>st.shared.u32: 0 atom.shared.add.u32; ");
}

TEST(PassingEdges, LeaveTheLoopOfABarrier) {
  EXPECT_EQ(edges_of("mov.u32 %r1, %tid.x;\nL:\nbar.sync 0;\nsub.u32 %r1, %r1, 1;\n"
                     "setp.gt.u32 %p1, %r1, 0;\n@%p1 bra L;\nst.shared.u32 [s], 1;\n"),
            "bra>st.shared.u32: 0 st.shared.u32; ");
}

TEST(PassingEdges, SkipABarrierInAnIteration) {
  EXPECT_EQ(edges_of("mov.u32 %r1, %tid.x;\nL:\nld.shared.u32 %r2, [s];\nsetp.gt.u32 %p2, %r2, 3;\n"
                     "@%p2 bra N;\nbar.sync 0;\nN:\nsub.u32 %r1, %r1, 1;\n"
                     "setp.gt.u32 %p1, %r1, 0;\n@%p1 bra L;\n"),
            "bra>sub.u32: 0' bra??; bra>ld.shared.u32: then 0' ld.shared.u32; ");
}

TEST(PassingEdges, AreNoneInALoopThatAllLeaveWithNothingToDo) {
  EXPECT_EQ(edges_of("mov.u32 %r1, %tid.x;\nL:\nst.shared.u32 [s], 1;\nbar.sync 0;\n"
                     "sub.u32 %r1, %r1, 1;\nsetp.gt.u32 %p1, %r1, 0;\n@%p1 bra L;\n"),
            "");
}

TEST(PassingEdges, GoThroughCalls) {
  EXPECT_EQ(edges_of(std::string(kOdd) + "@%p1 bra L;\ncall f;\nL:\nst.shared.u32 [s], 1;\n",
                     ".func f()\n{\nbar.sync 0;\nret;\n}\n"),
            "bra>st.shared.u32: 0 st.shared.u32; ");
}

TEST(PassingEdges, EndRecursion) {
  EXPECT_EQ(edges_of("mov.u32 %r1, %tid.x;\n.param .b32 p0;\nst.param.b32 [p0], %r1;\n"
                     "call f, (p0);\nst.shared.u32 [s], 1;\n",
                     ".func f(.param .b32 d)\n{\n.reg .b32 %r<4>;\n.reg .pred %p<2>;\n"
                     ".param .b32 p0;\nld.param.u32 %r1, [d];\nsetp.eq.u32 %p1, %r1, 0;\n"
                     "@%p1 bra E;\nbar.sync 0;\nsub.u32 %r2, %r1, 1;\nst.param.b32 [p0], %r2;\n"
                     "call f, (p0);\nE:\nret;\n}\n"),
            "bra>ret: 0 ret??; ret>st.shared.u32: then 0 st.shared.u32; ");
}

}  // namespace
}  // namespace warpcheck::vgpu
