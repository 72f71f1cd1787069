// The watch of programs (host_watch.hpp): pages are protected, and the program's page faults show
// its accesses.
//
// An access that faults is recorded: si_addr is its first byte, the error code says whether it
// writes, Capstone determines the number of bytes.  The page is released for that one instruction,
// which runs with the trap flag set, and is protected again in the trap.  That costs about 20
// microseconds, so a page that is accessed often is released until the next launch begins or ends:
// after kSteps reads, or writes, or fewer if the program has already had many faults.  If there
// were reads alone, as of a host that polls, writes are still seen.  A repeated string instruction
// is recorded as a whole up to the end of the page, which is released.
//
// Accesses of other threads to a released page are not seen.  The handlers allocate memory: they
// interrupt only instructions that access shared memory, and allocators do not.
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "vgpu/cudart/host_watch/faulting_instruction.hpp"
#include "vgpu/cudart/host_watch/host_watch.hpp"
#include "vgpu/cudart/host_watch/pages.hpp"
#include "vgpu/cudart/host_watch/signal_mask.hpp"
#include "vgpu/cudart/host_watch/system_calls.hpp"
#include "vgpu/cudart/host_watch/unread_result.hpp"
#include "vgpu/cudart/memory/host_pages.hpp"
#include "vgpu/cudart/streams/idle_progress.hpp"
#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::cudart {
namespace {

// Shared memory is mapped in ascending order, and never reaches the system's own mappings.
constexpr std::uint64_t kMappedEnd = vgpu::kMappedBase + 0x1000'0000'0000;

constexpr greg_t kTrapFlag = 0x100;  // in the flags register
constexpr greg_t kDirectionFlag = 0x400;
constexpr greg_t kWriteFault = 2;        // in the page fault's error code
constexpr std::size_t kCodeMax = 32;     // return addresses per place
constexpr std::uint32_t kPollsMin = 64;  // equal consecutive reads
// On a stack that the program has created for its handlers, a handler has little space.
constexpr std::size_t kRoomToUnwind = 64 * 1024;

// Returns how many accesses to a page are recorded one by one, depending on the number of earlier
// faults.
std::uint32_t steps_of_page(std::uint64_t stepped) {
  if (stepped < 50'000) return 2048;
  if (stepped < 100'000) return 32;
  return 0;
}
constexpr std::size_t kGivenMax = 64;  // flags are in few pages
// After so many faults, at 10 microseconds each, the program is no longer watched.
constexpr std::uint64_t kFaultsMax = 1'000'000;

class SpinLock {
 public:
  void lock() {
    while (flag_.test_and_set(std::memory_order_acquire)) {
    }
  }
  void unlock() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag flag_ = ATOMIC_FLAG_INIT;
};

// The pages that were made accessible for the running instruction of this thread.
struct Lent {
  std::array<std::uint64_t, 4> pages{};
  unsigned count = 0;
  bool trapped_before = false;  // the program had the trap flag set itself
  SeenAccess access;            // by the instruction
};
[[gnu::tls_model("initial-exec")]] thread_local Lent lent;

void on_fault(int signal, siginfo_t* info, void* context);
void on_trap(int signal, siginfo_t* info, void* context);
void on_bus_error(int signal, siginfo_t* info, void* context);

// The handlers of one signal: ours, and the program's, which ours calls.
class Handler {
 public:
  using Function = void (*)(int, siginfo_t*, void*);
  Handler(int signal, Function own) : signal_(signal), own_(own) {}

  // Installs ours again, because the program may have set its own since.
  void install() {
    struct sigaction now {};
    ::sigaction(signal_, nullptr, &now);
    if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == own_) return;
    of_program_ = now;
    struct sigaction action {};
    action.sa_sigaction = own_;
    action.sa_flags = SA_SIGINFO | (now.sa_flags & (SA_ONSTACK | SA_RESTART));
    ::sigaction(signal_, &action, nullptr);
  }
  // Passes on a signal that is the program's own.
  void pass_on(siginfo_t* info, void* context) const {
    const bool has_info = (of_program_.sa_flags & SA_SIGINFO) != 0;
    if (!has_info && (of_program_.sa_handler == SIG_DFL || of_program_.sa_handler == SIG_IGN)) {
      // The instruction runs again, and the signal has its original effect.
      ::sigaction(signal_, &of_program_, nullptr);
      if (info->si_code <= 0) ::raise(signal_);  // it was sent by a process
      return;
    }
    const SignalMask blocked(SIG_BLOCK, of_program_.sa_mask);
    if (has_info) {
      of_program_.sa_sigaction(signal_, info, context);
    } else {
      of_program_.sa_handler(signal_);
    }
  }

 private:
  int signal_;
  Function own_;
  struct sigaction of_program_ {};
};

// The signals that an instruction can raise; they kill a thread that blocks them.
constexpr std::uint64_t kNeeded = 1u << (SIGSEGV - 1) | 1u << (SIGTRAP - 1);
// The C library's own signals (SIGCANCEL, SIGSETXID), which pthread_sigmask() never blocks.  The
// library blocks them, and all others, while it begins or ends a thread, and runs no code of the
// program then.
constexpr std::uint64_t kOfLibrary = 1ull << (32 - 1) | 1ull << (33 - 1);

constexpr int kLooks = 20;

bool this_thread_blocks() {
  sigset_t blocked;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  return sigismember(&blocked, SIGSEGV) == 1 || sigismember(&blocked, SIGTRAP) == 1;
}

bool other_thread_blocks() {
  std::error_code error;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", error)) {
    const auto id = static_cast<pid_t>(std::atoi(thread.path().filename().c_str()));
    if (id == ::gettid() || is_own_thread(id)) continue;
    std::ifstream status(thread.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (!line.starts_with("SigBlk:")) continue;
      const std::uint64_t blocked = std::strtoull(line.c_str() + 7, nullptr, 16);
      if ((blocked & kNeeded) != 0 && (blocked & kOfLibrary) != kOfLibrary) return true;
    }
  }
  return static_cast<bool>(error);
}

// A thread that handles such a signal blocks it meanwhile, so threads are looked at several times.
bool some_thread_blocks(int looks) {
  constexpr std::chrono::microseconds kPause{500};
  if (this_thread_blocks()) return true;
  for (int look = 1; other_thread_blocks(); ++look) {
    if (look == looks) return true;
    std::this_thread::sleep_for(kPause);
  }
  return false;
}

class PageWatch final : public HostWatch {
 public:
  PageWatch() {
    set_host_watch(this);
    catch_faults_by(catch_faults);
  }

