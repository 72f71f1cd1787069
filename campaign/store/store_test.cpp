// The store alone: committed data survives a kill at any write, a full disk and damage.
#include "campaign/store/store.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>

#include "campaign/store/directory.hpp"
#include "vgpu/cudart/testing/temporary_directory.hpp"

namespace warpcheck::campaign {
namespace {

namespace fs = std::filesystem;

StoredFinding finding_of(const std::string& pair, const std::string& hash) {
  return {.key = {pair, hash},
          .kind = "data-race",
          .place = "data-race|shared|kernel|a.cu:1|a.cu:2",
          .case_text = "case of " + hash,
          .found_text = "found of " + hash,
          .found_seconds = 1.5,
          .found_at = 1'700'000'000,
          .executions = 7};
}

class StoreTest : public testing::Test {
 protected:
  const TemporaryDirectory temporary_;
  const fs::path root_ = temporary_.path();
  fs::path path_ = root_ / "warpcheck.db";
};

void add(Store& store, const StoredFinding& finding) {
  Store::Change change(store);
  change.add(finding);
  change.commit();
}

TEST_F(StoreTest, KnowsWhatStandsForEveryScheduleOfCampaignsThatDidNot) {
  const auto save = [&](std::int64_t executions, std::int64_t for_every_schedule) {
    Store store(path_);
    Store::Change change(store);
    change.save(
        {.pair = "scan", .executions = executions, .for_every_schedule = for_every_schedule});
    change.commit();
  };
  save(10, 4);
  EXPECT_EQ(Store(path_).progress().at(0).for_every_schedule, 4);
  Database(path_).execute("DROP TABLE every_schedule");
  const PairProgress before = Store(path_).progress().at(0);
  EXPECT_EQ(before.executions, 10);
  EXPECT_EQ(before.for_every_schedule, 0);
  save(20, 5);
  EXPECT_EQ(Store(path_).progress().at(0).for_every_schedule, 5);
}

TEST_F(StoreTest, GivesBackWhatItWasGiven) {
  StoredFinding finding = finding_of("scan", "aa");
  {
    Store store(path_);
    add(store, finding);
    finding.stage = Stage::confirmed;
    finding.tier = Tier::regression;
    finding.case_text = "smaller";
    finding.shrinks = 3;
    finding.complete = true;
    finding.shown = 2;
    finding.schedules = 20;
    finding.attempts = 1;
    finding.remark = "why";
    Store::Change change(store);
    change.update(finding);
    change.save({.pair = "scan", .slots = 2, .executions = 9, .seconds = 1.25, .refusal = "no"});
    change.add(Incident{"scan", "killed", std::string("\0\xff", 2)});
    change.add(Incident{"scan", "killed", "other"});
    change.set_seconds(12.5);
    change.commit();
  }
  Store store(path_);
  ASSERT_EQ(store.findings().size(), 1u);
  const StoredFinding again = store.find({"scan", "aa"}).value();
  EXPECT_EQ(again.kind, "data-race");
  EXPECT_EQ(again.place, finding.place);
  EXPECT_EQ(again.tier, Tier::regression);
  EXPECT_EQ(again.stage, Stage::confirmed);
  EXPECT_EQ(again.case_text, "smaller");
  EXPECT_EQ(again.found_text, "found of aa");
  EXPECT_EQ(again.found_seconds, 1.5);
  EXPECT_EQ(again.found_at, 1'700'000'000);
  EXPECT_EQ(again.executions, 7);
  EXPECT_EQ(again.shrinks, 3);
  EXPECT_TRUE(again.complete);
  EXPECT_EQ(again.shown, 2);
  EXPECT_EQ(again.schedules, 20);
  EXPECT_FALSE(again.reproducible());
  EXPECT_EQ(again.attempts, 1);
  EXPECT_EQ(again.remark, "why");
  EXPECT_EQ(store.progress().at(0).executions, 9);
  EXPECT_EQ(store.progress().at(0).seconds, 1.25);
  EXPECT_EQ(store.progress().at(0).refusal, "no");
  ASSERT_EQ(store.incidents().size(), 1u);
  EXPECT_EQ(store.incidents().at(0).count, 2);
  EXPECT_EQ(store.incidents().at(0).input, std::string("\0\xff", 2));
  EXPECT_EQ(store.seconds(), 12.5);
}

TEST_F(StoreTest, AFindingIsStoredOnceForEachPair) {
  Store store(path_);
  Store::Change change(store);
  EXPECT_TRUE(change.add(finding_of("scan", "aa")));
  EXPECT_FALSE(change.add(finding_of("scan", "aa")));
  EXPECT_TRUE(change.add(finding_of("sort", "aa")));
  change.commit();
  EXPECT_EQ(store.findings().size(), 2u);
}

TEST_F(StoreTest, WhatIsNotCommittedIsNotThere) {
  Store store(path_);
  {
    Store::Change change(store);
    change.add(finding_of("scan", "aa"));
  }
  EXPECT_TRUE(store.findings().empty());
}

TEST_F(StoreTest, TwoProcessesWriteOneStore) {
  constexpr int kEach = 50;
  const auto write = [&](const std::string& pair) {
    Store store(path_);
    for (int i = 0; i < kEach; ++i) add(store, finding_of(pair, std::to_string(i)));
  };
  const pid_t child = ::fork();
  if (child == 0) {
    write("child");
    ::_exit(0);
  }
  write("parent");
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Store(path_).findings().size(), 2u * kEach);
}

TEST_F(StoreTest, ManyProcessesBeginOneStore) {
  constexpr int kRounds = 20, kProcesses = 4;
  for (int round = 0; round < kRounds; ++round) {
    const fs::path path = root_ / fmt::format("{}.db", round);
    std::array<int, 2> start{};
    ASSERT_EQ(::pipe(start.data()), 0);
    for (int i = 0; i < kProcesses; ++i) {
      if (::fork() != 0) continue;
      char byte = 0;
      (void)!::read(start[0], &byte, 1);
      try {
        const Store store(path);
        ::_exit(0);
      } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        ::_exit(1);
      }
    }
    (void)!::write(start[1], "1234", kProcesses);
    for (int i = 0; i < kProcesses; ++i) {
      int status = -1;
      ::wait(&status);
      EXPECT_EQ(status, 0) << "round " << round;
    }
    for (const int end : start) ::close(end);
  }
}

// --- system calls of SQLite that fail or end the process ----------------------------------------

int writes_left = 0;  // until the one that fails
bool dies = false;    // it ends the process after half of the write
const int kNoLimit = 1 << 30;

ssize_t write_or_not(int file, const void* bytes, size_t size, off_t at) {
  if (writes_left-- > 0) return ::pwrite(file, bytes, size, at);
  if (dies) {
    (void)!::pwrite(file, bytes, size / 2, at);
    ::raise(SIGKILL);
  }
  errno = ENOSPC;
  return -1;
}

void count_writes(int until, bool kill) {
  writes_left = until;
  dies = kill;
  sqlite3_vfs* vfs = sqlite3_vfs_find(nullptr);
  for (const char* name : {"pwrite", "pwrite64"}) {
    vfs->xSetSystemCall(vfs, name, reinterpret_cast<sqlite3_syscall_ptr>(write_or_not));
  }
}

// Adds findings one by one and reports each that is committed.
void add_and_tell(const fs::path& path, int count, int pipe) {
  Store store(path);
  for (int i = 0; i < count; ++i) {
    add(store, finding_of("scan", std::to_string(i)));
    const char one = 1;
    (void)!::write(pipe, &one, 1);
  }
}

TEST_F(StoreTest, AKillAtAnyWriteLosesNothingThatWasCommitted) {
  constexpr int kCount = 5;
  int kills = 0;
  for (int until = 0;; ++until) {
    fs::remove_all(root_);
    fs::create_directories(root_);
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      count_writes(until, true);
      add_and_tell(path_, kCount, ends[1]);
      ::_exit(0);
    }
    ::close(ends[1]);
    std::size_t told = 0;
    for (char one; ::read(ends[0], &one, 1) == 1;) ++told;
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    Store store(path_);
    const auto findings = store.findings();
    // One more may have been committed but not reported; never a part of one.
    EXPECT_GE(findings.size(), told) << "killed at write " << until;
    EXPECT_LE(findings.size(), told + 1) << "killed at write " << until;
    EXPECT_TRUE(store.damaged().empty());
    if (!WIFSIGNALED(status)) break;
    ++kills;
  }
  EXPECT_GT(kills, 20);
}

