#include "vgpu/cudart/memory/managed_advice.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>

namespace warpcheck::cudart {
namespace {

int told(const ManagedAdvice& advice, int attribute) {
  int value = 12345;
  EXPECT_EQ(advice.answer(attribute, &value, sizeof value), cudaSuccess);
  return value;
}

TEST(ManagedAdvice, TellsWhatWasAdvised) {
  ManagedAdvice advice;
  EXPECT_EQ(told(advice, cudaMemRangeAttributeReadMostly), 0);
  EXPECT_EQ(told(advice, cudaMemRangeAttributePreferredLocation), cudaInvalidDeviceId);
  EXPECT_EQ(told(advice, cudaMemRangeAttributePreferredLocationType), cudaMemLocationTypeInvalid);
  EXPECT_EQ(advice.advise(cudaMemAdviseSetReadMostly, 0), cudaSuccess);
  EXPECT_EQ(advice.advise(cudaMemAdviseSetPreferredLocation, 1), cudaSuccess);
  EXPECT_EQ(told(advice, cudaMemRangeAttributeReadMostly), 1);
  EXPECT_EQ(told(advice, cudaMemRangeAttributePreferredLocation), 1);
  EXPECT_EQ(told(advice, cudaMemRangeAttributePreferredLocationType), cudaMemLocationTypeDevice);
  EXPECT_EQ(advice.advise(cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId), cudaSuccess);
  EXPECT_EQ(told(advice, cudaMemRangeAttributePreferredLocationType), cudaMemLocationTypeHost);
  EXPECT_EQ(advice.advise(cudaMemAdviseUnsetPreferredLocation, std::nullopt), cudaSuccess);
  EXPECT_EQ(advice.advise(cudaMemAdviseUnsetReadMostly, std::nullopt), cudaSuccess);
  EXPECT_EQ(told(advice, cudaMemRangeAttributePreferredLocation), cudaInvalidDeviceId);
  EXPECT_EQ(told(advice, cudaMemRangeAttributeReadMostly), 0);
}

TEST(ManagedAdvice, ListsWhoAccessesInAscendingOrder) {
  ManagedAdvice advice;
  for (const int place : {2, cudaCpuDeviceId, 0, 1}) {
    EXPECT_EQ(advice.advise(cudaMemAdviseSetAccessedBy, place), cudaSuccess);
  }
  EXPECT_EQ(advice.advise(cudaMemAdviseUnsetAccessedBy, 1), cudaSuccess);
  std::array<int, 4> places{};
  EXPECT_EQ(advice.answer(cudaMemRangeAttributeAccessedBy, places.data(), sizeof places),
            cudaSuccess);
  EXPECT_EQ(places, (std::array{cudaCpuDeviceId, 0, 2, cudaInvalidDeviceId}));
}

TEST(ManagedAdvice, RefusesWhatIsNone) {
  ManagedAdvice advice;
  EXPECT_EQ(advice.advise(cudaMemAdviseSetAccessedBy, std::nullopt), cudaErrorInvalidDevice);
  EXPECT_EQ(advice.advise(1000, 0), cudaErrorInvalidValue);
  int value = 0;
  EXPECT_EQ(advice.answer(1000, &value, sizeof value), cudaErrorInvalidValue);
  EXPECT_EQ(advice.answer(cudaMemRangeAttributeReadMostly, &value, 1), cudaErrorInvalidValue);
  EXPECT_EQ(advice.answer(cudaMemRangeAttributeAccessedBy, &value, 0), cudaErrorInvalidValue);
  EXPECT_EQ(advice.answer(cudaMemRangeAttributeAccessedBy, &value, 5), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace warpcheck::cudart
