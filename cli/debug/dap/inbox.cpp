#include "cli/debug/dap/inbox.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

namespace warpcheck::dap {
namespace {

constexpr int kInterruptEveryMs = 10;
constexpr int kForEver = -1;

}  // namespace

Inbox::Inbox(int in) : in_(in), wake_(::eventfd(0, EFD_CLOEXEC)) {
  if (wake_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  thread_ = std::thread([this] { read_until_end(); });
}

Inbox::~Inbox() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  wake();
  thread_.join();
  ::close(wake_);
}

void Inbox::wake() const {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(wake_, &one, sizeof one));
}

Arrival Inbox::wait() {
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [&] { return !arrivals_.empty(); });
  Arrival arrival = std::move(arrivals_.front());
  arrivals_.pop_front();
  return arrival;
}

std::optional<Arrival> Inbox::next() {
  {
    const std::lock_guard lock(mutex_);
    if (arrivals_.empty()) return std::nullopt;
  }
  return wait();  // nobody else takes arrivals
}

void Inbox::add(Arrival arrival) {
  const std::lock_guard lock(mutex_);
  arrivals_.push_back(std::move(arrival));
  arrived_.notify_one();
}

bool Inbox::interrupt_if_needed() {
  const std::lock_guard lock(mutex_);
  if (!interrupt_ || std::ranges::none_of(arrivals_, matters_)) return false;
  interrupt_();
  return true;
}

bool Inbox::read_some() {
  std::array<char, 1 << 16> bytes{};
  ssize_t count = 0;
  do {
    count = ::read(in_, bytes.data(), bytes.size());
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return false;
  reader_.add({bytes.data(), static_cast<std::size_t>(count)});
  for (bool is_more = true; is_more;) {
    try {
      const std::optional<std::string> text = reader_.next();
      is_more = text.has_value();
      if (!text) continue;
      if (std::optional<Request> request = parse_request(*text)) add(std::move(*request));
    } catch (const DamagedMessage& error) {
      add(Damage{error.what()});
    }
  }
  return true;
}

void Inbox::read_until_end() {
  std::array<pollfd, 2> polled{pollfd{in_, POLLIN, 0}, pollfd{wake_, POLLIN, 0}};
  for (;;) {
    const int ready =
        ::poll(polled.data(), polled.size(), interrupt_if_needed() ? kInterruptEveryMs : kForEver);
    {
      const std::lock_guard lock(mutex_);
      if (is_ending_) return;
    }
    if (ready <= 0) continue;
    if (polled[1].revents != 0) {
      std::uint64_t count = 0;
      static_cast<void>(!::read(wake_, &count, sizeof count));
    }
    if (polled[0].revents != 0 && !read_some()) {
      add(Disappearance{});
      polled[0].fd = -1;  // poll() passes it by
    }
  }
}

Inbox::Interruption::Interruption(Inbox& inbox, std::function<bool(const Arrival&)> matters,
                                  std::function<void()> interrupt)
    : inbox_(inbox) {
  {
    const std::lock_guard lock(inbox_.mutex_);
    inbox_.matters_ = std::move(matters);
    inbox_.interrupt_ = std::move(interrupt);
  }
  inbox_.wake();
}

Inbox::Interruption::~Interruption() {
  const std::lock_guard lock(inbox_.mutex_);
  inbox_.interrupt_ = nullptr;
}

}  // namespace warpcheck::dap
