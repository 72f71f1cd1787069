// Structs with FIELDS as JSON files: one line of JSON, with the format's name and version first.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "harness/case/atomic_file.hpp"
#include "harness/input/json.hpp"

namespace warpcheck::campaign {

inline constexpr std::int64_t kNodeFormatVersion = 1;

// {"warpcheck_finding": 1, "finding": {...}} for the name "finding".
template <Reflected T>
std::string json_file_text(const T& value, const std::string& name) {
  const Json json{{"warpcheck_" + name, kNodeFormatVersion}, {name, to_json(value)}};
  return json.dump() + "\n";
}

// `path`: for messages.  Throws CaseFileError that says what is missing or wrong, and where.
template <Reflected T>
T parse_json_file(std::string_view text, const std::string& name, const std::string& path) {
  const std::string version_name = "warpcheck_" + name;
  try {
    const Json json = Json::parse(text);
    if (!json.is_object() || !json.contains(version_name) || !json.contains(name)) {
      throw CaseFileError(
          fmt::format("{}: expected an object with \"{}\" and \"{}\"", path, version_name, name));
    }
    if (json[version_name] != kNodeFormatVersion) {
      throw CaseFileError(fmt::format("{}: its format is version {}, and this warpcheck reads {}",
                                      path, json[version_name].dump(), kNodeFormatVersion));
    }
    return warpcheck::from_json<T>(json[name], name);
  } catch (const Json::parse_error& error) {
    throw CaseFileError(fmt::format("{}: no JSON from byte {} on", path, error.byte));
  } catch (const FieldError& error) {
    throw CaseFileError(fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace warpcheck::campaign
