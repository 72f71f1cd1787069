// The expectations of a command: which findings they match, and which of them match none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/expected/expectation.hpp"

namespace warpcheck {

// A finding with the expectation that it matched.
struct ExpectedFinding {
  vgpu::Finding finding;
  std::string pair;  // or the program
  Expectation expectation;
};

// Adds a finding, or its count to one of the same class, pair and expectation.
void add_expected(std::vector<ExpectedFinding>& to, vgpu::Finding finding, const std::string& pair,
                  const Expectation& expectation);
// "data-race in kernel scan, src/scan.cu:12, src/scan.cu:14: expected by ci/known.expect:3: why"
[[nodiscard]] std::string expected_text(const ExpectedFinding& expected);

class ExpectedFindings {
 public:
  // Without lines, patterns of a line's text match nothing.
  explicit ExpectedFindings(SourceLines lines = [](const std::string&) { return nullptr; })
      : lines_(std::move(lines)) {}

  void add(std::vector<Expectation> expectations);
  // Whose findings find() gets from now on.  name: of a pair, or the path of a program; patterns
  // match the path or its last name.
  void set_program(const std::string& name);

  // The first expectation that matches; null: the finding is new.  Expectations of files come
  // before those of options.
  const Expectation* find(const vgpu::Finding& finding);

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  // The expectations of files for the programs so far that have matched nothing.
  [[nodiscard]] std::vector<Expectation> unmatched() const;
  // Those whose reason is still to be written.
  [[nodiscard]] std::size_t without_reason() const;

 private:
  struct Entry {
    Expectation expectation;
    bool is_asked = false;    // it is for a program so far
    bool is_current = false;  // it is for the present one
    std::uint64_t matched = 0;
  };
  static bool is_for(const Expectation& expectation, const std::string& program);

  SourceLines lines_;
  std::string program_;
  std::vector<Entry> entries_;
};

// "warpcheck.expect:3: data-race shared in kernel scan"
[[nodiscard]] std::string place_text(const Expectation& expectation);

}  // namespace warpcheck
