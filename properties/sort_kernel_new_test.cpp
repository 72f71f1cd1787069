// Where and how a kernel is wrong that takes memory of `new` for shared memory.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "properties/run_case.hpp"

namespace warpcheck {
namespace {

// The contents of unwritten bytes on the virtual GPU.
constexpr unsigned kUnwritten = 0xa5a5a5a5;

Case heads(std::string_view pair, const std::vector<unsigned>& in, int lists,
           const Settings& settings = {}) {
  return case_of(pair, {{"in", in}, {"lists", lists}}, settings);
}

std::string kinds_found(std::string_view pair, const std::vector<unsigned>& in, int lists,
                        const Settings& settings = {}) {
  return kinds_of(run_case(heads(pair, in, lists, settings)));
}

TEST(KernelNewPublished, OnlyLeaksWithOneList) {
  for (const Settings& settings : kAllSettings) {
    EXPECT_EQ(kinds_found("kernel_new_published", {}, 1, settings), "leak");
    EXPECT_EQ(kinds_found("kernel_new_published", {3, 1, 2}, 1, settings), "leak");
  }
}

TEST(KernelNewPublished, ReadsWhatOnlyOthersWouldHaveWritten) {
  for (const Settings& settings : kAllSettings) {
    EXPECT_EQ(kinds_found("kernel_new_published", {}, 2, settings), "leak");
    EXPECT_EQ(kinds_found("kernel_new_published", {kUnwritten - 1}, 2, settings),
              "uninitialized-read, leak");
    EXPECT_EQ(kinds_found("kernel_new_published", {kUnwritten + 1}, 2, settings),
              "uninitialized-read, leak, mismatch");
  }
}

TEST(KernelNewPublished, IsExplainedAtTheLinesThatMatter) {
  const Verdict verdict = run_case(heads("kernel_new_published", {kUnwritten + 1}, 2));
  std::vector<std::string> seen;
  for (const vgpu::Finding& finding : verdict.findings) {
    std::string text(vgpu::name_of(finding.kind));
    for (const vgpu::AccessSide& side : finding.accesses) {
      text += " " + side.role + ":" + std::to_string(side.line);
      EXPECT_TRUE(side.file.empty() || side.file == "kernels/specimens/kernel_new.cu");
    }
    seen.push_back(text);
  }
  EXPECT_EQ(seen,
            (std::vector<std::string>{"uninitialized-read read:22 branch:22",
                                      "uninitialized-read read:27 branch:27",
                                      "uninitialized-read read:24 host copy:0", "leak allocate:12",
                                      "leak allocate:13", "leak allocate:14", "mismatch"}));
}

TEST(KernelNewPublished, WritesThroughNullWhenTheHeapIsFull) {
  for (const Settings& settings : kAllSettings) {
    EXPECT_EQ(kinds_found("kernel_new_published", {0}, 1022, settings), "uninitialized-read, leak");
    EXPECT_EQ(kinds_found("kernel_new_published", {0}, 1023, settings),
              "out-of-bounds, uninitialized-read, leak");
  }
}

TEST(MergeHeads, AreRightWhereTheSpecimenIsWrong) {
  for (const char* const pair : {"merge_heads_shared", "merge_heads_new"}) {
    for (const Settings& settings : kAllSettings) {
      for (const int lists : {1, 2, 33, 1024}) {
        EXPECT_EQ(kinds_found(pair, {3, kUnwritten + 1, 0xffffffff, 0}, lists, settings), "")
            << pair << ", " << lists << " lists";
      }
    }
  }
}

}  // namespace
}  // namespace warpcheck
