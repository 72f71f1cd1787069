#include "vgpu/check/race/checking_engine.hpp"

#include <gtest/gtest.h>

namespace warpcheck::vgpu {
namespace {

using ptx::Space;

TEST(CheckingEngine, EpochsCheckALaunchUnlessItNeedsMore) {
  CheckingEngine engine;
  EXPECT_FALSE(engine.is_running());
  EXPECT_FALSE(engine.has_general());
  engine.begin(false);
  EXPECT_TRUE(engine.is_by_epochs());
  EXPECT_TRUE(engine.has_epochs());
  EXPECT_FALSE(engine.has_general());
  EXPECT_FALSE(engine.is_general_in(Space::global));
  EXPECT_EQ(engine.launch(), 0u);
  engine.leave();
  EXPECT_FALSE(engine.has_epochs());
  engine.begin(true);
  EXPECT_FALSE(engine.has_epochs());
  EXPECT_TRUE(engine.is_general_in(Space::shared));
  EXPECT_TRUE(engine.is_general_in(Space::global));
  EXPECT_EQ(engine.launch(), 1u);
}

TEST(CheckingEngine, EpochsKeepTheSharedMemoryOfALaunchThatIsSplit) {
  CheckingEngine engine;
  engine.begin(false);
  engine.split();
  EXPECT_FALSE(engine.is_by_epochs());
  EXPECT_TRUE(engine.has_epochs());
  EXPECT_TRUE(engine.has_general());
  EXPECT_FALSE(engine.is_general_in(Space::shared));
  EXPECT_TRUE(engine.is_general_in(Space::global));
}

TEST(CheckingEngine, ALaunchGoesOnWithTheEngineThatItHad) {
  CheckingEngine engine;
  engine.begin(false);
  engine.split();
  const CheckingEngine::By split = engine.leave();
  EXPECT_FALSE(engine.is_running());
  engine.begin(true);
  EXPECT_TRUE(engine.is_running(1));
  EXPECT_FALSE(engine.is_running(0));
  const CheckingEngine::By general = engine.leave();
  engine.resume(0, split);
  EXPECT_TRUE(engine.is_running(0));
  EXPECT_FALSE(engine.is_general_in(Space::shared));
  engine.leave();
  engine.resume(1, general);
  EXPECT_TRUE(engine.is_general_in(Space::shared));
  engine.leave();
  engine.begin(false);
  EXPECT_EQ(engine.launch(), 2u);
}

TEST(CheckingEngine, AllLaunchesThatMayBeUnorderedNeedTheGeneralEngine) {
  CheckingEngine engine;
  engine.begin(false);
  EXPECT_TRUE(engine.begin_streams());
  EXPECT_FALSE(engine.begin_streams());
  EXPECT_TRUE(engine.is_by_epochs());  // to its end
  engine.leave();
  engine.begin(false);
  EXPECT_FALSE(engine.has_epochs());
  EXPECT_TRUE(engine.has_general());
}

}  // namespace
}  // namespace warpcheck::vgpu
