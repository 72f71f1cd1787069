#include "campaign/nodes/finding_file.hpp"

#include "campaign/nodes/json_file.hpp"

namespace warpcheck::campaign {

std::string finding_file_name(const FindingKey& key) {
  return fmt::format("{}-{}.json", key.pair, key.hash);
}

std::string finding_file_text(const StoredFinding& finding) {
  return json_file_text(finding, "finding");
}

StoredFinding parse_finding_file(std::string_view text, const std::string& name) {
  return parse_json_file<StoredFinding>(text, "finding", name);
}

}  // namespace warpcheck::campaign
