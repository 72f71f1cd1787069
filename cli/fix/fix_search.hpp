// The search for a patch, whatever fails: candidates for the findings of what is known to fail are
// compiled and tried; the best one with which nothing known fails is verified, and what fails then
// is known from there on.  So a patch grows until nothing fails, or there is none
// (counterexample-guided synthesis: Solar-Lezama, 2008).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/fix/candidates.hpp"
#include "cli/fix/fix.hpp"
#include "cli/fix/recompiled.hpp"
#include "cli/fix/uniform_places.hpp"
#include "harness/case/verdict.hpp"
#include "harness/report/causes.hpp"

namespace warpcheck {

// A patch and what the compiler has made of it so far.
struct FixAttempt {
  Patch patch;
  int rank = 0;
  std::vector<cudart::BuildTexts> texts;  // of each unit
  bool fails_to_compile = false;
  // Of the first known failure that shows with it: its number, and the verdict.
  std::size_t passed = 0;
  std::optional<Verdict> failing;
  std::uint64_t barriers = 0, steps = 0;
};

// Derived classes say what fails: a case, a program.
class FixSearch {
 public:
  FixSearch(const FixSearch&) = delete;
  FixSearch& operator=(const FixSearch&) = delete;
  virtual ~FixSearch() = default;

 protected:
  explicit FixSearch(const FixOptions& options) : options_(options) {}

  // Runs what is known to fail until it does; sets what depends on that.
  virtual void evaluate(FixAttempt& attempt) = 0;
  // Looks for further failures.  False: there is one, known from now on, or it does not compile.
  virtual bool verify(FixAttempt& attempt) = 0;
  [[nodiscard]] virtual Evidence evidence() const = 0;

  // Once a failure, the units and the sources are known.
  Fix search();
  Fix refuse(std::string why);
  void step(const std::string& line) const;
  void add_unit(SourceUnit unit);
  void has_blocks_of(std::uint32_t threads);
  //   name: in the patch; path: absolute
  void add_source(const std::string& name, const std::string& path);
  // Compiles what an attempt needs for the build; false: it does not compile.
  bool compile(FixAttempt& attempt, cudart::Build build);

  // Changes that experiments have found to help: they are tried first.
  void expect_of(const Causes& causes);

  [[nodiscard]] const FixOptions& options() const { return options_; }
  [[nodiscard]] const std::vector<SourceUnit>& units() const { return units_; }
  [[nodiscard]] const Sources& sources() const { return sources_; }
  [[nodiscard]] ChangedFiles changed_by(const Patch& patch) const;
  // Of an attempt that is verified.
  void accept(const FixAttempt& attempt);
  Fix fix_;

 private:
  void extend(FixAttempt base);
  void try_candidates(const FixAttempt& base, const std::vector<Candidate>& candidates,
                      std::vector<FixAttempt>& attempts);
  bool verify_best(std::vector<FixAttempt>& attempts);

  const FixOptions& options_;
  std::vector<SourceUnit> units_;
  KernelsToFix kernels_;
  std::vector<std::string> expected_;  // texts of changes
  Sources sources_;
  std::map<std::string, std::string> paths_;  // absolute, by the name in the patch
  std::uint64_t compilations_ = 0;
  std::string why_;
};

}  // namespace warpcheck
