#include "cli/debug/dap/serve.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>
#include <utility>

#include "cli/debug/dap/adapter.hpp"
#include "cli/debug/dap/client.hpp"
#include "cli/debug/dap/inbox.hpp"
#include "cli/debug/dap/listener.hpp"

namespace warpcheck::dap {
namespace {

// A descriptor that ends with its owner, and that the debuggee does not inherit.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {
    if (number < 0) throw std::system_error(errno, std::generic_category(), "descriptor");
  }
  ~Descriptor() { ::close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

void serve(int in, int out, debug::Target target) {
  // Writing to a client that has gone is an error, and no end.  A handler, unlike SIG_IGN, is not
  // inherited by the debuggee.
  std::signal(SIGPIPE, [](int) {});
  Inbox inbox(in);
  Client client(out);
  Adapter(inbox, client, std::move(target)).serve();
}

}  // namespace

void serve_standard_streams(debug::Target target) {
  // Nothing else may write into the messages, or read from them: not even the debuggee.
  const Descriptor in(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  const Descriptor out(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  const Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ::dup2(nothing.number(), STDIN_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  serve(in.number(), out.number(), std::move(target));
}

void serve_port(std::uint16_t port, debug::Target target) {
  const Listener listener(port);
  fmt::print("waiting for a client at 127.0.0.1:{}\n", listener.port());
  std::fflush(stdout);
  const Descriptor client(listener.accept());
  serve(client.number(), client.number(), std::move(target));
}

}  // namespace warpcheck::dap
