#include "vgpu/cudart/streams/host_functions.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>

#include "vgpu/cudart/api/calls/api_call.hpp"

namespace warpcheck::cudart {
namespace {

struct Seen {
  std::mutex mutex;
  bool was_called = false, was_inside = false, was_free = false;
};

void look(void* argument) {
  Seen& seen = *static_cast<Seen*>(argument);
  seen.was_called = true;
  seen.was_inside = in_host_function();
  seen.was_free = seen.mutex.try_lock();
  if (seen.was_free) seen.mutex.unlock();
  current_call() = {.name = "cudaFree"};
}

void look_back(cudaStream_t, cudaError_t error, void* argument) {
  EXPECT_EQ(error, cudaSuccess);
  look(argument);
}

// Expects that the function runs without the lock, and that the thread's current call is unchanged.
void expect_call(const HostWork& work, Seen& seen) {
  const ApiCall before = current_call();
  current_call() = {.name = "cudaDeviceSynchronize"};
  seen.mutex.lock();
  call_host_function(work, seen.mutex, 1);
  bool is_held = false;
  std::thread([&] {
    is_held = !seen.mutex.try_lock();
    if (!is_held) seen.mutex.unlock();
  }).join();
  EXPECT_TRUE(is_held);
  if (is_held) seen.mutex.unlock();
  EXPECT_TRUE(seen.was_called);
  EXPECT_TRUE(seen.was_inside);
  EXPECT_TRUE(seen.was_free);
  EXPECT_FALSE(in_host_function());
  EXPECT_STREQ(current_call().name, "cudaDeviceSynchronize");
  current_call() = before;
}

TEST(HostFunctions, AreCalledWithoutTheLock) {
  Seen seen;
  HostWork work;
  work.function = look;
  work.argument = &seen;
  expect_call(work, seen);
}

TEST(HostFunctions, CanBeCallbacks) {
  Seen seen;
  HostWork work;
  work.callback = look_back;
  work.argument = &seen;
  expect_call(work, seen);
}

}  // namespace
}  // namespace warpcheck::cudart
