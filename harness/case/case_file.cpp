#include "harness/case/case_file.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "harness/case/edits_json.hpp"
#include "harness/input/json.hpp"
#include "harness/kernel/kernel_pair.hpp"
#include "vgpu/schedule/strategies.hpp"

namespace warpcheck {
namespace {

// --- writing -----------------------------------------------------------------------------------

constexpr std::string_view kAscending = "ascending", kDescending = "descending";

std::string hex64(std::uint64_t value) { return fmt::format("{:016x}", value); }

Json decision_json(const vgpu::Decision& decision) {
  Json json = Json::object();
  if (decision.point == vgpu::Decision::Point::operation) {
    json["operation"] = decision.at.block;
    json["passed_over"] = decision.index;
    json["next_operation"] = decision.next.block;
    return json;
  }
  json["launch"] = decision.launch;
  using Point = vgpu::Decision::Point;
  if (decision.point == Point::start) {
    json["start"] = decision.index == 0 ? kAscending : kDescending;
    json["next_block"] = decision.next.block;
    json["next_warp"] = decision.next.warp;
    return json;
  }
  json["block"] = decision.at.block;
  json["warp"] = decision.at.warp;
  if (decision.point == Point::past) {
    json["access"] = decision.index;
    json["lanes"] = fmt::format("0x{:08x}", decision.held);
    json["leaves_out"] = decision.next.block;
    return json;
  }
  const bool of_lanes = decision.point == Point::access || decision.point == Point::fence;
  json[std::string(vgpu::name_of(decision.point))] = decision.index;
  if (of_lanes) json["held"] = fmt::format("0x{:08x}", decision.held);
  json["next_block"] = decision.next.block;
  json["next_warp"] = decision.next.warp;
  return json;
}

Json settings_json(const Settings& settings) {
  Json json = Json::object();
  json["build"] = name_of(settings.build);
  json["warp_model"] = name_of(settings.warp_model);
  if (settings.checkers.volatile_is_weak) json["volatile"] = kVolatileNames[1].second;
  json["checkers"] = Json::array();
  for (const auto& [checker, name] : kCheckerNames) {
    if (settings.checkers.*checker) json["checkers"].push_back(name);
  }
  if (settings.checkers.portable) json["portable"] = true;
  json["steps_max"] = settings.limits.steps_max;
  json["quantum"] = settings.limits.quantum;
  json["resident_blocks"] = settings.limits.resident_blocks;
  if (settings.edits != nullptr) json["edits"] = to_json(*settings.edits);
  return json;
}

std::string hex_bytes(const std::vector<std::uint8_t>& bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) fmt::format_to(std::back_inserter(text), "{:02x}", byte);
  return text;
}

// --- reading -----------------------------------------------------------------------------------

std::uint64_t hex_number(const Json& json, const FieldPath& path, std::size_t digits_max,
                         std::string_view expected) {
  const std::string text = read_text(json, path);
  std::string_view digits = text;
  if (digits.starts_with("0x")) digits.remove_prefix(2);
  if (digits.empty() || digits.size() > digits_max ||
      digits.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos) {
    throw_unexpected(path, expected, json);
  }
  return std::stoull(std::string(digits), nullptr, 16);
}

template <class Names>
auto named(const Names& names, const Json& json, const FieldPath& path) {
  const std::string text = read_text(json, path);
  std::string expected;
  for (const auto& [value, name] : names) {
    if (name == text) return value;
    expected += expected.empty() ? "one of " : ", ";
    expected += name;
  }
  throw_unexpected(path, expected, json);
}

vgpu::Decision decision_from(const Json& json, const FieldPath& path) {
  using Point = vgpu::Decision::Point;
  ObjectReader fields(json, path);
  vgpu::Decision decision;
  if (json.contains("operation")) {
    decision.point = Point::operation;
    decision.at.block = fields.number<std::uint32_t>("operation");
    decision.index = fields.number<std::uint64_t>("passed_over");
    decision.next.block = fields.number<std::uint32_t>("next_operation");
    fields.finish({"operation", "passed_over", "next_operation"});
    return decision;
  }
  decision.launch = fields.number<std::uint32_t>("launch");
  if (json.contains("start")) {
    decision.point = Point::start;
    const Json& order = fields.required("start");
    const FieldPath order_path(path, "start");
    const std::string text = read_text(order, order_path);
    if (text != kAscending && text != kDescending) {
      throw_unexpected(order_path, fmt::format("{} or {}", kAscending, kDescending), order);
    }
    decision.index = text == kDescending ? 1 : 0;
    decision.next = {fields.number<std::uint32_t>("next_block"),
                     fields.number<std::uint32_t>("next_warp")};
    fields.finish({"launch", "start", "next_block", "next_warp"});
    return decision;
  }
  decision.at = {fields.number<std::uint32_t>("block"), fields.number<std::uint32_t>("warp")};
  const auto lanes_of = [&](const char* field) {
    return static_cast<std::uint32_t>(hex_number(fields.required(field), FieldPath(path, field), 8,
                                                 "a lane mask such as \"0x00000002\""));
  };
  if (json.contains("leaves_out")) {
    decision.point = Point::past;
    decision.index = fields.number<std::uint64_t>("access");
    decision.held = lanes_of("lanes");
    decision.next.block = fields.number<std::uint32_t>("leaves_out");
    fields.finish({"launch", "block", "warp", "access", "lanes", "leaves_out"});
    return decision;
  }
  for (const Point point : {Point::fence, Point::release, Point::stop}) {
    if (json.contains(vgpu::name_of(point))) decision.point = point;
  }
  decision.index = fields.number<std::uint64_t>(vgpu::name_of(decision.point).data());
  if (decision.point == Point::access || decision.point == Point::fence)
    decision.held = lanes_of("held");
  decision.next = {fields.number<std::uint32_t>("next_block"),
                   fields.number<std::uint32_t>("next_warp")};
  fields.finish({"launch", "block", "warp", "access", "stop", "release", "fence", "held",
                 "next_block", "next_warp"});
  return decision;
}

std::variant<vgpu::Schedule, StrategyChoice> schedule_from(const Json& json,
                                                           const FieldPath& path) {
  if (json.is_object()) {
    ObjectReader fields(json, path);
    StrategyChoice choice{fields.text("strategy"), fields.number<std::uint64_t>("seed")};
    fields.finish({"strategy", "seed"});
    if (vgpu::find_strategy(choice.name) == nullptr) {
      throw_unexpected(FieldPath(path, "strategy"), "a strategy", json["strategy"]);
    }
    return choice;
  }
  if (!json.is_array()) throw_unexpected(path, "a list of decisions", json);
  vgpu::Schedule schedule;
  for (std::size_t i = 0; i < json.size(); ++i) {
    schedule.decisions.push_back(decision_from(json[i], FieldPath(path, i)));
  }
  return schedule;
}

Settings settings_from(const Json& json, const FieldPath& path) {
  ObjectReader fields(json, path);
  Settings settings;
  settings.build = named(kBuildNames, fields.required("build"), FieldPath(path, "build"));
  settings.warp_model =
      named(kWarpModelNames, fields.required("warp_model"), FieldPath(path, "warp_model"));
  if (const Json* accesses = fields.optional("volatile")) {
    settings.checkers.volatile_is_weak =
        named(kVolatileNames, *accesses, FieldPath(path, "volatile"));
  }
  for (const auto& [checker, name] : kCheckerNames) settings.checkers.*checker = false;
  const Json& checkers = fields.required("checkers");
  const FieldPath checkers_path(path, "checkers");
  if (!checkers.is_array()) throw_unexpected(checkers_path, "a list", checkers);
  for (std::size_t i = 0; i < checkers.size(); ++i) {
    settings.checkers.*named(kCheckerNames, checkers[i], FieldPath(checkers_path, i)) = true;
  }
  if (const Json* const portable = fields.optional("portable")) {
    if (!portable->is_boolean()) {
      throw_unexpected(FieldPath(path, "portable"), "true or false", *portable);
    }
    settings.checkers.portable = portable->get<bool>();
  }
  settings.limits.steps_max = fields.number<std::uint64_t>("steps_max");
  settings.limits.quantum = fields.number<std::uint32_t>("quantum");
  settings.limits.resident_blocks = fields.number<std::uint32_t>("resident_blocks");
  if (settings.limits.quantum == 0 || settings.limits.resident_blocks == 0) {
    throw_field_error(path, "quantum and resident_blocks must be at least 1");
  }
  if (const Json* const edits = fields.optional("edits")) {
    settings.edits =
        std::make_shared<const ptx::Edits>(edits_from(*edits, FieldPath(path, "edits")));
  }
  fields.finish({"build", "warp_model", "volatile", "checkers", "portable", "steps_max", "quantum",
                 "resident_blocks", "edits"});
  return settings;
}

void read_expected(const Json& json, const FieldPath& path, CaseRecord& record) {
  ObjectReader fields(json, path);
  const Json& kinds = fields.required("kinds");
  const Json& classes = fields.required("classes");
  if (!kinds.is_array()) throw_unexpected(FieldPath(path, "kinds"), "a list", kinds);
  if (!classes.is_array()) throw_unexpected(FieldPath(path, "classes"), "a list", classes);
  for (const Json& kind : kinds) {
    vgpu::FindingKind found{};
    if (!kind.is_string() || !vgpu::find_kind(kind.get_ref<const std::string&>(), found)) {
      throw_unexpected(FieldPath(path, "kinds"), "a finding kind", kind);
    }
    record.kinds.push_back(found);
  }
  const FieldPath classes_path(path, "classes");
  for (std::size_t i = 0; i < classes.size(); ++i) {
    record.classes.push_back(
        hex64(hex_number(classes[i], FieldPath(classes_path, i), 16, "16 hex digits")));
  }
  fields.finish({"kinds", "classes"});
}

std::vector<std::uint8_t> bytes_from(const Json& json, const FieldPath& path) {
  const std::string text = read_text(json, path);
  if (text.size() % 2 != 0 || text.find_first_not_of("0123456789abcdef") != std::string::npos) {
    throw_unexpected(path, "bytes as hex digits", json);
  }
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

// No case nests deeper; a malicious file must not exhaust the stack of recursive code.
constexpr int kDepthMax = 32;

Json parse_json(std::string_view text) {
  const auto limit_depth = [](int depth, Json::parse_event_t, Json&) {
    if (depth > kDepthMax) throw FieldError("nested too deeply");
    return true;
  };
  return Json::parse(text, limit_depth);
}

// "line 3, column 1: syntax error ...": the text of the JSON library without the names of its
// errors.
std::string_view parse_problem(std::string_view text) {
  for (const std::string_view before :
       {std::string_view("] "), std::string_view("parse error at ")}) {
    const std::size_t at = text.find(before);
    if (at != std::string_view::npos) text.remove_prefix(at + before.size());
  }
  return text;
}

void check_version(ObjectReader& fields, const Json& json) {
  const Json* version = fields.optional("warpcheck_case");
  if (version == nullptr) throw FieldError("not a warpcheck case (no \"warpcheck_case\")");
  if (*version != kCaseFormatVersion) {
    throw FieldError(fmt::format("case format version {}, but this warpcheck reads version {}",
                                 json["warpcheck_case"].dump(), kCaseFormatVersion));
  }
}

const AnyPair& known_pair(const std::string& name, Registry& registry) {
  if (const AnyPair* pair = registry.find(name)) return *pair;
  throw FieldError(fmt::format("no pair '{}' in this program{}", name, registry.is_it(name)));
}

CaseRecord record_from(const Json& json, Registry& registry) {
  const FieldPath root("case");
  if (!json.is_object()) throw FieldError("not a warpcheck case (no JSON object)");
  ObjectReader fields(json, root);
  check_version(fields, json);
  CaseRecord record;
  Case& a_case = record.a_case;
  const std::string pair = fields.text("pair");
  const Json* const kernel = fields.optional("kernel");
  a_case.pair = kernel != nullptr ? &kernel_pair_of(*kernel) : &known_pair(pair, registry);
  if (const Json* property = fields.optional("property")) {
    a_case.property = read_text(*property, FieldPath(root, "property"));
    if (a_case.pair->find_property(a_case.property) == nullptr) {
      throw FieldError(fmt::format("no property '{}'", a_case.title()));
    }
  }
  a_case.input = a_case.pair->from_json(fields.required("input"));
  if (!a_case.pair->in_domain(a_case.input)) {
    throw FieldError(
        fmt::format("the input is outside the domain of pair '{}'", a_case.pair->name()));
  }
  a_case.schedule = schedule_from(fields.required("schedule"), FieldPath(root, "schedule"));
  a_case.settings = settings_from(fields.required("settings"), FieldPath(root, "settings"));
  if (const Json* hash = fields.optional("ptx_hash")) {
    record.ptx_hash = hex_number(*hash, FieldPath(root, "ptx_hash"), 16, "16 hex digits");
  }
  if (const Json* expected = fields.optional("expected")) {
    read_expected(*expected, FieldPath(root, "expected"), record);
  }
  if (const Json* tape = fields.optional("tape")) {
    a_case.tape = bytes_from(*tape, FieldPath(root, "tape"));
  }
  fields.finish({"warpcheck_case", "pair", "kernel", "property", "input", "schedule", "settings",
                 "ptx_hash", "expected", "tape"});
  return record;
}

// --- the failure of a file ---------------------------------------------------------------------

constexpr unsigned kNameDigitsMax = 16;

std::vector<std::string> possible_names(const Case& a_case, const Verdict& verdict) {
  constexpr int kNumberMax = 99;
  std::vector<std::string> names;
  for (unsigned digits = 4; digits <= kNameDigitsMax; ++digits) {
    names.push_back(case_file_name(a_case, verdict, digits));
  }
  const std::string stem = std::filesystem::path(names.back()).stem().string();
  for (int number = 2; number <= kNumberMax; ++number) {
    names.push_back(fmt::format("{}-{}.case", stem, number));
  }
  return names;
}

// True also for a link without a target.
bool is_there(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) return false;
  if (error) {
    throw CaseFileError(fmt::format("cannot write {}: {}", path.string(), error.message()));
  }
  return true;
}

// The file's JSON; discarded if it has none, as for a directory.
Json known_json(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return Json(Json::value_t::discarded);
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  return Json::parse(text, nullptr, false);
}

Json without_tape(Json json) {
  if (json.is_object()) json.erase("tape");
  return json;
}

// Whether a file's text is a case with the same failure as `wanted`, by which its name is made.
bool shows_same_failure(const Json& known, const CaseRecord& wanted) {
  if (!known.is_object() || !known.contains("settings")) return false;
  const Case& a_case = wanted.a_case;
  try {
    CaseRecord shown;
    read_expected(known.at("expected"), FieldPath("expected"), shown);
    const Settings settings = settings_from(known.at("settings"), FieldPath("settings"));
    return known.at("pair") == a_case.pair->name() &&
           known.value("property", "") == a_case.property && shown.classes == wanted.classes &&
           settings_summary(settings) == settings_summary(a_case.settings);
  } catch (const FieldError&) {  // not a case
  } catch (const Json::exception&) {
  }
  return false;
}

// Replaces control characters and bytes that are not UTF-8, for one-line messages.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = '?';
  }
  return text;
}

}  // namespace