TEST_F(StoreTest, AFullDiskIsAnErrorThatCanBeTriedAgain) {
  Store store(path_);
  add(store, finding_of("scan", "before"));
  count_writes(0, false);
  EXPECT_THROW(add(store, finding_of("scan", "full")), StoreFull);
  EXPECT_THROW(add(store, finding_of("scan", "full")), StoreFull);
  EXPECT_EQ(store.findings().size(), 1u);
  count_writes(kNoLimit, false);
  add(store, finding_of("scan", "full"));
  EXPECT_EQ(Store(path_).findings().size(), 2u);
}

// --- damage -------------------------------------------------------------------------------------

TEST_F(StoreTest, RefusesWhatIsNotItsOwn) {
  std::ofstream(path_) << std::string(4096, 'x');
  EXPECT_THROW(Store{path_}, StoreDamaged);
  fs::remove(path_);
  Database(path_).execute("CREATE TABLE t(a)");
  EXPECT_THROW(Store{path_}, StoreError);
  EXPECT_EQ(Database(path_).number("SELECT count(*) FROM sqlite_schema"), 1);
  fs::remove(path_);
  { Store store(path_); }
  Database(path_).execute("PRAGMA user_version = 99");
  try {
    Store store(path_);
    FAIL();
  } catch (const StoreDamaged&) {
    FAIL() << "a newer format is not damage";
  } catch (const StoreError& error) {
    EXPECT_EQ(error.what(),
              path_.string() + ": its format is version 99, and this warpcheck reads 1");
  }
}

