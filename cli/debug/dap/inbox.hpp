// The requests of a client, which a thread of its own reads, so that one that arrives while the
// debuggee runs can stop it.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>

#include "cli/debug/dap/frames.hpp"
#include "cli/debug/dap/request.hpp"

namespace warpcheck::dap {

struct Damage {
  std::string message;
};
struct Disappearance {};  // always the last one
using Arrival = std::variant<Request, Damage, Disappearance>;

class Inbox {
 public:
  // in: a descriptor, which remains the caller's
  explicit Inbox(int in);
  ~Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  // Waits for the next arrival.
  [[nodiscard]] Arrival wait();
  // Returns the next one; nothing: none has arrived.
  [[nodiscard]] std::optional<Arrival> next();

  // Until the object ends, `interrupt` is called now and then while an arrival waits for which
  // `matters` is true: again and again, because what it stops may not have begun.  Both are called
  // by another thread.
  class Interruption {
   public:
    Interruption(Inbox& inbox, std::function<bool(const Arrival&)> matters,
                 std::function<void()> interrupt);
    ~Interruption();
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;

   private:
    Inbox& inbox_;
  };

 private:
  void read_until_end();
  // Returns false at the end of the stream.
  bool read_some();
  void add(Arrival arrival);
  // Returns whether something waits that should interrupt; interrupts.
  bool interrupt_if_needed();
  void wake() const;

  int in_;
  int wake_ = -1;  // an eventfd: ends the thread's poll()
  FrameReader reader_;

  std::mutex mutex_;  // of all that follows
  std::condition_variable arrived_;
  std::deque<Arrival> arrivals_;
  std::function<bool(const Arrival&)> matters_;
  std::function<void()> interrupt_;
  bool is_ending_ = false;

  std::thread thread_;
};

}  // namespace warpcheck::dap
