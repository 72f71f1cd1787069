// The lines between workers and their parent: JSON objects.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "campaign/worker.hpp"
#include "harness/input/json_values.hpp"

namespace warpcheck::campaign {
namespace {

Json findings_json(const std::vector<ShownFinding>& findings) {
  Json list = Json::array();
  for (const ShownFinding& finding : findings) {
    list.push_back({{"hash", finding.hash}, {"kind", finding.kind}, {"place", finding.place}});
  }
  return list;
}

std::vector<ShownFinding> findings_of(const Json& list) {
  std::vector<ShownFinding> findings;
  for (const Json& one : list) {
    findings.push_back({one.at("hash").get<std::string>(), one.at("kind").get<std::string>(),
                        one.at("place").get<std::string>()});
  }
  return findings;
}

}  // namespace

std::string text_of(const Message& message) {
  Json json = Json::object();
  if (message.found) {
    json["found"] = {{"pair", message.found->pair},
                     {"case", message.found->case_text},
                     {"executions", message.found->executions},
                     {"findings", findings_json(message.found->findings)},
                     {"fails", message.found->fails}};
  }
  if (message.shrunk) {
    json["shrunk"] = {{"kept", message.shrunk->kept},
                      {"case", message.shrunk->case_text},
                      {"shrinks", message.shrunk->shrinks},
                      {"complete", message.shrunk->complete},
                      {"findings", findings_json(message.shrunk->findings)}};
  }
  if (message.confirmed) {
    json["confirmed"] = {{"confirmed", message.confirmed->confirmed},
                         {"shown", message.confirmed->shown},
                         {"schedules", message.confirmed->schedules}};
  }
  if (message.searched) {
    json["searched"] = {{"features", message.searched->features},
                        {"entries", message.searched->entries}};
  }
  if (!message.remark.empty()) json["remark"] = message.remark;
  if (!message.refusal.empty()) json["refusal"] = message.refusal;
  if (!message.error.empty()) json["error"] = message.error;
  if (!message.internal.empty()) json["internal"] = message.internal;
  // Texts of errors may hold any bytes.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

namespace {

constexpr std::array<std::string_view, 8> kParts{"found",  "shrunk",  "confirmed", "searched",
                                                 "remark", "refusal", "error",     "internal"};

Message message_from(const Json& json) {
  for (const auto& [part, unused] : json.items()) {
    if (std::ranges::find(kParts, part) == kParts.end()) {
      throw Json::other_error::create(501, fmt::format("no such part: {}", part), &json);
    }
  }
  Message message;
  if (json.contains("found")) {
    const Json& found = json["found"];
    message.found = FoundMessage{.pair = found.at("pair"),
                                 .case_text = found.at("case"),
                                 .executions = found.at("executions"),
                                 .findings = findings_of(found.at("findings")),
                                 .fails = found.at("fails")};
  }
  if (json.contains("shrunk")) {
    const Json& shrunk = json["shrunk"];
    message.shrunk = ShrunkMessage{.kept = shrunk.at("kept"),
                                   .case_text = shrunk.at("case"),
                                   .shrinks = shrunk.at("shrinks"),
                                   .complete = shrunk.at("complete"),
                                   .findings = findings_of(shrunk.at("findings"))};
  }
  if (json.contains("confirmed")) {
    const Json& confirmed = json["confirmed"];
    message.confirmed = ConfirmedMessage{.confirmed = confirmed.at("confirmed"),
                                         .shown = confirmed.at("shown"),
                                         .schedules = confirmed.at("schedules")};
  }
  if (json.contains("searched")) {
    const Json& searched = json["searched"];
    message.searched =
        SearchedMessage{.features = searched.at("features"), .entries = searched.at("entries")};
  }
  message.remark = json.value("remark", "");
  message.refusal = json.value("refusal", "");
  message.error = json.value("error", "");
  message.internal = json.value("internal", "");
  return message;
}

}  // namespace

Message message_of(const std::string& line) {
  try {
    return message_from(Json::parse(line));
  } catch (const Json::exception& error) {
    throw MessageError(internal_error(fmt::format("a worker wrote '{}': {}", line, error.what())));
  }
}

}  // namespace warpcheck::campaign
