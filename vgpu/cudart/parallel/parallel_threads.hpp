// The threads of parallel machines.  They live as long as the machines and wait between its
// launches, because starting and joining sixteen threads takes as long as a small launch.
//
// They are no threads of the program (start_own_thread()).  After a fork(), the child has no
// threads of its parent and starts its own.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace warpcheck::cudart {

class ParallelThreads {
 public:
  ParallelThreads() = default;
  ~ParallelThreads();
  ParallelThreads(const ParallelThreads&) = delete;
  ParallelThreads& operator=(const ParallelThreads&) = delete;

  // Begins run(number) for each number below `count`, each on a thread of its own and always on the
  // same one, with all signals blocked except those of faults.  Returns for how many: the system
  // may have fewer threads.  The previous round must have ended.
  //   run: throws nothing
  unsigned begin(unsigned count, std::function<void(unsigned)> run);
  // Returns whether the round has ended, after this time at the latest.
  bool wait_for(std::chrono::milliseconds time);

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;  // with the threads; null: there are none
};

}  // namespace warpcheck::cudart
