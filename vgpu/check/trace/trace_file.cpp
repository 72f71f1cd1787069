#include "vgpu/check/trace/trace_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace warpcheck::vgpu {
namespace {

constexpr std::size_t kWaitingMax = 16u << 10;

// An array without its end is accepted by the viewers, so a trace that is cut off can be opened.
constexpr std::string_view kChromeBegin = "[\n";
constexpr std::string_view kChromeEnd =
    "{\"ph\":\"M\",\"name\":\"trace_end\",\"pid\":0,\"tid\":0,\"args\":{}}\n]\n";
constexpr std::string_view kChromeCut =
    "{\"ph\":\"M\",\"name\":\"trace_end\",\"pid\":0,\"tid\":0,\"args\":{\"name\":\"cut off: a "
    "process was killed\"}}\n]\n";
constexpr std::string_view kTextEnd = "# end of the file\n";
constexpr std::string_view kTextCut =
    "# cut off: a process was killed, so its last steps may be missing\n# end of the file\n";
constexpr std::string_view kTextBegin =
    "# warpcheck trace 1.  A line is an instruction: its step in the launch, block, warp, lanes, "
    "source line, PTX;\n"
    "# then for each shown lane the registers that it reads (=) and writes (:=), and memory.\n";

int write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

// size: is set to that of a regular file
int append(const std::string& path, int flags, std::string_view bytes, std::uint64_t& size) {
  constexpr mode_t kMode = 0666;
  const bool is_output = path.empty();
  const int file = is_output ? STDOUT_FILENO
                             : ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | flags, kMode);
  if (file < 0) return errno;
  const int error = write_all(file, bytes);
  struct stat status {};
  const bool is_file = !is_output && ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  size = is_file ? static_cast<std::uint64_t>(status.st_size) : size + bytes.size();
  if (!is_output) ::close(file);
  return error;
}

}  // namespace

TraceFile::TraceFile(std::string path, std::uint64_t bytes_max)
    : path_(std::move(path)), bytes_max_(bytes_max), process_(::getpid()) {
  struct stat status {};
  if (!path_.empty() && ::stat(path_.c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
    bytes_ = static_cast<std::uint64_t>(status.st_size);
    has_lines_ = bytes_ > std::max(kChromeBegin.size(), kTextBegin.size());
  }
}

int TraceFile::begin(const std::string& path, TraceFormat format) {
  std::uint64_t size = 0;
  return append(path, O_CREAT | O_TRUNC, format == TraceFormat::chrome ? kChromeBegin : kTextBegin,
                size);
}

int TraceFile::end(const std::string& path, TraceFormat format, bool is_cut) {
  std::uint64_t size = 0;
  const bool is_chrome = format == TraceFormat::chrome;
  const std::string_view mark =
      is_cut ? (is_chrome ? kChromeCut : kTextCut) : (is_chrome ? kChromeEnd : kTextEnd);
  return append(path, 0, mark, size);
}

// After fork(), the lines that wait belong to the parent.
void TraceFile::forget_parent() {
  if (const pid_t process = ::getpid(); process != process_) {
    process_ = process;
    waiting_.clear();
  }
}

bool TraceFile::add(std::string_view lines) {
  if (is_full()) return false;
  forget_parent();
  waiting_ += lines;
  is_full_ = bytes_ + waiting_.size() >= bytes_max_;
  if (is_full_ || waiting_.size() >= kWaitingMax) flush();
  return error_ == 0;
}

void TraceFile::add_mark(std::string_view lines) {
  forget_parent();
  waiting_ += lines;
  flush();
}

void TraceFile::flush() {
  forget_parent();
  if (waiting_.empty() || error_ != 0) return;
  error_ = append(path_, 0, waiting_, bytes_);
  waiting_.clear();
}

}  // namespace warpcheck::vgpu
