// Which signals this thread blocks while an object of the class exists.
#pragma once

#include <pthread.h>

#include <csignal>

namespace warpcheck::cudart {

class SignalMask {
 public:
  //   how: SIG_BLOCK adds `signals` to those that are blocked, SIG_SETMASK puts them in their place
  SignalMask(int how, const sigset_t& signals) { ::pthread_sigmask(how, &signals, &before_); }
  ~SignalMask() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalMask(const SignalMask&) = delete;
  SignalMask& operator=(const SignalMask&) = delete;

  [[nodiscard]] const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
};

}  // namespace warpcheck::cudart
