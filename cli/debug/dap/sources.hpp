// How the client names source files and lines, and what it is shown where there is no file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/debug/dap/handlers.hpp"
#include "cli/debug/session.hpp"

namespace warpcheck::dap {

class Sources {
 public:
  // Of `initialize`: whether the client counts lines from 1 or from 0.
  void count_lines_from(int first) { first_line_ = first; }
  [[nodiscard]] std::int64_t to_client(std::uint32_t line) const {
    return std::int64_t{line} - 1 + first_line_;
  }
  // 0: no line has that number.
  [[nodiscard]] std::uint32_t from_client(std::int64_t line) const;

  // The Source of a file as nvcc recorded it, with the path of the file that exists.
  [[nodiscard]] Json source_of(const std::string& file) const;
  // Sets `source` and `line` of a frame.  Code without a file is shown as the kernel's PTX.
  void place(Json& frame, const debug::CodeLocation& at, debug::DebugSession& session);
  // Of the files that nvcc recorded the one that the client means; its own path if it is none of
  // them: the code may not be loaded yet.
  [[nodiscard]] static std::string recorded_file(const std::string& path,
                                                 const std::vector<std::string>& recorded);

  void add_requests(Handlers& handlers);

 private:
  int first_line_ = 1;
  std::map<std::string, std::int64_t> numbers_;  // of texts, by kernel: sourceReference
  std::map<std::int64_t, std::string> texts_;
};

}  // namespace warpcheck::dap
