#include "harness/process/workers.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

namespace warpcheck {
namespace {

using Messages = std::vector<Message>;

Message remark(const std::string& text) { return RemarkMessage{text}; }

TEST(Tasks, ResultsAreInOrderHoweverManyProcesses) {
  for (const unsigned jobs : {1u, 3u}) {
    const auto results = run_tasks(
        7, jobs,
        [](std::size_t task, const Emit& emit) {
          for (std::size_t i = 0; i <= task; ++i) emit(remark("task " + std::to_string(task)));
        },
        nullptr);
    ASSERT_EQ(results.size(), 7u);
    for (std::size_t i = 0; i < 7; ++i) {
      EXPECT_TRUE(results[i].finished);
      EXPECT_EQ(results[i].messages, Messages(i + 1, remark("task " + std::to_string(i))));
    }
  }
}

TEST(Tasks, LongMessagesArrive) {
  const Message message = remark(std::string(3'000'000, 'x'));
  const auto results = run_tasks(
      1, 1, [&](std::size_t, const Emit& emit) { emit(message); }, nullptr);
  EXPECT_EQ(results[0].messages, Messages{message});
}

TEST(Tasks, ATaskThatDiesTakesNoOtherAlong) {
  const auto results = run_tasks(
      3, 2,
      [](std::size_t task, const Emit& emit) {
        emit(remark("begun"));
        if (task == 0) ::raise(SIGKILL);
        if (task == 1) throw std::runtime_error("no such thing");
      },
      nullptr);
  EXPECT_EQ(results[0].unreadable, std::vector<std::string>{});
  EXPECT_EQ(results[0].messages, Messages{remark("begun")});
  EXPECT_FALSE(results[0].finished);
  EXPECT_EQ(results[0].failure, "killed by signal 9 (Killed)");
  EXPECT_FALSE(results[0].threw);
  EXPECT_EQ(results[1].failure, "internal error: no such thing");
  EXPECT_TRUE(results[1].threw);
  EXPECT_TRUE(results[2].finished);
}

TEST(Tasks, StoppingKeepsWhatWasEmitted) {
  volatile std::sig_atomic_t stop = 0;
  const auto results = run_tasks(
      3, 1,
      [](std::size_t task, const Emit& emit) {
        emit(remark("begun"));
        if (task == 1) ::pause();
      },
      &stop, [&](std::size_t) { stop = 1; });
  EXPECT_TRUE(results[0].finished);
  EXPECT_FALSE(results[2].finished);
  EXPECT_TRUE(results[2].messages.empty());
  EXPECT_EQ(results[2].failure, "");
}

TEST(Tasks, StoppingSaysWhichTasksItEnded) {
  volatile std::sig_atomic_t stop = 0;
  const auto results = run_tasks(
      3, 2,
      [](std::size_t task, const Emit&) {
        if (task == 0) ::pause();
      },
      &stop, [&](std::size_t) { stop = 1; });
  EXPECT_TRUE(results[0].interrupted);
  EXPECT_EQ(results[0].failure, "interrupted");
  EXPECT_FALSE(results[1].interrupted);
  EXPECT_FALSE(results[2].interrupted);
}

}  // namespace
}  // namespace warpcheck
