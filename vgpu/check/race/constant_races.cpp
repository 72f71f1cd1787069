// The checker for races on constant memory: the host writes a constant variable while a kernel may
// read it.
//
// Kernels cannot write constant memory, so the race checker skips accesses to it.  Only a copy to
// the variable in a stream that is not ordered with the kernel's stream can race.  For that, it is
// enough to record which bytes each launch reads, with one reading thread for each byte.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "vgpu/check/checker.hpp"
#include "vgpu/check/order/running_launch_state.hpp"
#include "vgpu/check/streams.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::uint32_t kGranuleBytes = 4;
// Reads of launches that the host has already waited for stay recorded too, because no event
// reports that wait.
constexpr std::size_t kReadsMax = 1 << 20;
// The number of latest instructions whose reads can still be extended by neighbouring reads.
constexpr std::ptrdiff_t kTurns = 8;

class ConstantRaceChecker final : public Checker {
 public:
  using Checker::Checker;

  [[nodiscard]] Watched watches() const override { return {.shared = false, .blocks = false}; }
  [[nodiscard]] bool may_be_split() const override { return true; }

  [[nodiscard]] bool watches_accesses_of(const Program& program) const override {
    return program.has_constant_accesses;
  }

  void reset(WarpModel /*model*/) override {
    running_.reset();
    known_.clear();
    tables_.clear();
    latest_table_ = nullptr;
    reads_ = 0;
  }

  void on_sync(const Sync& sync) override {
    if (running_.begins_at(sync)) *running_ = {sync.program, sync.grid, sync.block, {}};
  }

  void resumes(const ResumedLaunch& resumed) override { running_.resume(resumed.launch); }