Json to_json(const vgpu::Schedule& schedule) {
  Json list = Json::array();
  for (const vgpu::Decision& decision : schedule.decisions) {
    list.push_back(decision_json(decision));
  }
  return list;
}

CaseRecord record_of(const Case& a_case, const Verdict& verdict) {
  CaseRecord record{.a_case = a_case,
                    .ptx_hash = verdict.ptx_hash,
                    .kinds = failure_kinds(verdict),
                    .classes = {}};
  record.a_case.schedule = verdict.schedule;
  for (const vgpu::Finding& finding : verdict.findings) {
    if (finding.severity == vgpu::Severity::error) {
      record.classes.push_back(vgpu::hash_of(finding));
    }
  }
  std::ranges::sort(record.classes);
  record.classes.erase(std::unique(record.classes.begin(), record.classes.end()),
                       record.classes.end());
  return record;
}

std::string case_text(const CaseRecord& record) {
  const Case& a_case = record.a_case;
  Json json = Json::object();
  json["warpcheck_case"] = kCaseFormatVersion;
  json["pair"] = a_case.pair->name();
  if (!a_case.property.empty()) json["property"] = a_case.property;
  const bool unoptimized = a_case.settings.build == cudart::Build::unoptimized;
  if (Json kernel; a_case.pair->write_definition(kernel, unoptimized)) json["kernel"] = kernel;
  json["input"] = a_case.pair->to_json(a_case.input);
  if (const auto* choice = std::get_if<StrategyChoice>(&a_case.schedule)) {
    json["schedule"] = {{"strategy", choice->name}, {"seed", choice->seed}};
  } else {
    json["schedule"] = to_json(std::get<vgpu::Schedule>(a_case.schedule));
  }
  json["settings"] = settings_json(a_case.settings);
  json["ptx_hash"] = hex64(record.ptx_hash);
  Json kinds = Json::array();
  for (const vgpu::FindingKind kind : record.kinds) kinds.push_back(vgpu::name_of(kind));
  json["expected"] = {{"kinds", kinds}, {"classes", record.classes}};
  if (!a_case.tape.empty()) json["tape"] = hex_bytes(a_case.tape);
  return json.dump(1) + "\n";
}

