// A file of proofs: one line for each point and build, so that an interrupted search can continue.
// A line is valid as long as the kernels are the same.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "harness/prove/points.hpp"
#include "harness/report/proof.hpp"

namespace warpcheck {

struct ProvedPoint {
  Point point;
  Proof proof = Proof::tried;
  std::string reason{};  // why no more is proved
  bool same_bytes = false;
  std::string varies{};
  std::uint64_t executions = 0;  // every_execution: their number, of both builds
  bool cut = false;              // there were too many executions
  Equality equality = Equality::none;
  std::string unequal{};  // why it is not certified
  friend bool operator==(const ProvedPoint&, const ProvedPoint&) = default;
};

// Lines of known points, by key.
class ProofLog {
 public:
  // Empty path: nothing is stored.  Throws CaseFileError; also for a line that line_of() has not
  // written, except half a line at the end.
  explicit ProofLog(std::string path);
  [[nodiscard]] bool is_kept() const { return !path_.empty(); }
  [[nodiscard]] const ProvedPoint* find(const std::string& key) const;
  // Appends lines of line_of(), in one write.  Throws CaseFileError.
  void add(const std::string& lines);

 private:
  std::string path_;
  std::uint64_t whole_bytes_ = 0;  // of the file, up to the end of its last whole line
  std::map<std::string, ProvedPoint> known_;
};

[[nodiscard]] std::string line_of(const std::string& key, const ProvedPoint& point);

// `version`: of the kernels' texts.
[[nodiscard]] std::string key_of(std::string_view pair, std::string_view build,
                                 std::string_view version, const Point& point);

}  // namespace warpcheck
