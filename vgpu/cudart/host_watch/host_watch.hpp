// The interface of a watch: it sees the ordinary loads and stores of a program, without calls of
// the API, to memory that it shares with kernels, and reads the program's machine code.
//
// Such a watch protects pages and handles the program's page faults (page_watch.cpp).  It is linked
// into the libraries that replace the toolkit's, and not into the harness, which has no watch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpcheck::cudart {

// Addresses of the program, [begin, end).
struct AddressRange {
  std::uint64_t begin = 0, end = 0;
};

struct SeenAccess {
  enum class Kind : std::uint8_t {
    access,
    // The bytes are those of a page.  Its accesses, or its reads, are not seen any more because
    // there are many of them, or are seen again.
    unseen_begin,
    unseen_reads_begin,
    unseen_end,
  };
  Kind kind = Kind::access;
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  bool write = false;
  std::uint32_t launches = 0;  // that had begun to run
  std::uint32_t code = 0;      // the place, as its number in HostWatch::code()
  std::uint32_t function = 0;  // the host function that made it (InHostFunction); 0: none
  bool is_repeated = false;    // the program has then made the same access again
};

class HostWatch {
 public:
  virtual ~HostWatch() = default;

  // Watches accesses to these ranges from now on, in addition to those watched already.  Ranges of
  // different allocations share no page.
  virtual void watch(const std::vector<AddressRange>& ranges) = 0;
  // Watches pages again that were released to the program because it accessed them often.
  virtual void watch_again() = 0;
  // Watches only freed memory from now on.
  virtual void stop() = 0;
  // The range no longer belongs to the program, permanently.  An access is reported at once, as it
  // may end the program.
  virtual void watch_freed(const AddressRange& range) = 0;
  // The same for ranges that never belong to it: those before and behind its memory.
  virtual void watch_edges(const std::vector<AddressRange>& edges) = 0;
  // All memory is unmapped: nothing is watched any more.
  virtual void forget_all() = 0;

  // The number of launches that have begun to run.
  virtual void count_launches(std::uint32_t launches) = 0;
  // Returns the accesses seen since the last call, in the order of time.
  virtual std::vector<SeenAccess> take() = 0;
  // Returns the return addresses that lead to an access; the first is the place of the instruction
  // itself.
  virtual std::vector<const void*> code(std::uint32_t number) = 0;
  // Returns whether the program has repeatedly read one location since the last call.
  virtual bool takes_polls() = 0;
  // Catches accesses to memory that is not the program's, from now on those of devices too, which
  // end the program.
  //   report: reports the accesses that were seen, at once
  virtual void watch_device_memory(void (*report)()) = 0;
  // Returns whether the program never reads the result of the call behind which these addresses
  // lie, innermost first: its register is overwritten, on each path, before an instruction reads
  // it.  False if that is not known.
  [[nodiscard]] virtual bool never_reads_result(
      const std::vector<const void*>& return_addresses) const = 0;
  // Returns why accesses are not seen, or not all of them; empty: they are all seen.
  [[nodiscard]] virtual std::string why_incomplete() const = 0;
};

// Returns nullptr if there is no watch.
HostWatch* host_watch();
void set_host_watch(HostWatch* watch);

// Exists while a thread executes an API call: its own accesses are not accesses of the program.
class InEngine {
 public:
  InEngine() { ++depth_; }
  ~InEngine() { --depth_; }
  InEngine(const InEngine&) = delete;
  InEngine& operator=(const InEngine&) = delete;
  static bool is_this_thread() { return depth_ != 0; }

 private:
  friend class InHostFunction;
  // A signal handler reads it, so it must exist without an allocation.
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local int depth_ = 0;
};

// Exists while a thread executes a host function (cudaLaunchHostFunc) within an API call: its
// accesses are accesses of the program.
class InHostFunction {
 public:
  // Functions that belong to no operation, such as the destructors of user objects.
  static constexpr std::uint32_t kOfNoOperation = ~std::uint32_t{0};

  //   number: of the function, not 0
  explicit InHostFunction(std::uint32_t number);
  ~InHostFunction();
  InHostFunction(const InHostFunction&) = delete;
  InHostFunction& operator=(const InHostFunction&) = delete;
  // Returns the number of the function that this thread executes; 0: none.
  static std::uint32_t number_of_this_thread();

 private:
  int depth_of_engine_;
};

}  // namespace warpcheck::cudart
