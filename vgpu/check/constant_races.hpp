// Constant memory that the host writes while a kernel may read it.
//
// Kernels cannot write it, so the race checker does not look at its accesses: what races are
// copies to a variable, in a stream that nothing orders with the kernel's.  So it is enough to
// keep who reads which bytes, one reader each.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "vgpu/check/checker.hpp"

namespace warpcheck::vgpu {

class ConstantRaceChecker final : public Checker {
 public:
  using Checker::Checker;

  [[nodiscard]] bool watches_accesses() const override { return false; }
  [[nodiscard]] bool watches_blocks() const override { return false; }
  [[nodiscard]] bool watches_accesses_of(const Program& program) const override;
  void reset(WarpModel model) override;
  void on_sync(const Sync& sync) override;
  bool passes_over(const Sync& /*kernel_start*/) override {
    ++passed_over_;
    return true;
  }
  void on_access(Access& access) override;
  bool takes_row(const RowAccess& row) override { return row.space != ptx::Space::constant; }
  bool lends_notes(std::uint32_t /*slot*/, RowNotes& /*notes*/) override {
    return true;  // shared memory is no matter
  }
  void on_host_access(const HostAccess& access) override { check(access); }
  void on_late_host_access(const HostAccess& access) override { check(access); }
  void on_device_copy(const DeviceCopy& copy) override;

 private:
  // One thread reads bytes that lie side by side, by one instruction.
  struct Read {
    std::uint32_t allocation = 0;  // id
    std::uint32_t begin = 0, end = 0;
    std::uint32_t bytes = 0;  // each time
    std::uint32_t pc = 0;
    ThreadId who;
  };
  struct Launch {
    const Program* program = nullptr;
    Dim3 grid, block;
    std::vector<Read> reads;
  };
  // The bytes of an aligned word that a launch has read.
  struct Word {
    std::uint32_t launch = 0;  // one more than its number
    std::uint32_t bytes = 0;   // a bit each
  };

  void add(const Access& access, unsigned lane, std::vector<Word>& words);
  void forget_oldest();
  void check(const HostAccess& access);
  void report(const HostAccess& access, const Launch& launch, const Read& read);

  std::uint32_t launches_ = 0;             // of the trial
  std::uint32_t passed_over_ = 0;          // since the latest began
  std::map<std::uint32_t, Launch> known_;  // by number; those that have read something
  std::size_t reads_ = 0;                  // of all of them
  std::unordered_map<std::uint32_t, std::vector<Word>> words_;  // by allocation
  Launch running_;                                              // without reads
};

}  // namespace warpcheck::vgpu
