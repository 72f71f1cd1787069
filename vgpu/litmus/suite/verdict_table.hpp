// The table of the litmus programs' verdicts, docs/develop/verdicts/litmus.txt: a row says what a
// program shows in one build and warp model, or in all of them, as ci/verdict_tables.py describes
// rows.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/check/finding.hpp"

namespace warpcheck::litmus {

using Rows = std::set<std::string>;

// "error data-race shared: read `x = s[0];`, write `s[0] = 1;`" of a finding in this source text.
// A line that occurs several times among the lines of one program is numbered.
std::string verdict_of(const vgpu::Finding& finding, std::string_view source);

// Collects rows of programs, and compares them with an accepted table.
class VerdictTable {
 public:
  // variant: the build and the warp model.  No findings: the row says "clean".
  void add(const std::string& program, const std::string& variant,
           const std::vector<vgpu::Finding>& findings, std::string_view source);

  // Lines that say how the rows differ from those of the table, of the programs that were added.
  //   suite: the table's name; all: the names of all programs, beside which it names none
  [[nodiscard]] std::vector<std::string> differences(std::string_view suite, std::string_view table,
                                                     const std::set<std::string>& all) const;

  // Writes the rows to files of this directory, PROGRAM.txt, and the names of all programs to the
  // file `programs`, for `ci/verdicts`.
  void write(const std::string& directory, const std::set<std::string>& all) const;

 private:
  struct Seen {
    std::set<std::string> variants;
    std::map<std::string, std::set<std::string>> verdicts;  // the variants that show it
  };
  static Rows rows_of(const std::string& program, const Seen& seen);

  std::map<std::string, Seen> seen_;  // by program
};

}  // namespace warpcheck::litmus
