// The pool alone, with small workers that misbehave in every possible way: functions in forks, and
// shell scripts, which can write anything.
#include "harness/process/worker_pool.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "vgpu/cudart/testing/temporary_directory.hpp"

namespace warpcheck {
namespace {

namespace fs = std::filesystem;

struct Heard {
  std::vector<Message> messages{};
  std::vector<std::string> unreadable{};
  std::vector<WorkerEnd> ends{};
};

class WorkerPoolTest : public testing::Test, public WorkerListener {
 protected:
  void on_message(std::size_t worker, const Message& message) override {
    heard_[worker].messages.push_back(message);
  }
  void on_unreadable(std::size_t worker, const ProtocolError& error) override {
    heard_[worker].unreadable.emplace_back(error.what());
  }
  void on_end(std::size_t worker, const WorkerEnd& end) override {
    heard_[worker].ends.push_back(end);
  }

  void wait_for_all() {
    while (pool_.running() > 0) pool_.wait(200, *this);
  }

  // "$pipe" in the script is its pipe.
  void start_script(std::size_t worker, const std::string& script) {
    const std::string pipe = (directory_ / std::to_string(worker)).string();
    pool_.start_program(worker, {"/bin/sh", "-c", "pipe='" + pipe + "'\n" + script}, pipe);
  }

