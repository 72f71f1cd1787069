#include "vgpu/cudart/parallel/parallel_threads.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <future>
#include <set>
#include <thread>
#include <vector>

#include "vgpu/cudart/streams/idle_progress.hpp"

namespace warpcheck::cudart {
namespace {

using namespace std::chrono_literals;
using Ids = std::vector<std::thread::id>;

Ids run_round(ParallelThreads& threads, unsigned count) {
  Ids ids(count);
  const unsigned begun =
      threads.begin(count, [&](unsigned number) { ids[number] = std::this_thread::get_id(); });
  EXPECT_EQ(begun, count);
  while (!threads.wait_for(1s)) {
  }
  return ids;
}

TEST(ParallelThreads, EachNumberHasItsThreadInEveryRound) {
  ParallelThreads threads;
  const Ids first = run_round(threads, 5);
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), 5u);
  EXPECT_FALSE(std::set(first.begin(), first.end()).contains(std::this_thread::get_id()));
  EXPECT_EQ(run_round(threads, 2), Ids(first.begin(), first.begin() + 2));
  const Ids more = run_round(threads, 7);
  EXPECT_EQ(Ids(more.begin(), more.begin() + 5), first);
}

TEST(ParallelThreads, BlockAllSignalsExceptThoseOfFaults) {
  ParallelThreads threads;
  std::array<sigset_t, 2> masks{};
  threads.begin(
      2, [&](unsigned number) { ::pthread_sigmask(SIG_SETMASK, nullptr, &masks.at(number)); });
  while (!threads.wait_for(1s)) {
  }
  for (const sigset_t& mask : masks) {
    EXPECT_EQ(sigismember(&mask, SIGTERM), 1);
    EXPECT_EQ(sigismember(&mask, SIGALRM), 1);
    EXPECT_EQ(sigismember(&mask, SIGSEGV), 0);
    EXPECT_EQ(sigismember(&mask, SIGTRAP), 0);
  }
}

// Returns the exit status of a child of fork() that executes `run`.
template <typename Run>
int status_of_child(Run run) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(run());
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ParallelThreads, AChildOfForkHasItsOwn) {
  ParallelThreads threads;
  run_round(threads, 3);
  EXPECT_EQ(status_of_child([&] { return static_cast<int>(run_round(threads, 5).size()); }), 5);
  run_round(threads, 3);
}

TEST(ParallelThreads, AreNoThreadsOfTheProgram) {
  EXPECT_EQ(status_of_child([] {
              ParallelThreads threads;
              run_round(threads, 3);
              return static_cast<int>(threads_of_program());
            }),
            1);
}

TEST(ParallelThreads, OfTheProgramAreCountedWithTheirParent) {
  EXPECT_EQ(status_of_child([] {
              ParallelThreads threads;
              run_round(threads, 3);
              std::promise<void> end;
              std::thread of_program([&] { end.get_future().wait(); });
              const auto count = static_cast<int>(threads_of_program());
              end.set_value();
              of_program.join();
              return count;
            }),
            2);
}

}  // namespace
}  // namespace warpcheck::cudart
