#include "vgpu/cudart/suspended/suspendable_kernel.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

namespace warpcheck::cudart {
namespace {

class CallOfAKernel : public testing::Test {
 protected:
  // Begins a kernel that waits for a change of `word_`, `waits` times.
  void begin(int waits) {
    call_.begin(std::make_shared<Operation>(), [this, waits] {
      for (int i = 0; i < waits && may_have_changed_; ++i) {
        vgpu::PolledBytes bytes{reinterpret_cast<const std::byte*>(&word_), sizeof word_, {}};
        std::memcpy(bytes.value.data(), &word_, sizeof word_);
        may_have_changed_ = call_.wait_for_change({bytes}, true);
      }
    });
  }

  bool must_suspend_ = false, may_have_changed_ = true;
  int word_ = 0;
  SuspendableKernel call_{[this](const SuspendableKernel& /*call*/) { return must_suspend_; }};
};

TEST_F(CallOfAKernel, IsLeftUntilWhatItPollsHasChanged) {
  begin(2);
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(call_.resume());
    EXPECT_TRUE(call_.waits_for_host());
    EXPECT_FALSE(call_.can_resume());
    EXPECT_FALSE(call_.has_changed());
    ++word_;
    EXPECT_TRUE(call_.has_changed());
  }
  EXPECT_TRUE(call_.resume());
  EXPECT_TRUE(may_have_changed_);
}

TEST_F(CallOfAKernel, IsToldThatNobodyIsLeft) {
  begin(2);
  EXPECT_FALSE(call_.resume());
  call_.give_up();
  EXPECT_TRUE(call_.resume());
  EXPECT_FALSE(may_have_changed_);
  begin(1);  // the next kernel has its own state
  may_have_changed_ = true;
  EXPECT_FALSE(call_.resume());
  ++word_;
  EXPECT_TRUE(call_.resume());
  EXPECT_TRUE(may_have_changed_);
}

TEST_F(CallOfAKernel, LetsOthersRunWhereSomebodyHasSomethingToDo) {
  call_.begin(std::make_shared<Operation>(), [this] {
    call_.let_others_run();
    must_suspend_ = true;
    call_.let_others_run();
  });
  EXPECT_FALSE(call_.resume());
  EXPECT_TRUE(must_suspend_);
  EXPECT_TRUE(call_.can_resume());
  EXPECT_FALSE(call_.has_changed());
  EXPECT_TRUE(call_.resume());
}

}  // namespace
}  // namespace warpcheck::cudart