  const TemporaryDirectory temporary_;
  const fs::path directory_ = temporary_.path();
  WorkerPool pool_;
  std::map<std::size_t, Heard> heard_;
};

using Errors = std::vector<std::string>;
using Messages = std::vector<Message>;

constexpr const char* kHelloCommand = R"(printf 'hello {"version":3}\n' >"$pipe"; )";

TEST_F(WorkerPoolTest, AWorkerThatReturnsIsDone) {
  pool_.start(7, [](const Emit& emit) { emit(TrialsMessage{5}); });
  start_script(8,
               std::string(kHelloCommand) + R"(printf 'remark {"text":"a"}\ndone {}\n' >"$pipe")");
  wait_for_all();
  EXPECT_EQ(heard_[7].messages, Messages{TrialsMessage{5}});
  EXPECT_EQ(heard_[8].messages, Messages{RemarkMessage{"a"}});
  for (const std::size_t worker : {7u, 8u}) {
    EXPECT_EQ(heard_[worker].unreadable, Errors{});
    ASSERT_EQ(heard_[worker].ends.size(), 1u);
    EXPECT_TRUE(heard_[worker].ends[0].finished);
    EXPECT_EQ(heard_[worker].ends[0].failure, "");
  }
}

TEST_F(WorkerPoolTest, WhatAWorkerSaidBeforeItCrashedIsHeard) {
  pool_.start(0, [](const Emit& emit) {
    for (std::uint64_t i = 0; i < 20'000; ++i) emit(TrialsMessage{i});
    ::raise(SIGSEGV);
  });
  start_script(
      1, std::string(kHelloCommand) + R"(printf 'trials {"count":3}\n' >"$pipe"; kill -9 $$)");
  wait_for_all();
  EXPECT_EQ(heard_[0].messages.size(), 20'000u);
  EXPECT_EQ(heard_[0].messages.back(), Message{TrialsMessage{19'999}});
  EXPECT_EQ(heard_[0].ends.at(0).failure, "killed by signal 11 (Segmentation fault)");
  EXPECT_EQ(heard_[0].ends.at(0).signal, SIGSEGV);
  EXPECT_FALSE(heard_[0].ends.at(0).finished);
  EXPECT_EQ(heard_[1].messages, Messages{TrialsMessage{3}});
  EXPECT_EQ(heard_[1].ends.at(0).failure, "killed by signal 9 (Killed)");
  EXPECT_FALSE(heard_[1].ends.at(0).silent);
}

TEST_F(WorkerPoolTest, AnExceptionIsToldAsWhatItSays) {
  pool_.start(0, [](const Emit&) { throw std::runtime_error("no such thing"); });
  pool_.start(1, [](const Emit&) { throw 5; });
  wait_for_all();
  EXPECT_EQ(heard_[0].ends.at(0).failure, "internal error: no such thing");
  EXPECT_TRUE(heard_[0].ends.at(0).threw);
  EXPECT_EQ(heard_[1].ends.at(0).failure, "internal error: an exception that says nothing");
}

// Processes that the second one has started end with it.
TEST_F(WorkerPoolTest, AWorkerThatHangsIsKilledWhenItsTimeIsOver) {
  pool_.start(0, [](const Emit& emit) {
    emit(TrialsMessage{1});
    while (true) ::pause();
  });
  start_script(1, std::string(kHelloCommand) +
                      R"(sleep 1000 & printf 'trials {"count":2}\n' >"$pipe"; wait)");
  while (heard_[0].messages.empty() || heard_[1].messages.empty()) pool_.wait(200, *this);
  pool_.give_time(0, 0.25);
  pool_.give_time(1, 0.25);
  wait_for_all();
  for (const std::size_t worker : {0u, 1u}) {
    EXPECT_EQ(heard_[worker].ends.at(0).failure, "no sign of life for 0.25 s");
    EXPECT_TRUE(heard_[worker].ends.at(0).silent);
    EXPECT_EQ(heard_[worker].ends.at(0).signal, SIGKILL);
  }
}

// It closes its end of the pipe, as host code does that closes unknown descriptors.
TEST_F(WorkerPoolTest, AWorkerThatHangsWithItsPipeClosedIsKilledToo) {
  pool_.start(0, [](const Emit&) {
    for (int file = 3; file < 256; ++file) ::close(file);
    while (true) ::pause();
  });
  pool_.give_time(0, 0.25);
  wait_for_all();
  EXPECT_EQ(heard_[0].ends.at(0).failure, "no sign of life for 0.25 s");
}

TEST_F(WorkerPoolTest, GarbageIsQuotedAndWhatFollowsIsHeard) {
  start_script(
      0, std::string(kHelloCommand) +
             R"(printf 'cat: no such file\ntrials {"count":}\nremark {"text":"a"}\ndone {}\n')"
             R"( >"$pipe")");
  wait_for_all();
  EXPECT_EQ(heard_[0].unreadable,
            (Errors{"wrote 'cat: no such file': no message has the tag 'cat:'",
                    "wrote 'trials {\"count\":}': its fields are no JSON from byte 10 on"}));
  EXPECT_EQ(heard_[0].messages, Messages{RemarkMessage{"a"}});
  EXPECT_TRUE(heard_[0].ends.at(0).finished);
}

TEST_F(WorkerPoolTest, HalfALineIsNotSilence) {
  start_script(0, std::string(kHelloCommand) + R"(printf 'trials {"count":1' >"$pipe"; exit 0)");
  start_script(1, std::string(kHelloCommand) + R"(printf 'done {}' >"$pipe"; kill -6 $$)");
  wait_for_all();
  EXPECT_EQ(heard_[0].unreadable, Errors{"wrote 'trials {\"count\":1': it ends within the line"});
  EXPECT_EQ(heard_[0].ends.at(0).failure, "ended with status 0");
  EXPECT_EQ(heard_[1].unreadable, Errors{"wrote 'done {}': it ends within the line"});
  EXPECT_EQ(heard_[1].ends.at(0).failure, "killed by signal 6 (Aborted)");
  EXPECT_FALSE(heard_[1].ends.at(0).finished);
}

TEST_F(WorkerPoolTest, AWorkerOfAnotherVersionIsKilled) {
  start_script(0, R"(printf 'hello {"version":9}\ndone {}\n' >"$pipe"; sleep 1000)");
  wait_for_all();
  EXPECT_EQ(heard_[0].unreadable, Errors{"wrote 'hello {\"version\":9}': it speaks version 9 of "
                                         "the protocol, and not 3"});
  EXPECT_EQ(heard_[0].ends.at(0).failure, "killed by signal 9 (Killed)");
}

TEST_F(WorkerPoolTest, AWorkerThatExitsEarlyIsNotDone) {
  pool_.start(0, [](const Emit& emit) {
    emit(TrialsMessage{1});
    ::_exit(3);
  });
  start_script(1, "exit 4");
  pool_.start_program(2, {"/no/such/program"}, directory_ / "2");
  wait_for_all();
  EXPECT_EQ(heard_[0].messages, Messages{TrialsMessage{1}});
  EXPECT_EQ(heard_[0].ends.at(0).failure, "ended with status 3");
  EXPECT_EQ(heard_[1].ends.at(0).failure, "ended with status 4");
  EXPECT_EQ(heard_[2].ends.at(0).failure, "ended with status 127");
}

// A child of it holds the pipe open, for as long as this test runs.
TEST_F(WorkerPoolTest, TheEndOfAWorkerIsNotThatOfItsChildren) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  pool_.start(0, [&](const Emit&) {
    if (::fork() != 0) return;
    ::close(ends[1]);
    char byte = 0;
    static_cast<void>(!::read(ends[0], &byte, 1));
    ::_exit(0);
  });
  wait_for_all();
  EXPECT_TRUE(heard_[0].ends.at(0).finished);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(WorkerPoolTest, StoppingTellsWhatWasSaidAndLeavesNobody) {
  for (std::size_t worker : {0u, 1u}) {
    pool_.start(worker, [](const Emit& emit) {
      emit(TrialsMessage{1});
      while (true) ::pause();
    });
  }
  start_script(2, std::string(kHelloCommand) + "sleep 1000");
  while (heard_[0].messages.empty() || heard_[1].messages.empty()) pool_.wait(200, *this);
  pool_.stop_all(*this);
  EXPECT_EQ(pool_.running(), 0u);
  for (const std::size_t worker : {0u, 1u, 2u}) {
    EXPECT_EQ(heard_[worker].ends.at(0).failure, "killed by signal 9 (Killed)");
  }
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST_F(WorkerPoolTest, ForksDoNotHearOfCtrlCAndSigterm) {
  pool_.start(0, [](const Emit&) {
    ::raise(SIGINT);
    ::raise(SIGTERM);
  });
  wait_for_all();
  EXPECT_TRUE(heard_[0].ends.at(0).finished);
}

// The pool of a killed process: its worker sends its process id, and has ended then.
TEST_F(WorkerPoolTest, WorkersEndWithTheirParent) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  pool_.start(0, [&](const Emit&) {
    WorkerPool pool;
    pool.start(0, [&](const Emit&) {
      static_cast<void>(!::write(ends[1], "x", 1));
      while (true) ::pause();
    });
    while (true) pool.wait(200, *this);
  });
  ::close(ends[1]);
  char byte = 0;
  ASSERT_EQ(::read(ends[0], &byte, 1), 1);
  pool_.kill(0);
  wait_for_all();
  EXPECT_EQ(::read(ends[0], &byte, 1), 0);  // no process is left that could write
  ::close(ends[0]);
}

}  // namespace
}  // namespace warpcheck
