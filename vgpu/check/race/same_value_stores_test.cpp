#include "vgpu/check/race/same_value_stores.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "vgpu/check/fake_launch.hpp"
#include "vgpu/machine/undefined/unwritten_memory.hpp"

namespace warpcheck::vgpu {
namespace {

class SameValues : public testing::Test {
 protected:
  SameValues() { reporter.set_unwritten(&unwritten); }
  // The value in memory is made from bytes that nothing has written.
  void make_undefined() {
    const std::array<std::uint8_t, 4> bits{0xff, 0xff, 0xff, 0xff};
    unwritten.write_range(memory.allocation(), 0, bits.size(), bits, ptx::kNone);
  }
  Access access_of(AccessKind kind) {
    Access access;
    access.allocation = &memory.allocation();
    access.kind = kind;
    access.mask = 1u << 2;
    access.bytes = access.element_bytes = 4;
    access.value_bytes = 4;
    if (kind == AccessKind::write) {
      access.values[0] = reinterpret_cast<const std::byte*>(stored.data());
    }
    return access;
  }
  // Thread `by` stores the value over that of thread `before`, without order.
  bool store(std::uint32_t value, SameValueStores::Thread before, SameValueStores::Thread by,
             bool is_last = true) {
    stored.fill(value);
    const Access access = access_of(AccessKind::write);
    const bool is_same = values.add_if_same({access, 2}, before, by, is_last, reporter);
    std::memcpy(memory.allocation().data, &value, sizeof value);
    return is_same;
  }
  bool loads_own(SameValueStores::Thread by, SameValueStores::Thread before) {
    const Access access = access_of(AccessKind::read);
    return values.is_own({access, 2}, true, false, before, by);
  }

  FakeMemory memory{3, ptx::Space::global, 64};
  std::array<std::uint32_t, 32> stored{};
  Reporter reporter;
  SameValueStores values;
  UnwrittenMemory unwritten;
};

TEST_F(SameValues, AThreadThatHasStoredTheValueFindsIt) {
  store(5, 0, 1);  // another value than what was there
  EXPECT_FALSE(loads_own(1, 1));
  EXPECT_TRUE(store(5, 1, 7));
  EXPECT_TRUE(store(5, 7, 9));
  EXPECT_TRUE(loads_own(1, 9));
  EXPECT_TRUE(loads_own(9, 1));
  EXPECT_FALSE(loads_own(2, 9));
  EXPECT_FALSE(loads_own(9, 2));
}

TEST_F(SameValues, AStoreOfAnotherValueEndsTheChain) {
  store(5, 0, 1);
  ASSERT_TRUE(store(5, 1, 7));
  EXPECT_FALSE(store(6, 7, 9));
  EXPECT_FALSE(loads_own(1, 7));
  EXPECT_TRUE(store(6, 9, 1));
  EXPECT_FALSE(loads_own(7, 1));
  EXPECT_TRUE(loads_own(9, 1));
}

TEST_F(SameValues, UndefinedValuesAreNotTheSame) {
  store(5, 0, 1);
  ASSERT_TRUE(store(5, 1, 7));
  make_undefined();
  EXPECT_FALSE(store(5, 7, 9));
  EXPECT_FALSE(loads_own(7, 1));
  EXPECT_FALSE(loads_own(9, 7));
}

TEST_F(SameValues, AStoreAfterAnOldOneSaysNothingAboutTheChain) {
  store(5, 0, 1);
  EXPECT_TRUE(store(5, 1, 7, false));
  EXPECT_FALSE(loads_own(7, 1));
}

TEST_F(SameValues, AStoreThatFollowsALoadIsOfItsValueIfTheLoaderWasTheWriter) {
  store(5, 0, 1);
  stored.fill(5);
  const Access access = access_of(AccessKind::write);
  EXPECT_TRUE(values.is_own({access, 2}, false, true, 1, 7));
  EXPECT_FALSE(values.is_own({access, 2}, false, false, 1, 7));
  stored.fill(6);
  EXPECT_FALSE(values.is_own({access, 2}, false, true, 1, 7));
}

}  // namespace
}  // namespace warpcheck::vgpu
