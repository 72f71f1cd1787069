#include "harness/process/workers.hpp"

#include <algorithm>

namespace warpcheck {
namespace {

class Collector final : public WorkerListener {
 public:
  explicit Collector(std::size_t count) : results(count) {}
  void on_message(std::size_t task, const Message& message) override {
    results[task].messages.push_back(message);
  }
  void on_unreadable(std::size_t task, const ProtocolError& error) override {
    results[task].unreadable.push_back(internal_error(error));
  }
  void on_end(std::size_t task, const WorkerEnd& end) override {
    results[task].finished = end.finished;
    results[task].failure = end.failure;
    results[task].threw = end.threw;
    ended.push_back(task);
  }

  std::vector<TaskResult> results;
  std::vector<std::size_t> ended;
};

}  // namespace

std::vector<TaskResult> run_tasks(std::size_t count, unsigned jobs,
                                  const std::function<void(std::size_t, const Emit&)>& work,
                                  const volatile std::sig_atomic_t* stop,
                                  const std::function<void(std::size_t)>& on_finished,
                                  const std::function<void()>& on_wait) {
  Collector collector(count);
  WorkerPool pool;
  std::size_t next = 0;
  while (next < count || pool.running() > 0) {
    if (stop != nullptr && *stop != 0) {
      collector.ended.clear();
      pool.stop_all(collector);
      for (const std::size_t task : collector.ended) {
        TaskResult& result = collector.results[task];
        if (result.finished) continue;
        result.interrupted = true;
        result.failure = "interrupted";
      }
      break;
    }
    for (; next < count && pool.running() < std::max(jobs, 1u); ++next) {
      pool.start(next, [&work, task = next](const Emit& emit) { work(task, emit); });
    }
    collector.ended.clear();
    pool.wait(200, collector);
    for (const std::size_t task : collector.ended) {
      if (on_finished) on_finished(task);
    }
    if (on_wait) on_wait();
  }
  return std::move(collector.results);
}

}  // namespace warpcheck
