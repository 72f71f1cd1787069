// The checker for races on constant memory: the host writes a constant variable while a kernel may
// read it.
//
// Kernels cannot write constant memory, so the race checker skips accesses to it.  Only a copy to
// the variable in a stream that is not ordered with the kernel's stream can race.  For that, it is
// enough to record which bytes each launch reads, with one reading thread for each byte.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "vgpu/check/checker.hpp"
#include "vgpu/check/order/running_launch_state.hpp"

namespace warpcheck::vgpu {

class ConstantRaceChecker final : public Checker {
 public:
  using Checker::Checker;

  [[nodiscard]] Watched watches() const override { return {.shared = false, .blocks = false}; }
  [[nodiscard]] bool may_be_split() const override { return true; }
  [[nodiscard]] bool watches_accesses_of(const Program& program) const override;
  void reset(WarpModel model) override;
  void on_sync(const Sync& sync) override;
  void resumes(const ResumedLaunch& resumed) override { running_.resume(resumed.launch); }
  void on_access(const Access& access) override;
  bool takes_row(const RowAccess& row) override {
    return row.space != ptx::Space::constant || has_seen(row);
  }
  std::optional<RowQueue*> queue_of(const Allocation& allocation) override;
  void on_host_access(const HostAccess& access) override { check(access); }
  void on_late_host_access(const HostAccess& access) override { check(access); }
  void on_device_copy(const DeviceCopy& copy) override;

 private:
  // A read of neighbouring bytes by one instruction, with one thread that made it.
  struct Read {
    std::uint32_t allocation = 0;  // id
    std::uint32_t begin = 0, end = 0;
    std::uint32_t bytes = 0;  // per execution
    std::uint32_t pc = 0;
    ThreadId who;
  };
  struct Launch {
    const Program* program = nullptr;
    Dim3 grid, block;
    std::vector<Read> reads;
    void clear() { *this = {}; }
  };
  // Which bytes of an aligned 4-byte word a launch has read.
  struct Word {
    std::uint32_t launch = 0;  // the launch's number plus one
    std::uint32_t bytes = 0;   // one bit per byte
  };
  // The words of an allocation.
  struct Table {
    std::vector<Word> words;
    std::uint32_t launch = 0;  // as in Word
    std::uint64_t unread = 0;  // bytes that this launch has not read yet
  };

  // Returns what marks the words that the running launch has read.
  [[nodiscard]] std::uint32_t mark() const { return running_.current() + 1; }
  Table& table_of(const Allocation& allocation);
  // Returns whether the launch has read all bytes of a row before.
  bool has_seen(const RowAccess& row);
  [[nodiscard]] bool has_seen(const std::vector<Word>& words, std::uint32_t begin,
                              std::uint32_t end) const;
  void add(const Access& access, unsigned lane, Table& table);
  void forget_oldest();
  void check(const HostAccess& access);
  void report(const HostAccess& access, const Launch& launch, const Read& read);

  std::map<std::uint32_t, Launch> known_;            // by launch number; launches with reads
  std::size_t reads_ = 0;                            // reads of all launches
  std::unordered_map<std::uint32_t, Table> tables_;  // by allocation
  std::uint32_t latest_ = 0;  // the allocation whose table was asked for last
  Table* latest_table_ = nullptr;
  RunningLaunchState<Launch> running_;  // without reads
};

}  // namespace warpcheck::vgpu
