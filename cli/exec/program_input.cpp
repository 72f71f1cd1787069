#include "cli/exec/program_input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "cli/exec/program_file.hpp"

namespace warpcheck {
namespace {

constexpr std::size_t kBlock = 64 * 1024;

[[noreturn]] void fail(std::string_view what) {
  throw ProgramError(fmt::format("standard input: {}: {}", what, std::strerror(errno)));
}

}  // namespace

ProgramInput::ProgramInput(std::filesystem::path spool) : path_(std::move(spool)) {
  struct stat status {};
  if (::fstat(STDIN_FILENO, &status) != 0) return;  // closed
  start_ = ::lseek(STDIN_FILENO, 0, SEEK_CUR);
  if (S_ISREG(status.st_mode) && start_ >= 0) kind_ = Kind::file;
  if (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)) kind_ = Kind::stream;
  // /dev/null and similar devices always give the same; a terminal does not.
  if (S_ISCHR(status.st_mode) && ::isatty(STDIN_FILENO) == 0) kind_ = Kind::file;
}

ProgramInput::~ProgramInput() {
  end_run();
  if (spool_ >= 0) ::close(spool_);
}

int ProgramInput::begin_run() {
  if (kind_ == Kind::file) static_cast<void>(::lseek(STDIN_FILENO, start_, SEEK_SET));
  if (kind_ != Kind::stream) return STDIN_FILENO;
  if (spool_ < 0) spool_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  std::array<int, 2> ends{};
  if (spool_ < 0 || ::pipe2(ends.data(), O_CLOEXEC) != 0) fail("cannot be handed on");
  from_ = ends[0];
  to_ = ends[1];
  ::fcntl(to_, F_SETFL, O_NONBLOCK);
  given_ = 0;
  return from_;
}

void ProgramInput::started() {
  if (from_ >= 0) ::close(std::exchange(from_, -1));
}

void ProgramInput::end_run() {
  started();
  if (to_ >= 0) ::close(std::exchange(to_, -1));
}

// Content of the spool is written when the pipe has room; otherwise more must be read first.
// poll() reports a pipe without a reader as an error.
void ProgramInput::add_to(std::vector<pollfd>& wanted) const {
  if (to_ < 0) return;
  const bool has_more = given_ < spooled_ || ended_;
  wanted.push_back({to_, static_cast<short>(has_more ? POLLOUT : 0), 0});
  if (!has_more) wanted.push_back({STDIN_FILENO, POLLIN, 0});
}

void ProgramInput::serve() {
  if (to_ < 0) return;
  pollfd reader{to_, 0, 0};
  if (::poll(&reader, 1, 0) > 0 && (reader.revents & POLLERR) != 0) {  // no reader
    ::close(std::exchange(to_, -1));
    return;
  }
  if (given_ == spooled_ && !ended_) fill();
  while (given_ < spooled_) {
    if (!write_from_spool()) return;
  }
  if (ended_) ::close(std::exchange(to_, -1));
}

void ProgramInput::fill() {
  pollfd ready{STDIN_FILENO, POLLIN, 0};
  if (::poll(&ready, 1, 0) <= 0) return;
  std::array<char, kBlock> block;
  const ssize_t count = ::read(STDIN_FILENO, block.data(), block.size());
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
  ended_ = count <= 0;
  if (count > 0 &&
      ::pwrite(spool_, block.data(), static_cast<std::size_t>(count), spooled_) != count) {
    fail("cannot be kept for further runs");
  }
  spooled_ += std::max<ssize_t>(count, 0);
}

// false: the pipe is full, or has no reader.
bool ProgramInput::write_from_spool() {
  std::array<char, kBlock> block;
  const ssize_t count =
      ::pread(spool_, block.data(), std::min<std::size_t>(block.size(), spooled_ - given_), given_);
  if (count <= 0) fail("cannot be read again");
  const ssize_t written = ::write(to_, block.data(), static_cast<std::size_t>(count));
  if (written < 0) {
    if (errno != EAGAIN && errno != EINTR) ::close(std::exchange(to_, -1));
    return false;
  }
  given_ += written;
  return true;
}

}  // namespace warpcheck
