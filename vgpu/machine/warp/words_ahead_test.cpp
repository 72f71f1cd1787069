// The information that strategies receive about accesses before they are made.
#include <set>

#include "vgpu/machine/sync/sync_testing.hpp"

namespace warpcheck::vgpu {
namespace {

// A strategy that asks for all information, and makes no decisions.
class Listener final : public Strategy {
 public:
  struct Told {
    WarpId warp;
    AccessedWords of;
    std::vector<std::uint64_t> words;
    std::vector<std::uint8_t> lanes;
  };

  std::uint64_t next_access(std::uint32_t, WarpId, std::uint64_t from) override { return from; }
  [[nodiscard]] bool sees_words() const override { return true; }
  std::optional<Choice> decide(const SchedulePoint& point) override {
    Told& told = all.emplace_back();
    told.warp = point.at;
    if (point.accessed == nullptr) return std::nullopt;
    told.of = *point.accessed;
    told.words.assign(point.accessed->words.begin(), point.accessed->words.end());
    told.lanes.assign(point.accessed->lanes.begin(), point.accessed->lanes.end());
    return std::nullopt;
  }

  std::vector<Told> all;
};

class WordsOfAccesses : public SyncTest {
 protected:
  // Returns what the strategy is told about the accesses, in their order.
  std::vector<Listener::Told> told(const std::string& body, std::uint32_t blocks,
                                   std::uint32_t threads) {
    compile(body, ".shared .align 4 .b8 s[16];\n");
    Listener listener;
    run({blocks, 1, 1}, {threads, 1, 1}, listener);
    return listener.all;
  }
};

TEST_F(WordsOfAccesses, NameTheLanesAndWhatTheyDo) {
  const auto all = told(
      "ld.global.u32 %r2, [%rd2]; st.global.u32 [%rd1], %r2; atom.global.exch.b32 %r3, [%rd1], 1;\n"
      "red.global.add.u32 [%rd1], 1;",
      1, 3);
  ASSERT_EQ(all.size(), 4U);
  const std::uint64_t first = all[1].words.at(0);
  EXPECT_EQ(all[0].words, (std::vector{first, first + 1, first + 2}));
  EXPECT_EQ(all[0].lanes, (std::vector<std::uint8_t>{0, 1, 2}));
  EXPECT_EQ(all[1].words, std::vector{first});
  EXPECT_EQ(all[3].words, std::vector{first});
  std::set<std::uint64_t> sites;
  const bool expected[4][3]{
      {true, false, false}, {false, true, false}, {true, true, false}, {true, true, true}};
  for (std::size_t i = 0; i < 4; ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(all[i].of.reads, expected[i][0]);
    EXPECT_EQ(all[i].of.writes, expected[i][1]);
    EXPECT_EQ(all[i].of.commutes, expected[i][2]);
    sites.insert(all[i].of.site);
  }
  EXPECT_EQ(sites.size(), 4U);
}

// Each block has its own shared memory, and phases; a generic address denotes the same word.
TEST_F(WordsOfAccesses, SharedMemoryIsOfABlock) {
  const auto all = told(
      "mov.u32 %r2, 1; st.shared.u32 [s], %r2; bar.sync 0;\n"
      "mov.u64 %rd4, s; cvta.shared.u64 %rd4, %rd4; ld.u32 %r3, [%rd4];",
      2, 1);
  ASSERT_EQ(all.size(), 4U);
  for (std::size_t i : {0U, 2U}) {
    EXPECT_EQ(all[i].words, all[i + 1].words);
    EXPECT_EQ(all[i].of.phase, 0U);
    EXPECT_EQ(all[i + 1].of.phase, 1U);
    EXPECT_EQ(all[i].of.site, all[0].of.site);
  }
  EXPECT_NE(all[0].words, all[2].words);
}

}  // namespace
}  // namespace warpcheck::vgpu
