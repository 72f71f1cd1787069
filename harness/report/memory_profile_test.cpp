#include "harness/report/memory_profile.hpp"

#include <gtest/gtest.h>

#include "harness/input/json.hpp"

namespace warpcheck {
namespace {

vgpu::CountedInstr instr(std::uint32_t place, std::uint32_t line,
                         const vgpu::MemoryCounts& counts) {
  return {"_Z1kPi", "a.cu", line, place, "st.global.u32", counts};
}

MemoryProfile profile_of(const std::vector<vgpu::CountedInstr>& instrs) {
  return memory_profile(instrs, [](const std::string& file) { return "/nowhere/" + file; });
}

const vgpu::MemoryCounts kStore{
    .executions = 10, .lanes = 320, .requests = 10, .sectors = 320, .ideal_sectors = 40};
const vgpu::MemoryCounts kLoad{.executions = 20,
                               .lanes = 320,
                               .shared_requests = 20,
                               .wavefronts = 640,
                               .ideal_wavefronts = 20};

TEST(MemoryProfile, LinesThatLoseMostComeFirst) {
  const MemoryProfile profile =
      profile_of({instr(0, 7, {.executions = 1, .lanes = 32}), instr(1, 8, kStore),
                  instr(2, 9, kLoad), instr(3, 8, {.executions = 4, .lanes = 128})});
  ASSERT_EQ(profile.lines.size(), 3u);
  EXPECT_EQ(profile.lines[0].line, 9u);
  EXPECT_EQ(profile.lines[0].lost(), 620u);
  EXPECT_EQ(profile.lines[1].line, 8u);
  EXPECT_EQ(profile.lines[1].lost(), 280u);
  EXPECT_EQ(profile.lines[1].instrs.size(), 2u);
  EXPECT_EQ(profile.lines[1].total.executions, 10u);  // of the busiest instruction
  EXPECT_FALSE(profile.lines[2].has_costs());
}

TEST(MemoryProfile, ASentenceSaysWhatALineLoses) {
  const MemoryProfile profile = profile_of({instr(1, 8, kStore), instr(2, 9, kLoad)});
  SourceFiles files;
  EXPECT_EQ(profile_text(profile, files, 20),
            "/nowhere/a.cu:9\n"
            "  executed 20 times with 16 of 32 lanes\n"
            "  31 of 32 wavefronts of an access of shared memory are bank conflicts (620 of 640)\n"
            "/nowhere/a.cu:8\n"
            "  executed 10 times with 32 of 32 lanes\n"
            "  28 of 32 sectors of a request wasted (280 of 320)\n");
  EXPECT_EQ(profile_text(profile, files, 1),
            "/nowhere/a.cu:9\n"
            "  executed 20 times with 16 of 32 lanes\n"
            "  31 of 32 wavefronts of an access of shared memory are bank conflicts (620 of 640)\n"
            "1 line more, which lose less\n");
}

// Of an unrolled loop, or a function that is inlined twice, the other counts are sums.
TEST(MemoryProfile, CopiesOfALineAreNotAddedUp) {
  const MemoryProfile profile = profile_of({instr(1, 8, kStore), instr(2, 8, kStore)});
  SourceFiles files;
  EXPECT_EQ(profile_text(profile, files, 20),
            "/nowhere/a.cu:8\n"
            "  its busiest instruction is executed 10 times with 32 of 32 lanes\n"
            "  28 of 32 sectors of a request wasted (560 of 640)\n");
}

TEST(MemoryProfile, SentencesOfOtherCounts) {
  using Sentences = std::vector<std::string>;
  EXPECT_EQ(profile_sentences({.requests = 2, .sectors = 2, .ideal_sectors = 2}),
            Sentences{"1 sector of a request: none wasted"});
  EXPECT_EQ(profile_sentences({.requests = 2, .sectors = 9, .ideal_sectors = 8}),
            Sentences{"0.5 of 4.5 sectors of a request wasted (1 of 9)"});
  EXPECT_EQ(profile_sentences({.shared_requests = 3, .wavefronts = 3, .ideal_wavefronts = 3}),
            Sentences{"1 wavefront of an access of shared memory: no bank conflicts"});
  EXPECT_EQ(
      profile_sentences({.divergences = 1, .contended = 31, .local_bytes = 8, .local_sectors = 1}),
      (Sentences{"31 lanes of atomics wait for another lane at the same address",
                 "lanes part at 1 execution", "8 bytes of local memory in 1 sector"}));
  EXPECT_TRUE(profile_sentences({.executions = 7, .lanes = 7}).empty());
}

TEST(MemoryProfile, JsonHasTheLinesAndTheirInstructions) {
  const Json json = profile_json(profile_of({instr(1, 8, kStore)}));
  EXPECT_EQ(json.at("schema"), "warpcheck-profile/1");
  const Json& line = json.at("lines").at(0);
  EXPECT_EQ(line.at("file"), "/nowhere/a.cu");
  EXPECT_EQ(line.at("counts").at("excess_sectors"), 280);
  EXPECT_EQ(line.at("instructions").at(0).at("place"), 1);
  EXPECT_EQ(line.at("instructions").at(0).at("counts").at("sectors"), 320);
}

}  // namespace
}  // namespace warpcheck