  void watch(const std::vector<AddressRange>& ranges) override;
  void watch_again() override;
  void stop() override;
  void watch_freed(const AddressRange& range) override;
  void watch_edges(const std::vector<AddressRange>& edges) override;
  void forget_all() override;
  void watch_device_memory(void (*report)()) override {
    report_ = report;
    catch_faults();
  }
  void count_launches(std::uint32_t launches) override { launches_ = launches; }
  std::vector<SeenAccess> take() override;
  std::vector<const void*> code(std::uint32_t number) override;
  bool takes_polls() override { return polls_.exchange(false); }
  [[nodiscard]] bool never_reads_result(
      const std::vector<const void*>& return_addresses) const override {
    return is_never_read(return_addresses);
  }
  [[nodiscard]] std::string why_incomplete() const override;

  // Called in a handler, or before a system call.
  bool handle_fault(std::uint64_t address, ucontext_t& context);
  // Reports an access to memory that is not the program's, if the last fault was one.
  void report_foreign();
  // Reports that the program accesses memory of a device; its fault is not handled.
  void report_device_memory(std::uint64_t address, const ucontext_t& context);
  void take_back_lent();
  void give_all_for_now();
  void give_up_for(const char* interface);

  Handler faults{SIGSEGV, on_fault}, traps{SIGTRAP, on_trap}, bus_errors{SIGBUS, on_bus_error};

