// What is proved, in a file: a line for each point and build, so that a search that was interrupted
// goes on where it was.  A line counts as long as the kernels are the same.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "harness/prove/points.hpp"
#include "harness/prove/proof.hpp"

namespace warpcheck {

struct ProvedPoint {
  Point point;
  Proof proof = Proof::tried;
  std::string reason{};  // why it is no better
  bool same_bytes = false;
  std::string varies{};
  std::uint64_t executions = 0;  // every_execution: so many, of both builds
  bool cut = false;              // its executions were too many
  friend bool operator==(const ProvedPoint&, const ProvedPoint&) = default;
};

// Lines of points that are known, by key.
class ProofLog {
 public:
  // Empty path: nothing is kept.  Throws CaseFileError.
  explicit ProofLog(std::string path);
  [[nodiscard]] bool is_kept() const { return !path_.empty(); }
  [[nodiscard]] const ProvedPoint* find(const std::string& key) const;
  // Lines of line_of(), in one piece.  Throws CaseFileError.
  void add(const std::string& lines);

 private:
  std::string path_;
  std::map<std::string, ProvedPoint> known_;
};

[[nodiscard]] std::string line_of(const std::string& key, const ProvedPoint& point);

// `version`: of the kernels' texts.
[[nodiscard]] std::string key_of(std::string_view pair, std::string_view build,
                                 std::string_view version, const Point& point);

}  // namespace warpcheck
