// Tells memory of the host's heap that nothing has written from schedules.
#include "cli/exec/host_heap.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "vgpu/cudart/testing/temporary_directory.hpp"

namespace warpcheck {
namespace {

using cudart::Arrival;

constexpr int kHeapProcess = 7;
constexpr unsigned kHeap = 254;
constexpr std::uint32_t kToDevice = 3, kToHost = 5;  // operations

// What a run copies to the device and back to the host, and what is found.
struct Program {
  std::string to_device = std::string(4, '\0'), to_host = std::string(4, '\1');
  bool overruns = false;
  std::string text = "1\n";
};

class HostHeapTest : public testing::Test {
 protected:
  ProgramRun run_of(const Program& program, const std::vector<std::uint32_t>& kept) const {
    ProgramRun run;
    static int number = 0;
    run.records_file = temporary_.path() / ("records" + std::to_string(++number));
    run.records = {{kHeapProcess, cudart::CallRecord{"cudaMemcpy", "/a/sum.cu", 12}},
                   {kHeapProcess, cudart::CallRecord{"cudaMemcpy"}},
                   {kHeapProcess, cudart::KernelRecord{"_Z3sumPi", ""}}};
    if (program.overruns) {
      vgpu::Finding finding;
      finding.kind = vgpu::FindingKind::out_of_bounds;
      finding.kernel = "sum";
      run.records.push_back({kHeapProcess, cudart::FindingRecord{0, finding, 1}});
    }
    const auto add = [&](Arrival::Kind kind, std::uint32_t operation, const std::string& bytes,
                         std::uint32_t call) {
      run.logs[kHeapProcess].arrivals.push_back(
          {kind, operation, bytes.size(), std::hash<std::string>()(bytes), 1, call});
      if (std::ranges::find(kept, operation) == kept.end()) return;
      std::ofstream(cudart::kept_bytes_path(run.records_file, kHeapProcess, kind, operation))
          << bytes;
    };
    add(Arrival::Kind::to_device, kToDevice, program.to_device, 0);
    add(Arrival::Kind::copy, kToHost, program.to_host, 1);
    return run;
  }

  // The first run of a filled heap is examined, with the schedule of run 3.
  HostHeap::Examined examine(const std::function<Program(unsigned heap, int time)>& program) {
    int times = 0;
    HostHeap heap(temporary_.path(), [&](const HostHeap::Wanted& wanted) {
      ++repeated_;
      EXPECT_EQ(wanted.run, 3);
      const Program now = program(wanted.heap, ++times);
      std::ofstream(wanted.standard_output) << now.text;
      return run_of(now, wanted.kept);
    });
    return heap.examine(3, kHeap, output_of(run_of(program(kHeap, 0), {})));
  }