CaseRecord parse_case(std::string_view text, const std::string& name, Registry& registry) {
  if (text.empty()) throw CaseFileError(fmt::format("{}: the file is empty", name));
  if (text.starts_with("\x7f"
                       "ELF")) {
    throw CaseFileError(fmt::format(
        "{}: a program, not a case: programs are run by warpcheck exec -- {}", name, name));
  }
  try {
    return record_from(parse_json(text), registry);
  } catch (const FieldError& error) {
    throw CaseFileError(one_line(fmt::format("{}: {}", name, error.what())));
  } catch (const Json::exception& error) {
    throw CaseFileError(
        one_line(fmt::format("{}: not valid JSON: {}", name, parse_problem(error.what()))));
  }
}

CaseRecord read_case(const std::filesystem::path& path, Registry& registry) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw CaseFileError(fmt::format("cannot read {}: it is a directory", path.string()));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw_file_error("read", path);
  std::ostringstream text;
  text << file.rdbuf();
  if (file.bad()) throw_file_error("read", path);
  return parse_case(text.str(), path.string(), registry);
}

void write_case(const std::filesystem::path& path, const CaseRecord& record) {
  write_file_atomically(path, case_text(record));
}

CasePlace case_place(const std::filesystem::path& directory, const Case& a_case,
                     const Verdict& verdict) {
  const CaseRecord wanted = record_of(a_case, verdict);
  std::optional<std::filesystem::path> free;
  for (const std::string& name : possible_names(a_case, verdict)) {
    const std::filesystem::path path = directory / name;
    if (!is_there(path)) {
      if (!free) free = path;
    } else if (shows_same_failure(known_json(path), wanted)) {
      return {path, true};
    }
  }
  if (!free) {
    throw CaseFileError(fmt::format("cannot write {}: it and all longer names are taken",
                                    (directory / case_file_name(a_case, verdict)).string()));
  }
  return {*free, false};
}

std::filesystem::path keep_case(const std::filesystem::path& directory, const Case& a_case,
                                const Verdict& verdict) {
  const CaseRecord record = record_of(a_case, verdict);
  const std::string text = case_text(record);
  while (true) {
    const CasePlace place = case_place(directory, a_case, verdict);
    if (!place.is_taken) {
      // Another process may create a file of this name first.
      if (write_new_file(place.path, text)) return place.path;
      continue;
    }
    if (without_tape(known_json(place.path)) != without_tape(Json::parse(text))) {
      write_case(place.path, record);
    }
    return place.path;
  }
}

std::string case_file_name(const Case& a_case, const Verdict& verdict, unsigned digits) {
  std::string text = a_case.title();
  for (const std::string& place : failure_class(verdict).places) text += "\n" + place;
  text += "\n" + settings_summary(a_case.settings);
  const std::string hash = hex64(XXH3_64bits(text.data(), text.size()));
  return hash.substr(0, std::min(digits, kNameDigitsMax)) + ".case";
}

}  // namespace warpcheck
