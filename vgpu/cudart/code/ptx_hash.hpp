// Hashes of kernels' PTX that change only if their code changes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpcheck::cudart {

// The functions of a translation unit, found once: a unit may have a thousand kernels.
class KernelHashes {
 public:
  explicit KernelHashes(std::string_view ptx);  // must outlive this

  // Hashes the text of `kernel` (its .entry), and of every .func.  Left out is what can change
  // without the code: source lines (.loc, .file), comments, debug sections and labels, the number
  // of the function in its block labels, and the hash of the file's path in names of internal
  // linkage.
  [[nodiscard]] std::uint64_t of(std::string_view kernel) const;

 private:
  // In the order of the text, from the line that declares or defines a function to its end.
  struct Function {
    std::string_view entry_line;  // empty: a .func
    std::string_view text;        // of an entry
    std::string hashed;           // of a .func: what is hashed
  };
  std::vector<Function> functions_;
};

}  // namespace warpcheck::cudart