  const TemporaryDirectory temporary_;
  int repeated_ = 0;
};

TEST_F(HostHeapTest, TellsTheCopyAndWhatFollowsFromIt) {
  const auto examined = examine([](unsigned heap, int) {
    Program program;
    program.to_device = std::string("ab") + std::string(4, static_cast<char>(heap));
    program.overruns = heap != 0;
    return program;
  });
  ASSERT_TRUE(examined.finding.has_value());
  const vgpu::Finding& finding = *examined.finding;
  EXPECT_EQ(finding.kind, vgpu::FindingKind::uninitialized_read);
  EXPECT_EQ(finding.severity, vgpu::Severity::error);
  EXPECT_EQ(finding.space, "host");
  EXPECT_EQ(finding.object, "at byte 2 of copy 1 to the device, by cudaMemcpy of 6 bytes");
  ASSERT_EQ(finding.accesses.size(), 1u);
  EXPECT_EQ(finding.accesses[0].role, "host copy");
  EXPECT_EQ(finding.accesses[0].file, "/a/sum.cu");
  EXPECT_EQ(finding.accesses[0].line, 12u);
  EXPECT_EQ(finding.message,
            "(1) copies memory of the host's heap that nothing has written, and this decides: "
            "filled with 0xfe, it leads to out-of-bounds in kernel sum");
  EXPECT_EQ(examined.consequences.size(), 1u);
  EXPECT_EQ(repeated_, 4);
}

TEST_F(HostHeapTest, TellsADifferentResult) {
  const auto examined = examine([](unsigned heap, int) {
    Program program;
    program.to_device = std::string(4, static_cast<char>(heap));
    if (heap != 0) program.to_host = std::string("\3\0\0\0", 4);
    return program;
  });
  ASSERT_TRUE(examined.finding.has_value());
  EXPECT_TRUE(examined.finding->message.ends_with(
      "filled with 0xfe, it leads to 0x00000003 (3), under an unfilled heap 0x01010101 (16843009) "
      "at byte 0 of copy 1 to the host, by cudaMemcpy of 4 bytes"))
      << examined.finding->message;
  EXPECT_TRUE(examined.consequences.empty());
}

// Padding, or a part of a buffer that nothing uses: it decides nothing.
TEST_F(HostHeapTest, WhatComesBackAsItWentIsNoDifference) {
  for (const bool is_printed : {false, true}) {
    const auto examined = examine([&](unsigned heap, int) {
      Program program;
      program.to_device = program.to_host =
          std::string("ab") + std::string(2, static_cast<char>(heap));
      if (is_printed) program.text = heap == 0 ? "0\n" : "254\n";
      return program;
    });
    EXPECT_EQ(examined.finding.has_value(), is_printed);
  }
}

// It holds addresses, for example; what they lead to is not shown.
TEST_F(HostHeapTest, MemoryThatWasUsedBeforeDiffersFromRunToRun) {
  const auto examined = examine([](unsigned heap, int time) {
    Program program;
    program.to_device = std::string(4, static_cast<char>(heap != 0 ? heap : 'a' + time));
    program.to_host = std::string(4, static_cast<char>(heap != 0 ? 3 : 'g' + time));
    return program;
  });
  ASSERT_TRUE(examined.finding.has_value());
  EXPECT_TRUE(
      examined.finding->message.ends_with("it leads to 0x03030303 (50529027) at byte 0 of copy 1 "
                                          "to the host, by cudaMemcpy of 4 bytes"))
      << examined.finding->message;
}

TEST_F(HostHeapTest, AnotherScheduleIsNoHeap) {
  const auto examined = examine([](unsigned, int) {
    Program program;
    program.to_host = "abcd";
    return program;
  });
  EXPECT_FALSE(examined.finding.has_value());
  EXPECT_EQ(repeated_, 1);
  EXPECT_EQ(examined.unfilled.processes.at(0).log.arrivals.size(), 2u);
}

// The program's clock is not its heap.
TEST_F(HostHeapTest, WhatDiffersUnderOneFillingIsLeftOut) {
  const auto examined = examine([](unsigned, int time) {
    Program program;
    program.to_device = program.to_host = "abc" + std::to_string(time % 10);
    program.text = std::to_string(time);
    return program;
  });
  EXPECT_FALSE(examined.finding.has_value());
  EXPECT_TRUE(examined.is_unsteady);
}

TEST(FillHeap, SetsTheTunablesOfTheCLibrary) {
  std::vector<std::string> environment{"A=1", "MALLOC_PERTURB_=3"};
  fill_heap(environment, 254);
  EXPECT_EQ(environment, (std::vector<std::string>{"A=1",
                                                   "GLIBC_TUNABLES=glibc.malloc.perturb=1:"
                                                   "glibc.malloc.tcache_count=0"}));
  environment = {"GLIBC_TUNABLES=glibc.malloc.check=1"};
  fill_heap(environment, 1);
  EXPECT_EQ(environment, (std::vector<std::string>{
                             "GLIBC_TUNABLES=glibc.malloc.check=1:glibc.malloc.perturb=254:"
                             "glibc.malloc.tcache_count=0"}));
}

}  // namespace
}  // namespace warpcheck
