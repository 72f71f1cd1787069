#include "harness/prove/proof_log.hpp"

#include <fmt/format.h>

#include <fstream>

#include "harness/case/atomic_file.hpp"

namespace warpcheck {

ProofLog::ProofLog(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  std::ifstream file(path_);
  for (std::string line; std::getline(file, line);) {
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_discarded()) continue;  // the last line of a search that was killed
    if (!json.is_object() || !json.contains("key") || !json.contains("proof")) {
      throw CaseFileError(fmt::format("{}: this is no file of `warpcheck prove`", path_));
    }
    ProvedPoint point;
    point.point = {json.value("n", 0U), json.value("block", 0U), json.value("grid", 0U)};
    try {
      point.proof = warpcheck::from_json<Proof>(json["proof"], "proof");
    } catch (const FieldError& error) {
      throw CaseFileError(fmt::format("{}: {}", path_, error.what()));
    }
    point.reason = json.value("reason", "");
    point.same_bytes = json.value("same_bytes", false);
    point.varies = json.value("varies", "");
    point.executions = json.value("executions", std::uint64_t{0});
    point.cut = json.value("cut", false);
    known_[json["key"].get<std::string>()] = std::move(point);
  }
}

const ProvedPoint* ProofLog::find(const std::string& key) const {
  const auto found = known_.find(key);
  return found == known_.end() ? nullptr : &found->second;
}

std::string line_of(const std::string& key, const ProvedPoint& point) {
  Json json{{"key", key},
            {"n", point.point.size},
            {"block", point.point.block},
            {"grid", point.point.grid},
            {"proof", name_of(point.proof)},
            {"reason", point.reason},
            {"same_bytes", point.same_bytes},
            {"varies", point.varies},
            {"executions", point.executions}};
  if (point.cut) json["cut"] = true;
  return json.dump() + '\n';
}

void ProofLog::add(const std::string& lines) {
  if (path_.empty() || lines.empty()) return;
  std::ofstream file(path_, std::ios::app);
  file << lines;
  if (!file.flush()) throw_file_error("cannot write", path_);
}

std::string key_of(std::string_view pair, std::string_view build, std::string_view version,
                   const Point& point) {
  return fmt::format("{} {} {} n={} block={} grid={}", pair, build, version, point.size,
                     point.block, point.grid);
}

}  // namespace warpcheck
