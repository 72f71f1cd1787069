#include "vgpu/cudart/beside/kernel_call.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

namespace warpcheck::cudart {
namespace {

class CallOfAKernel : public testing::Test {
 protected:
  // Waits until `word_` is another one, so often.
  void begin(int waits) {
    call_.begin(std::make_shared<Operation>(), [this, waits] {
      for (int i = 0; i < waits && goes_on_; ++i) {
        vgpu::PolledBytes bytes{reinterpret_cast<const std::byte*>(&word_), sizeof word_, {}};
        std::memcpy(bytes.value.data(), &word_, sizeof word_);
        goes_on_ = call_.wait_for_change({bytes}, true);
      }
    });
  }

  bool must_leave_ = false, goes_on_ = true;
  int word_ = 0;
  KernelCall call_{[this](const KernelCall& /*call*/) { return must_leave_; }};
};

TEST_F(CallOfAKernel, IsLeftUntilWhatItPollsHasChanged) {
  begin(2);
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(call_.go_on());
    EXPECT_TRUE(call_.waits_for_host());
    EXPECT_FALSE(call_.can_go_on());
    EXPECT_FALSE(call_.has_changed());
    ++word_;
    EXPECT_TRUE(call_.has_changed());
  }
  EXPECT_TRUE(call_.go_on());
  EXPECT_TRUE(goes_on_);
}

TEST_F(CallOfAKernel, IsToldThatNobodyIsLeft) {
  begin(2);
  EXPECT_FALSE(call_.go_on());
  call_.give_up();
  EXPECT_TRUE(call_.go_on());
  EXPECT_FALSE(goes_on_);
  begin(1);  // the next one's hopes are its own
  goes_on_ = true;
  EXPECT_FALSE(call_.go_on());
  ++word_;
  EXPECT_TRUE(call_.go_on());
  EXPECT_TRUE(goes_on_);
}

TEST_F(CallOfAKernel, LetsOthersRunWhereSomebodyHasSomethingToDo) {
  call_.begin(std::make_shared<Operation>(), [this] {
    call_.let_others_run();
    must_leave_ = true;
    call_.let_others_run();
  });
  EXPECT_FALSE(call_.go_on());
  EXPECT_TRUE(must_leave_);
  EXPECT_TRUE(call_.can_go_on());
  EXPECT_FALSE(call_.has_changed());
  EXPECT_TRUE(call_.go_on());
}

}  // namespace
}  // namespace warpcheck::cudart
