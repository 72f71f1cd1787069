#include "vgpu/cudart/parallel/parallel_threads.hpp"

#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <utility>

#include "vgpu/cudart/host_watch/signal_mask.hpp"
#include "vgpu/cudart/streams/idle_progress.hpp"

namespace warpcheck::cudart {
namespace {

// A thread that blocked the signals of faults would be killed by them.
sigset_t faults() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int fault : {SIGSEGV, SIGBUS, SIGTRAP, SIGFPE, SIGILL}) ::sigaddset(&set, fault);
  return set;
}

}  // namespace

struct ParallelThreads::Shared {
  // What belongs to one thread.
  struct alignas(64) Place {
    std::mutex mutex;
    std::condition_variable wakes;
    bool has_thread = false, has_work = false;
  };

  // Returns false if the system has no thread.
  static bool make_thread(const std::shared_ptr<Shared>& shared, unsigned number);
  void work(unsigned number);

  const pid_t process = ::getpid();
  std::deque<Place> places;  // by number
  std::function<void(unsigned)> run;
  std::mutex mutex;
  std::condition_variable has_ended;
  unsigned running = 0;
  std::atomic<bool> is_over = false;  // the machines exist no more
};

bool ParallelThreads::Shared::make_thread(const std::shared_ptr<Shared>& shared, unsigned number) {
  Place& place = shared->places[number];
  if (place.has_thread) return true;
  place.has_thread = start_own_thread([shared, number] { shared->work(number); });
  return place.has_thread;
}

void ParallelThreads::Shared::work(unsigned number) {
  const SignalMask unblocked(SIG_UNBLOCK, faults());
  Place& place = places[number];
  std::unique_lock lock(place.mutex);
  while (true) {
    place.wakes.wait(lock, [&] { return place.has_work || is_over; });
    if (is_over) return;
    place.has_work = false;
    lock.unlock();
    run(number);
    {
      const std::lock_guard all(mutex);
      if (--running == 0) has_ended.notify_one();
    }
    lock.lock();
  }
}

ParallelThreads::~ParallelThreads() {
  if (shared_ == nullptr || shared_->process != ::getpid()) return;
  shared_->is_over = true;
  for (Shared::Place& place : shared_->places) {
    const std::lock_guard lock(place.mutex);
    place.wakes.notify_one();
  }
}

unsigned ParallelThreads::begin(unsigned count, std::function<void(unsigned)> run) {
  if (shared_ == nullptr || shared_->process != ::getpid()) shared_ = std::make_shared<Shared>();
  while (shared_->places.size() < count) shared_->places.emplace_back();
  unsigned begun = 0;
  while (begun < count && Shared::make_thread(shared_, begun)) ++begun;
  shared_->run = std::move(run);
  shared_->running = begun;
  for (unsigned number = 0; number < begun; ++number) {
    Shared::Place& place = shared_->places[number];
    const std::lock_guard lock(place.mutex);
    place.has_work = true;
    place.wakes.notify_one();
  }
  return begun;
}

bool ParallelThreads::wait_for(std::chrono::milliseconds time) {
  std::unique_lock lock(shared_->mutex);
  return shared_->has_ended.wait_for(lock, time, [&] { return shared_->running == 0; });
}

}  // namespace warpcheck::cudart
