// The file of a trace: bounded, written while the program runs, and shared by the processes of a
// program.
//
// A process appends whole lines only, so a process that is killed leaves a usable beginning.  The
// file is opened anew each time, because programs close file descriptors that they do not know.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "vgpu/check/trace/trace_options.hpp"

namespace warpcheck::vgpu {

class TraceFile {
 public:
  // path: of a file that begin() has made; empty: standard output.
  TraceFile(std::string path, std::uint64_t bytes_max);
  ~TraceFile() { flush(); }
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  // Makes the file, or makes it empty, with what is in front of all lines; end() writes what is
  // behind them.  Return why that failed, an errno; 0: it did not.
  //   is_cut: a process was killed before it wrote the mark of its end
  static int begin(const std::string& path, TraceFormat format);
  static int end(const std::string& path, TraceFormat format, bool is_cut = false);

  // Appends a line, or lines that belong together.  Those that reach the limit are the last. False:
  // they are left out, as are all later ones.
  bool add(std::string_view lines);
  // Appends the mark of the end, whatever the file's size.
  void add_mark(std::string_view lines);
  void flush();

  // Returns whether others have written to it, when this object was made.
  [[nodiscard]] bool has_lines() const { return has_lines_; }
  [[nodiscard]] bool is_full() const { return is_full_ || error_ != 0; }
  // Returns why the file could not be written, an errno; 0: it could.
  [[nodiscard]] int error() const { return error_; }

 private:
  void forget_parent();

  std::string path_, waiting_;
  std::uint64_t bytes_max_, bytes_ = 0;
  bool has_lines_ = false, is_full_ = false;
  int error_ = 0;
  pid_t process_;
};

}  // namespace warpcheck::vgpu