 private:
  // A place in code: the instruction, and its stack pointer.
  using Frame = std::pair<std::uint64_t, std::uint64_t>;

  static void catch_faults();
  bool prepare();
  SeenAccess access_of(std::uint64_t address, bool write, const FaultingInstruction& instruction,
                       const ucontext_t& context);
  // Returns false if it is the same as the last one, as in a polling loop.
  bool note(const SeenAccess& access);
  std::uint32_t code_of(const ucontext_t& context);
  const FaultingInstruction& instruction_at(std::uint64_t code, bool write);

  void give(std::uint64_t page);
  void give_reads(std::uint64_t page);
  void end_given();
  void note_page(std::uint64_t page, SeenAccess::Kind kind);

  void (*report_)() = nullptr;
  mutable SpinLock lock_;
  std::map<std::uint64_t, bool> given_;  // since the last watch_again(); whether writes are seen
  Pages pages_;
  std::vector<SeenAccess> seen_;
  std::vector<std::vector<const void*>> codes_;
  std::map<Frame, std::uint32_t> code_of_frame_;
  std::map<std::pair<std::uint64_t, bool>, FaultingInstruction> instructions_;
  std::atomic<std::uint32_t> launches_{0};
  std::atomic<bool> polls_{false};
  std::uint32_t equal_reads_ = 0;
  std::uint64_t stepped_ = 0, faults_ = 0;
  std::atomic<bool> gave_up_{false};
  bool gave_pages_ = false;
  std::uint32_t frees_ = 0, edges_ = 0;
  std::atomic<bool> saw_foreign_{false};
  bool frees_are_blocked_ = false;
  const char* unwatched_interface_ = nullptr;
  bool is_blocked_ = false, was_blocked_ = false, has_too_many_ = false;
  enum class Prepared : std::uint8_t { not_yet, yes, no } prepared_ = Prepared::not_yet;
};

PageWatch& watch() {
  static auto* const one = new PageWatch;  // lives until the process ends
  return *one;
}

[[gnu::constructor]] void make_watch() { watch(); }

void end_step(ucontext_t& context) {
  if (lent.count == 0) return;
  if (!lent.trapped_before) context.uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
  watch().take_back_lent();
}

void on_fault(int, siginfo_t* info, void* context) {
  end_touch_after_fault();  // never of a page that is watched
  const int error = errno;
  const auto address = reinterpret_cast<std::uint64_t>(info->si_addr);
  const bool is_of_page = info->si_code == SEGV_ACCERR || info->si_code == SEGV_MAPERR;
  if (!is_of_page || !watch().handle_fault(address, *static_cast<ucontext_t*>(context))) {
    end_step(*static_cast<ucontext_t*>(context));  // its handler may not return
    watch().report_device_memory(address, *static_cast<ucontext_t*>(context));
    watch().faults.pass_on(info, context);
  }
  watch().report_foreign();
  errno = error;
}

void on_trap(int, siginfo_t* info, void* context) {
  if (lent.count == 0) return watch().traps.pass_on(info, context);
  const int error = errno;
  end_step(*static_cast<ucontext_t*>(context));
  errno = error;
}

void on_bus_error(int, siginfo_t* info, void* context) {
  end_touch_after_fault();
  watch().bus_errors.pass_on(info, context);
}

// A system call may access everything after an address.
constexpr SystemCallHandlers kSystemCalls{
    .names_memory = [] { watch().give_all_for_now(); },
    .leads_elsewhere = [](const char* interface) { watch().give_up_for(interface); }};

// ---- requests of the device ----

void PageWatch::catch_faults() {
  warpcheck::cudart::watch().faults.install();
  warpcheck::cudart::watch().bus_errors.install();
}

bool PageWatch::prepare() {
  if (prepared_ == Prepared::not_yet) {
    prepared_ = watch_system_calls(kSystemCalls) ? Prepared::yes : Prepared::no;
  }
  return prepared_ == Prepared::yes;
}

void PageWatch::watch(const std::vector<AddressRange>& ranges) {
  if (gave_up_ || !prepare()) return;
  if (!pages_.takes_any()) is_blocked_ = some_thread_blocks(was_blocked_ ? 1 : kLooks);
  if (is_blocked_) was_blocked_ = true;
  if (is_blocked_) return;
  faults.install();
  traps.install();
  const std::lock_guard lock(lock_);
  for (const AddressRange& range : ranges) {
    // Each range needs one or two mappings of the system, and a process has at most 65,530.
    constexpr std::size_t kRangesMax = 8192;
    if (pages_.ranges() == kRangesMax) {
      has_too_many_ = true;
      break;
    }
    pages_.take(range);
  }
  end_given();
  pages_.take_again();
}

void PageWatch::watch_again() {
  const std::lock_guard lock(lock_);
  end_given();
  pages_.take_again();
}

void PageWatch::stop() {
  const std::lock_guard lock(lock_);
  end_given();
  pages_.give_all();
}

void PageWatch::watch_freed(const AddressRange& range) {
  if (!prepare()) return;
  // Many allocations are freed together, so the threads' signal masks are not checked each time.
  constexpr std::uint32_t kAskEvery = 64;
  if (frees_++ % kAskEvery == 0)
    frees_are_blocked_ = some_thread_blocks(frees_are_blocked_ ? 1 : kLooks);
  if (frees_are_blocked_ || this_thread_blocks()) return;
  faults.install();
  traps.install();
  const std::lock_guard lock(lock_);
  pages_.take_freed(range);
}

// A thread that blocks the signals is not looked for: it comes here only with a defect.
void PageWatch::watch_edges(const std::vector<AddressRange>& edges) {
  // Each edge needs a mapping of the system (watch()).
  constexpr std::uint32_t kEdgesMax = 8192;
  if (edges_ >= kEdgesMax || this_thread_blocks()) return;
  faults.install();
  traps.install();
  const std::lock_guard lock(lock_);
  edges_ += static_cast<std::uint32_t>(edges.size());
  for (const AddressRange& edge : edges) pages_.take_freed(edge);
}

void PageWatch::forget_all() {
  const std::lock_guard lock(lock_);
  pages_.forget_all();
  given_.clear();
  seen_.clear();
  launches_ = 0;
}

std::vector<SeenAccess> PageWatch::take() {
  const std::lock_guard lock(lock_);
  equal_reads_ = 0;
  return std::exchange(seen_, {});
}

void PageWatch::give(std::uint64_t page) {
  const auto given = given_.find(page);
  if (given != given_.end() && given->second) {
    note_page(page, SeenAccess::Kind::unseen_end);
    given_.erase(given);
  }
  const bool is_new = given_.size() < kGivenMax && given_.try_emplace(page, false).second;
  if (is_new) note_page(page, SeenAccess::Kind::unseen_begin);
  pages_.give(page);
}

void PageWatch::give_reads(std::uint64_t page) {
  if (given_.size() >= kGivenMax) return give(page);
  if (given_.try_emplace(page, true).second) note_page(page, SeenAccess::Kind::unseen_reads_begin);
  pages_.give_reads(page);
}

void PageWatch::end_given() {
  for (const auto& [page, sees_writes] : given_) note_page(page, SeenAccess::Kind::unseen_end);
  given_.clear();
}

void PageWatch::note_page(std::uint64_t page, SeenAccess::Kind kind) {
  SeenAccess change;
  change.kind = kind;
  change.address = page;
  change.bytes = Pages::kBytes;
  change.launches = launches_;
  seen_.push_back(change);
}

std::vector<const void*> PageWatch::code(std::uint32_t number) {
  const std::lock_guard lock(lock_);
  return codes_[number];
}

std::string PageWatch::why_incomplete() const {
  if (prepared_ == Prepared::no) return "the system does not let a process see its system calls";
  if (was_blocked_) return "a thread blocks SIGSEGV or SIGTRAP";
  if (unwatched_interface_ != nullptr) {
    return std::string("the program uses ") + unwatched_interface_ +
           ", by which the system reaches memory unseen";
  }
  if (gave_up_) return "there were too many of them beside unfinished work";
  if (has_too_many_) return "unfinished work may use too many pieces of memory at once";
  if (gave_pages_) return "some pages were accessed too often beside unfinished work";
  return {};
}

// ---- accesses of the program ----

bool PageWatch::handle_fault(std::uint64_t address, ucontext_t& context) {
  // A page of the program that faults is the program's own business.
  const bool is_shared = address >= vgpu::kMappedBase && address < kMappedEnd;
  if (!is_shared) return false;
  const std::lock_guard lock(lock_);
  const std::uint64_t page = Pages::page_of(address);
  const bool is_freed = pages_.is_freed(page);
  if (!is_freed && !pages_.is_taken(page)) {
    return Pages::give_unknown(page);  // another thread has released it since
  }
  greg_t* const registers = context.uc_mcontext.gregs;
  if (InEngine::is_this_thread()) {
    give(page);
    return true;
  }
  const bool write = (registers[REG_ERR] & kWriteFault) != 0;
  const FaultingInstruction& instruction =
      instruction_at(static_cast<std::uint64_t>(registers[REG_RIP]), write);
  const SeenAccess access = access_of(address, write, instruction, context);
  const bool is_other = note(access);
  saw_foreign_ = saw_foreign_ || is_freed;
  ++faults_;
  const bool is_often = pages_.count(page, write) > steps_of_page(stepped_);
  if (is_often && !write && !is_freed && lent.count == 0) {
    gave_pages_ = gave_pages_ || is_other;
    give_reads(page);
  } else if (is_freed || is_often || instruction.is_repeated || lent.count == lent.pages.size()) {
    gave_pages_ = gave_pages_ || (is_often && is_other);
    give(page);
  } else {
    ++stepped_;
    pages_.lend(page);
    if (lent.count == 0) lent.trapped_before = (registers[REG_EFL] & kTrapFlag) != 0;
    lent.pages[lent.count++] = page;
    lent.access = access;
    registers[REG_EFL] |= kTrapFlag;
  }
  if (pages_.has_failed() || faults_ > kFaultsMax) {
    gave_up_ = true;
    pages_.give_all();
  }
  return true;
}

void PageWatch::report_foreign() {
  if (report_ != nullptr && saw_foreign_.exchange(false)) report_();
}

void PageWatch::report_device_memory(std::uint64_t address, const ucontext_t& context) {
  if (!vgpu::is_of_devices_alone(address) || report_ == nullptr || InEngine::is_this_thread()) {
    return;
  }
  const greg_t* const registers = context.uc_mcontext.gregs;
  const bool write = (registers[REG_ERR] & kWriteFault) != 0;
  {
    const std::lock_guard lock(lock_);
    note(access_of(address, write,
                   instruction_at(static_cast<std::uint64_t>(registers[REG_RIP]), write), context));
  }
  report_();
}

void PageWatch::take_back_lent() {
  const std::lock_guard lock(lock_);
  for (unsigned i = 0; i < lent.count; ++i) pages_.take_back(lent.pages[i]);
  lent.count = 0;
  // A launch that has begun since may have written what the instruction has read.
  const bool may_be_later = !lent.access.write && lent.access.launches != launches_;
  if (!may_be_later || gave_up_) return;
  lent.access.launches = launches_;
  note(lent.access);
}

void PageWatch::give_all_for_now() {
  const std::lock_guard lock(lock_);
  pages_.give_all_for_now();
}

void PageWatch::give_up_for(const char* interface) {
  const std::lock_guard lock(lock_);
  unwatched_interface_ = interface;
  gave_up_ = true;
  pages_.give_all();
}

SeenAccess PageWatch::access_of(std::uint64_t address, bool write,
                                const FaultingInstruction& instruction, const ucontext_t& context) {
  SeenAccess access;
  access.address = address;
  access.write = write;
  access.launches = launches_;
  access.code = code_of(context);
  access.function = InHostFunction::number_of_this_thread();
  access.bytes = instruction.bytes;
  const greg_t* const registers = context.uc_mcontext.gregs;
  if (instruction.is_repeated && (registers[REG_EFL] & kDirectionFlag) == 0) {
    const auto left = static_cast<std::uint64_t>(registers[REG_RCX]) * instruction.bytes;
    const std::uint64_t page_end = Pages::page_of(address) + Pages::kBytes;
    access.bytes = static_cast<std::uint32_t>(std::min(left, page_end - address));
  }
  return access;
}

bool PageWatch::note(const SeenAccess& access) {
  if (!seen_.empty()) {
    SeenAccess& last = seen_.back();
    const bool is_alike = last.kind == SeenAccess::Kind::access && last.write == access.write &&
                          last.code == access.code && last.launches == access.launches &&
                          last.function == access.function;
    if (is_alike && last.address == access.address && last.bytes == access.bytes) {
      if (!access.write && ++equal_reads_ >= kPollsMin) polls_ = true;
      last.is_repeated = true;
      return false;
    }
    // Consecutive accesses are merged.
    if (is_alike && last.address + last.bytes == access.address) {
      last.bytes += access.bytes;
      return true;
    }
  }
  equal_reads_ = 0;
  seen_.push_back(access);
  return true;
}

const FaultingInstruction& PageWatch::instruction_at(std::uint64_t code, bool write) {
  const auto [known, is_new] = instructions_.try_emplace({code, write});
  if (is_new) known->second = decode_faulting(reinterpret_cast<const void*>(code), write);
  return known->second;
}

struct Unwound {
  std::vector<const void*> code;
  const void* begin = nullptr;
};

_Unwind_Reason_Code add_frame(_Unwind_Context* frame, void* to) {
  Unwound& unwound = *static_cast<Unwound*>(to);
  int is_before = 0;  // of a frame that a signal has interrupted: the instruction itself
  const auto place = reinterpret_cast<const char*>(::_Unwind_GetIPInfo(frame, &is_before));
  const bool is_begun = !unwound.code.empty() || place == unwound.begin;
  if (is_begun) unwound.code.push_back(is_before != 0 ? place + 1 : place);
  return unwound.code.size() < kCodeMax ? _URC_NO_REASON : _URC_END_OF_STACK;
}

// One instruction with one stack pointer is one place, because calls that lead there have the same
// return addresses.
std::uint32_t PageWatch::code_of(const ucontext_t& context) {
  const greg_t* const registers = context.uc_mcontext.gregs;
  const Frame frame{static_cast<std::uint64_t>(registers[REG_RIP]),
                    static_cast<std::uint64_t>(registers[REG_RSP])};
  const auto [known, is_new] =
      code_of_frame_.try_emplace(frame, static_cast<std::uint32_t>(codes_.size()));
  if (!is_new) return known->second;
  Unwound unwound;
  unwound.begin = reinterpret_cast<const void*>(frame.first);
  const bool is_small =
      (context.uc_stack.ss_flags & SS_ONSTACK) != 0 && context.uc_stack.ss_size < kRoomToUnwind;
  if (!is_small) ::_Unwind_Backtrace(add_frame, &unwound);
  if (unwound.code.empty()) unwound.code.push_back(static_cast<const char*>(unwound.begin) + 1);
  codes_.push_back(std::move(unwound.code));
  return known->second;
}

}  // namespace
}  // namespace warpcheck::cudart
