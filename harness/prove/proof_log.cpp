#include "harness/prove/proof_log.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <system_error>

#include "harness/case/atomic_file.hpp"
#include "harness/input/json.hpp"

namespace warpcheck {

namespace {

ProvedPoint point_from(const Json& json) {
  ProvedPoint point;
  point.point = {json.value("n", 0U), json.value("block", 0U), json.value("grid", 0U)};
  point.proof = warpcheck::from_json<Proof>(json.at("proof"), "proof");
  point.reason = json.value("reason", "");
  point.same_bytes = json.value("same_bytes", false);
  point.varies = json.value("varies", "");
  point.executions = json.value("executions", std::uint64_t{0});
  point.cut = json.value("cut", false);
  if (json.contains("equality")) {
    point.equality = warpcheck::from_json<Equality>(json.at("equality"), "equality");
    point.unequal = json.value("unequal", "");
  }
  return point;
}

}  // namespace

ProofLog::ProofLog(std::string path) : path_(std::move(path)) {
  if (path_.empty() || !std::filesystem::exists(path_)) return;
  std::ifstream file(path_, std::ios::binary);
  std::uint64_t number = 0;
  for (std::string line; std::getline(file, line);) {
    if (file.eof()) break;  // half a line: the last of a search that was killed
    ++number;
    try {
      const Json json = Json::parse(line);
      known_[json.at("key").get<std::string>()] = point_from(json);
    } catch (const Json::exception&) {
      throw CaseFileError(
          fmt::format("{}:{}: this is no line of `warpcheck prove`; remove it, and its point is "
                      "proved again",
                      path_, number));
    } catch (const FieldError& error) {
      throw CaseFileError(fmt::format("{}:{}: {}", path_, number, error.what()));
    }
    whole_bytes_ += line.size() + 1;
  }
  if (!file.eof()) throw_file_error("read", path_);
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
  if (point.equality != Equality::none) json["equality"] = name_of(point.equality);
  if (!point.unequal.empty()) json["unequal"] = point.unequal;
  return json.dump() + '\n';
}

void ProofLog::add(const std::string& lines) {
  if (path_.empty() || lines.empty()) return;
  // Half a line is taken off.
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path_, error);
  if (!error && bytes > whole_bytes_) std::filesystem::resize_file(path_, whole_bytes_, error);
  std::ofstream file(path_, std::ios::app | std::ios::binary);
  file << lines;
  if (!file.flush()) throw_file_error("write", path_);
  whole_bytes_ += lines.size();
}

std::string key_of(std::string_view pair, std::string_view build, std::string_view version,
                   const Point& point) {
  return fmt::format("{} {} {} n={} block={} grid={}", pair, build, version, point.size,
                     point.block, point.grid);
}

}  // namespace warpcheck