  void on_access(const Access& access) override {
    if (access.space != ptx::Space::constant) return;
    Table& table = table_of(*access.allocation);
    if (access.pattern == Pattern::uniform) return add(access, access.first_lane(), table);
    for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
      add(access, static_cast<unsigned>(std::countr_zero(rest)), table);
    }
  }

  bool takes_row(const RowAccess& row) override {
    return row.space != ptx::Space::constant || has_seen(row);
  }

  std::optional<RowQueue*> queue_of(const Allocation& allocation) override {
    if (allocation.space != ptx::Space::constant) return nullptr;
    const Table& table = table_of(allocation);
    if (table.launch == mark() && table.unread == 0) return nullptr;
    return std::nullopt;
  }

  void on_host_access(const HostAccess& access) override { check(access); }
  void on_late_host_access(const HostAccess& access) override { check(access); }

  void on_device_copy(const DeviceCopy& copy) override {
    HostAccess access;
    access.allocation = copy.target;
    access.offset = copy.target_offset;
    access.bytes = copy.bytes;
    access.write = true;
    access.unordered_launches = copy.unordered_launches;
    access.call = copy.call;
    check(access);
  }

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

  Table& table_of(const Allocation& allocation) {
    if (latest_table_ != nullptr && latest_ == allocation.id) return *latest_table_;
    Table& table = tables_[allocation.id];
    if (table.words.empty()) table.words.resize(allocation.bytes / kGranuleBytes + 1);
    latest_ = allocation.id;
    latest_table_ = &table;
    return table;
  }

  // Returns whether the launch has read all bytes of a row before: a table is read again and again,
  // but only the first read of a byte is recorded.
  bool has_seen(const RowAccess& row) {
    const Table& table = table_of(*row.allocation);
    if (table.launch == mark() && table.unread == 0) return true;
    if (row.pattern == Pattern::uniform) {
      return has_seen(table.words, row.first, row.first + row.bytes);
    }
    for (std::uint32_t rest = row.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      const std::uint32_t begin = row.offset_of(lane);
      if (!has_seen(table.words, begin, begin + row.bytes)) return false;
    }
    return true;
  }

  [[nodiscard]] bool has_seen(const std::vector<Word>& words, std::uint32_t begin,
                              std::uint32_t end) const {
    for (std::uint32_t at = begin; at < end;) {
      const std::uint32_t first = at % kGranuleBytes;
      const std::uint32_t count = std::min(end - at, kGranuleBytes - first);
      const std::uint32_t bits = ((1u << count) - 1) << first;
      const Word& word = words[at / kGranuleBytes];
      if (word.launch != mark() || (word.bytes & bits) != bits) return false;
      at += count;
    }
    return true;
  }

  void add(const Access& access, unsigned lane, Table& table) {
    if (table.launch != mark()) {
      table.launch = mark();
      table.unread = access.allocation->bytes;
    }
    const std::uint32_t begin = access.offset[lane], end = begin + access.bytes;
    bool is_new = false;
    for (std::uint32_t at = begin; at < end; ++at) {
      Word& word = table.words[at / kGranuleBytes];
      const std::uint32_t bit = 1u << at % kGranuleBytes;
      if (word.launch != mark()) word = {mark(), 0};
      if ((word.bytes & bit) != 0) continue;
      is_new = true;
      word.bytes |= bit;
      --table.unread;
    }
    if (!is_new) return;
    const auto [launch, is_first] = known_.try_emplace(running_.current(), *running_);
    std::vector<Read>& reads = launch->second.reads;
    const Read read{access.allocation->id, begin,     end,
                    access.bytes,          access.pc, thread_of(access.place, lane)};
    const auto turns = std::min(kTurns, std::ssize(reads));
    const auto before = std::find_if(reads.end() - turns, reads.end(), [&](const Read& other) {
      return other.end == begin && other.pc == read.pc && other.allocation == read.allocation &&
             other.who == read.who;
    });
    if (before != reads.end()) {
      before->end = end;
      return;
    }
    reads.push_back(read);
    if (++reads_ > kReadsMax) forget_oldest();
  }

  // Keeps the running launch even if it is the oldest.
  void forget_oldest() {
    while (reads_ > kReadsMax / 2 && known_.size() > 1) {
      reads_ -= known_.begin()->second.reads.size();
      known_.erase(known_.begin());
    }
  }

  void check(const HostAccess& access) {
    if (!access.write || access.allocation->space != ptx::Space::constant) return;
    for (const std::uint32_t number : access.unordered_launches) {
      const auto launch = known_.find(number);
      if (launch == known_.end()) continue;
      for (const Read& read : launch->second.reads) {
        const bool meets = read.allocation == access.allocation->id &&
                           read.begin < access.offset + access.bytes && access.offset < read.end;
        if (meets) report(access, launch->second, read);
      }
    }
  }

  void report(const HostAccess& access, const Launch& launch, const Read& read) {
    const Allocation& allocation = *access.allocation;
    const std::uint32_t first = std::max(read.begin, access.offset);
    const std::uint32_t offset = first - (first - read.begin) % read.bytes;
    const std::uint32_t call = reporter_.number_of_call();
    reporter_.report({launch.program, read.pc, call, 0}, Relation::host, [&] {
      Finding finding;
      finding.kind = FindingKind::data_race;
      finding.space = space_name(allocation.space);
      finding.kernel = kernel_name(launch.program->kernel);
      finding.object = fmt::format("{}, {}", describe(allocation, offset, read.bytes),
                                   counted(read.bytes, "byte"));
      finding.variable = variable_of(allocation, offset);
      finding.accesses = {side_at(role_name(AccessKind::read),
                                  {launch.program, read.pc, launch.grid.position_of(read.who.block),
                                   launch.block.position_of(read.who.thread)})};
      add_call(reporter_, access, finding);
      return finding;
    });
  }

  std::map<std::uint32_t, Launch> known_;            // by launch number; launches with reads
  std::size_t reads_ = 0;                            // reads of all launches
  std::unordered_map<std::uint32_t, Table> tables_;  // by allocation
  std::uint32_t latest_ = 0;  // the allocation whose table was asked for last
  Table* latest_table_ = nullptr;
  RunningLaunchState<Launch> running_;  // without reads
};

}  // namespace

std::unique_ptr<Checker> make_constant_races_checker(Reporter& reporter) {
  return std::make_unique<ConstantRaceChecker>(reporter);
}

}  // namespace warpcheck::vgpu
