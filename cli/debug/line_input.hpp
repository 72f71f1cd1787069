// The lines that the user types: with history and completion on a terminal, else as they come.
#pragma once

#include <string>

namespace warpcheck::debug {

class LineInput {
 public:
  LineInput();
  // Reads the next line.  False: there is none.
  bool read(std::string& line);

 private:
  bool is_terminal_ = false;
};

}  // namespace warpcheck::debug
