#include "vgpu/cudart/device/visible_devices.hpp"

#include <gtest/gtest.h>

namespace warpcheck::cudart {
namespace {

using Numbers = std::vector<unsigned>;

Numbers seen(const char* list, unsigned count = 3) {
  const VisibleDevices visible = visible_devices(list, count);
  EXPECT_EQ(visible.error, visible.numbers.empty() ? cudaErrorNoDevice : cudaSuccess) << list;
  return visible.numbers;
}

TEST(VisibleDevices, AreAllWithoutAList) { EXPECT_EQ(seen(nullptr), (Numbers{0, 1, 2})); }

TEST(VisibleDevices, HaveTheOrderOfTheList) {
  EXPECT_EQ(seen("2,0"), (Numbers{2, 0}));
  EXPECT_EQ(seen("1"), Numbers{1});
}

TEST(VisibleDevices, EndAtTheFirstInvalidEntry) {
  EXPECT_EQ(seen("0,2,-1,1"), (Numbers{0, 2}));
  EXPECT_EQ(seen("0,3,1"), Numbers{0});
  EXPECT_EQ(seen("0,,1"), Numbers{0});
  EXPECT_EQ(seen("0,gpu,1"), Numbers{0});
  for (const char* const none :
       {"", "-1", "3", "gpu", ",1", " ", "NoDevFiles", "MIG-1", "99999999999999999999"}) {
    EXPECT_EQ(seen(none), Numbers{}) << none;
  }
}

TEST(VisibleDevices, AreReadAsNumbersInCAre) {
  EXPECT_EQ(seen(" 1"), Numbers{1});
  EXPECT_EQ(seen("1 , 0"), (Numbers{1, 0}));
  EXPECT_EQ(seen("+1,02x"), (Numbers{1, 2}));
  EXPECT_EQ(seen("1gpu,0x2"), (Numbers{1, 0}));
  EXPECT_EQ(seen("1.5"), Numbers{1});
  EXPECT_EQ(seen("4294967297"), Numbers{1});
}

TEST(VisibleDevices, ThatAreListedTwiceMakeCallsFail) {
  for (const char* const list : {"0,0", "0,1,0", "0,-0"}) {
    EXPECT_EQ(visible_devices(list, 3).error, cudaErrorInvalidDevice) << list;
    EXPECT_TRUE(visible_devices(list, 3).numbers.empty()) << list;
  }
  EXPECT_EQ(seen("0,9,0"), Numbers{0});
}

TEST(VisibleDevices, MayBeNamedByUuid) {
  const std::string first = uuid_text(0), second = uuid_text(1);
  EXPECT_EQ(second, "GPU-00000000-0000-0000-0000-000000000001");
  EXPECT_EQ(seen((second + "," + first).c_str()), (Numbers{1, 0}));
  EXPECT_EQ(seen((second + "," + first).c_str(), 1), Numbers{}) << "it has no second device";
  EXPECT_EQ(seen((second + "00").c_str()), Numbers{1});
  EXPECT_EQ(seen("GPU-0000", 1), Numbers{0});
  EXPECT_EQ(seen("GPU-0000", 2), Numbers{}) << "both begin like that";
  EXPECT_EQ(seen("gpu-00000000-0000-0000-0000-000000000000", 1), Numbers{});
  EXPECT_EQ(seen((uuid_text(10)).c_str(), 16), Numbers{10});
  EXPECT_EQ(seen("GPU-00000000-0000-0000-0000-00000000000A", 16), Numbers{10});
  EXPECT_EQ(seen((second + ",0").c_str()), Numbers{1});
  EXPECT_EQ(seen(("0," + second).c_str()), Numbers{0});
  EXPECT_EQ(seen((second + ", " + first).c_str()), Numbers{1});
  EXPECT_EQ(visible_devices((first + "," + first).c_str(), 2).error, cudaErrorInvalidDevice);
}

}  // namespace
}  // namespace warpcheck::cudart