TEST_F(StoreTest, ADamagedStoreIsSetAsideAndANewOneBegun) {
  const Directory directory(root_);
  { Store store(path_); }
  std::fstream(path_, std::ios::in | std::ios::out) << "this is no database at all";
  std::vector<std::string> messages;
  const auto store = open_store(directory, messages);
  EXPECT_TRUE(store->findings().empty());
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_TRUE(messages[0].starts_with("damaged: " + path_.string())) << messages[0];
  EXPECT_TRUE(fs::exists(root_ / "damaged" / "warpcheck.db"));
}

TEST_F(StoreTest, ADamagedRowIsSetAsideByName) {
  const Directory directory(root_);
  {
    Store store(path_);
    add(store, finding_of("scan", "aa"));
    add(store, finding_of("scan", "bb"));
  }
  Database(path_).execute("UPDATE findings SET case_text = 'case of xx' WHERE hash = 'aa'");
  std::vector<std::string> messages;
  const auto store = open_store(directory, messages);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_TRUE(messages[0].starts_with("damaged: finding aa of scan; set aside as ")) << messages[0];
  ASSERT_EQ(store->findings().size(), 1u);
  EXPECT_EQ(store->findings().at(0).key.hash, "bb");
  EXPECT_TRUE(store->damaged().empty());
  std::ifstream found(root_ / "damaged/rows/scan/aa.case.found");
  std::string text;
  std::getline(found, text);
  EXPECT_EQ(text, "found of aa");
}

TEST_F(StoreTest, AStageOrTierThatIsNotKnownIsNamed) {
  Store store(path_);
  add(store, finding_of("scan", "aa"));
  const auto error_after = [&](const std::string& change) -> std::string {
    Database(path_).execute("UPDATE findings SET " + change);
    try {
      static_cast<void>(store.findings());
    } catch (const StoreError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(error_after("stage = 'polished'"),
            path_.string() +
                ": finding aa of scan: its stage is 'polished', and should be one of "
                "found, shrunk, confirmed, unconfirmed");
  EXPECT_EQ(error_after("stage = 'shrunk', tier = 'other'"),
            path_.string() +
                ": finding aa of scan: its tier is 'other', and should be one of "
                "crashing, regression");
}

TEST_F(StoreTest, NamesDoNotLeadOutOfTheDirectory) {
  const Directory directory(root_ / "inside");
  const fs::path place = directory.set_text_aside("../../etc/passwd", "x");
  EXPECT_EQ(place, root_ / "inside/damaged/etc/passwd");
  EXPECT_EQ(directory.set_text_aside("/etc/passwd", "y"),
            fs::path(root_ / "inside/damaged/etc/passwd.2"));
}

TEST_F(StoreTest, OneCampaignAtATime) {
  const Directory directory(root_);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const DirectoryLock lock(directory);
    (void)!::write(ends[1], "x", 1);
    ::pause();
  }
  char one = 0;
  ASSERT_EQ(::read(ends[0], &one, 1), 1);
  try {
    const DirectoryLock lock(directory);
    FAIL();
  } catch (const StoreError& error) {
    EXPECT_EQ(error.what(), root_.string() + ": another campaign runs here (process " +
                                std::to_string(child) + ")");
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_NO_THROW(DirectoryLock{directory});
}

}  // namespace
}  // namespace warpcheck::campaign
