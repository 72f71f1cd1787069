// Whoever sees what the host does in memory that it shares with kernels, without a call of the API:
// ordinary loads and stores of the program.
//
// Such a watch takes pages away from the program and gets its faults (page_watch.hpp).  It is
// linked into libraries that stand for the toolkit's, and not into the harness: then there is none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpcheck::cudart {

// Bytes at addresses of the program, [begin, end).
struct AddressRange {
  std::uint64_t begin = 0, end = 0;
};

struct SeenAccess {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  bool write = false;
  std::uint32_t launches = 0;  // that had begun to run
  std::uint32_t code = 0;      // where: its number in HostWatch::code()
};

class HostWatch {
 public:
  virtual ~HostWatch() = default;

  // Accesses to these ranges are seen from now on, beside those that are seen already.  Ranges of
  // one allocation share no page with others.
  virtual void watch(const std::vector<AddressRange>& ranges) = 0;
  // Pages that were given back to the program, as it used them often, are watched again.
  virtual void watch_again() = 0;
  // Nothing is watched any more but what was freed.
  virtual void stop() = 0;
  // The range is not the program's any more, for good.
  virtual void watch_freed(const AddressRange& range) = 0;
  // All of it is unmapped: nothing is known of it any more.
  virtual void forget_all() = 0;

  // So many launches have begun to run.
  virtual void count_launches(std::uint32_t launches) = 0;
  // What was seen since the last time, in the order of time.
  virtual std::vector<SeenAccess> take() = 0;
  // Pages that were given back since they were watched again: what the program does there is not
  // seen.
  [[nodiscard]] virtual std::vector<AddressRange> given() const = 0;
  // The return addresses that lead to an access: first the instruction's own place.
  virtual std::vector<const void*> code(std::uint32_t number) = 0;
  // Whether the program has read one place again and again since the last time.
  virtual bool takes_polls() = 0;
  // Why accesses are not seen, or not all; empty: they are.
  [[nodiscard]] virtual std::string why_incomplete() const = 0;
};

// nullptr: there is none.
HostWatch* host_watch();
void set_host_watch(HostWatch* watch);

// While a thread answers a call of the API: what it reads and writes itself is no access of the
// program's.
class InEngine {
 public:
  InEngine() { ++depth(); }
  ~InEngine() { --depth(); }
  InEngine(const InEngine&) = delete;
  InEngine& operator=(const InEngine&) = delete;
  static bool is_this_thread() { return depth() != 0; }

 private:
  static int& depth();
};

}  // namespace warpcheck::cudart
