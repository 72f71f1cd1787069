#include "vgpu/cudart/exec/exec_records.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace warpcheck::cudart {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json to_json(const Dim3& at) { return Json::array({at.x, at.y, at.z}); }

Dim3 dim3_of(const Json& json) {
  return {json.at(0).get<std::uint32_t>(), json.at(1).get<std::uint32_t>(),
          json.at(2).get<std::uint32_t>()};
}

Json to_json(const std::vector<vgpu::SourceLine>& lines) {
  Json json = Json::array();
  for (const vgpu::SourceLine& line : lines) json.push_back({line.file, line.line});
  return json;
}

std::vector<vgpu::SourceLine> lines_of(const Json& json) {
  std::vector<vgpu::SourceLine> lines;
  for (const Json& line : json) {
    lines.push_back({line.at(0).get<std::string>(), line.at(1).get<std::uint32_t>()});
  }
  return lines;
}

Json to_json(const vgpu::AccessSide& side) {
  return {{"role", side.role},
          {"block", to_json(side.block)},
          {"thread", to_json(side.thread)},
          {"file", side.file},
          {"line", side.line},
          {"ptx", side.ptx},
          {"header", side.header},
          {"header_line", side.header_line},
          {"instruction", side.instruction},
          {"host_code", side.host_code},
          {"callers", to_json(side.callers)},
          {"other_callers", to_json(side.other_callers)}};
}

vgpu::AccessSide side_of(const Json& json) {
  vgpu::AccessSide side;
  side.role = json.at("role").get<std::string>();
  side.block = dim3_of(json.at("block"));
  side.thread = dim3_of(json.at("thread"));
  side.file = json.at("file").get<std::string>();
  side.line = json.at("line").get<std::uint32_t>();
  side.ptx = json.at("ptx").get<std::string>();
  side.header = json.at("header").get<std::string>();
  side.header_line = json.at("header_line").get<std::uint32_t>();
  side.instruction = json.at("instruction").get<std::uint32_t>();
  side.host_code = json.at("host_code").get<std::string>();
  side.callers = lines_of(json.at("callers"));
  side.other_callers = lines_of(json.at("other_callers"));
  return side;
}

Json to_json(const vgpu::Finding& finding) {
  Json accesses = Json::array();
  for (const vgpu::AccessSide& side : finding.accesses) accesses.push_back(to_json(side));
  Json also = Json::array();
  for (const vgpu::Relation relation : finding.also_between) {
    also.push_back(vgpu::name_of(relation));
  }
  return {{"kind", vgpu::name_of(finding.kind)},
          {"space", finding.space},
          {"severity", vgpu::name_of(finding.severity)},
          {"kernel", finding.kernel},
          {"object", finding.object},
          {"accesses", std::move(accesses)},
          {"message", finding.message},
          {"count", finding.count},
          {"variable", finding.variable},
          {"relation", vgpu::name_of(finding.relation)},
          {"also_between", std::move(also)},
          {"lack", vgpu::name_of(finding.lack)},
          {"cause", finding.cause}};
}

vgpu::Relation relation_of(const Json& json) {
  vgpu::Relation relation{};
  if (!vgpu::find_relation(json.get<std::string>(), relation)) {
    throw Json::other_error::create(501, "no such relation", &json);
  }
  return relation;
}

vgpu::Severity severity_of(const Json& json) {
  for (const vgpu::Severity severity : {vgpu::Severity::error, vgpu::Severity::note}) {
    if (json == vgpu::name_of(severity)) return severity;
  }
  throw Json::other_error::create(501, "no such severity", &json);
}

vgpu::Finding finding_of(const Json& json) {
  vgpu::Finding finding;
  if (!vgpu::find_kind(json.at("kind").get<std::string>(), finding.kind)) {
    throw Json::other_error::create(501, "no such kind of finding", &json);
  }
  finding.space = json.at("space").get<std::string>();
  finding.severity = severity_of(json.at("severity"));
  finding.kernel = json.at("kernel").get<std::string>();
  finding.object = json.at("object").get<std::string>();
  for (const Json& side : json.at("accesses")) finding.accesses.push_back(side_of(side));
  finding.message = json.at("message").get<std::string>();
  finding.count = json.at("count").get<std::uint64_t>();
  finding.variable = json.at("variable").get<std::string>();
  finding.relation = relation_of(json.at("relation"));
  for (const Json& also : json.at("also_between")) {
    finding.also_between.push_back(relation_of(also));
  }
  if (!vgpu::find_lack(json.at("lack").get<std::string>(), finding.lack)) {
    throw Json::other_error::create(501, "no such lack", &json);
  }
  finding.cause = json.at("cause").get<std::string>();
  return finding;
}

// [kernel, place, file, line, ptx, counts...]
Json to_json(const vgpu::CountedInstr& instr) {
  Json json = {instr.kernel, instr.place, instr.file, instr.line, instr.ptx};
#define COUNT(name) json.push_back(instr.counts.name);
  MEMORY_COUNTS(COUNT)
#undef COUNT
  return json;
}

vgpu::CountedInstr counted_instr_of(const Json& json) {
  vgpu::CountedInstr instr;
  std::size_t at = 0;
  json.at(at++).get_to(instr.kernel);
  json.at(at++).get_to(instr.place);
  json.at(at++).get_to(instr.file);
  json.at(at++).get_to(instr.line);
  json.at(at++).get_to(instr.ptx);
#define COUNT(name) json.at(at++).get_to(instr.counts.name);
  MEMORY_COUNTS(COUNT)
#undef COUNT
  return instr;
}

// [kind, build, text, function, instruction] or [kind, build, text, file, line, mnemonic, function]
Json to_json(const ptx::ProgramEdit& edit) {
  Json json = {static_cast<int>(edit.kind), static_cast<int>(edit.build), edit.text};
  if (const auto* const at = std::get_if<ptx::InstructionPlace>(&edit.place)) {
    json.push_back(at->function);
    json.push_back(at->index);
    return json;
  }
  const auto& at = std::get<ptx::LinePlace>(edit.place);
  json.push_back(at.file);
  json.push_back(at.line);
  json.push_back(at.mnemonic);
  json.push_back(at.function);
  return json;
}

ptx::ProgramEdit edit_of(const Json& json) {
  constexpr std::size_t kFieldsOfInstruction = 5;
  ptx::ProgramEdit edit;
  edit.kind = static_cast<ptx::EditKind>(json.at(0).get<int>());
  edit.build = static_cast<ptx::EditedBuild>(json.at(1).get<int>());
  edit.text = json.at(2).get<std::string>();
  if (json.size() == kFieldsOfInstruction) {
    edit.place = ptx::InstructionPlace{json.at(3).get<std::string>(), json.at(4).get<unsigned>()};
  } else {
    edit.place = ptx::LinePlace{json.at(3).get<std::string>(), json.at(4).get<unsigned>(),
                                json.at(5).get<std::string>(), json.at(6).get<std::string>()};
  }
  return edit;
}

struct RecordJson {
  Json operator()(const StartRecord& start) const {
    return {{"record", "start"}, {"program", start.program}};
  }
  Json operator()(const FindingRecord& found) const {
    return {{"record", "finding"},
            {"number", found.number},
            {"finding", to_json(found.finding)},
            {"arrivals", found.arrivals}};
  }
  Json operator()(const KernelRecord& kernel) const {
    return {{"record", "kernel"},
            {"name", kernel.name},
            {"sees_order", kernel.sees_order},
            {"reads_unwritten", kernel.reads_unwritten},
            {"arrivals", kernel.arrivals},
            {"proved", kernel.proved},
            {"file", kernel.file},
            {"target", kernel.target},
            {"stands_in", kernel.stands_in},
            {"code", kernel.code},
            {"threads", kernel.threads}};
  }
  Json operator()(const CallRecord& call) const {
    return {{"record", "call"}, {"name", call.name}, {"file", call.file}, {"line", call.line}};
  }
  Json operator()(const RefusalRecord& refusal) const {
    return {{"record", "refusal"}, {"reason", refusal.reason}};
  }
  Json operator()(const NotCheckedRecord& one) const {
    return {{"record", "not-checked"}, {"what", one.what}};
  }
  Json operator()(const CountsRecord& counts) const {
    Json instrs = Json::array();
    for (const vgpu::CountedInstr& instr : counts.instrs) instrs.push_back(to_json(instr));
    return {{"record", "counts"}, {"instructions", std::move(instrs)}};
  }
  Json operator()(const EndRecord& end) const {
    return {{"record", "end"}, {"launches", end.launches}, {"kernels", end.kernels}};
  }
};

ExecRecord record_of(const Json& json) {
  ExecRecord record{.process = json.at("process").get<int>(), .what = {}};
  const auto kind = json.at("record").get<std::string>();
  if (kind == "start") {
    record.what = StartRecord{json.at("program").get<std::string>()};
  } else if (kind == "finding") {
    record.what =
        FindingRecord{json.at("number").get<std::size_t>(), finding_of(json.at("finding")),
                      json.at("arrivals").get<std::uint64_t>()};
  } else if (kind == "kernel") {
    record.what = KernelRecord{
        json.at("name").get<std::string>(),     json.at("sees_order").get<std::string>(),
        json.at("reads_unwritten").get<bool>(), json.at("arrivals").get<std::uint64_t>(),
        json.at("proved").get<std::string>(),   json.at("file").get<std::string>(),
        json.at("target").get<std::string>(),   json.at("stands_in").get<bool>(),
        json.at("code").get<std::string>(),     json.at("threads").get<std::uint32_t>()};
  } else if (kind == "call") {
    record.what = CallRecord{json.at("name").get<std::string>(), json.at("file").get<std::string>(),
                             json.at("line").get<std::uint32_t>()};
  } else if (kind == "refusal") {
    record.what = RefusalRecord{json.at("reason").get<std::string>()};
  } else if (kind == "not-checked") {
    record.what = NotCheckedRecord{json.at("what").get<std::string>()};
  } else if (kind == "counts") {
    CountsRecord counts;
    for (const Json& one : json.at("instructions")) {
      counts.instrs.push_back(counted_instr_of(one));
    }
    record.what = std::move(counts);
  } else if (kind == "end") {
    record.what = EndRecord{json.at("launches").get<std::uint64_t>(),
                            json.at("kernels").get<std::vector<std::string>>()};
  } else {
    throw Json::other_error::create(501, "no such record", &json);
  }
  return record;
}

std::string_view name_of(vgpu::Compile wanted) {
  const auto* const row =
      std::ranges::find(vgpu::kCompileNames, wanted, [](const auto& one) { return one.first; });
  return row->second;
}

vgpu::Compile compile_of(const Json& json) {
  for (const auto& [compile, name] : vgpu::kCompileNames) {
    if (json == name) return compile;
  }
  throw Json::other_error::create(501, "no such value of compile", &json);
}

ExecSettings settings_of(const Json& json) {
  ExecSettings settings;
  settings.records = json.at("records").get<std::string>();
  const Json& checkers = json.at("checkers");
  if (checkers.size() != vgpu::kCheckers.size()) {
    throw Json::other_error::create(501, "not the checkers of this build", &checkers);
  }
  for (const vgpu::CheckerRow& row : vgpu::kCheckers) {
    settings.checkers.*row.enabled = checkers.at(row.name).get<bool>();
  }
  settings.checkers.portable = json.at("portable").get<bool>();
  settings.warp_model =
      json.at("lockstep").get<bool>() ? vgpu::WarpModel::lockstep : vgpu::WarpModel::independent;
  settings.checkers.volatile_is_weak = json.at("volatile_is_weak").get<bool>();
  settings.checkers.strict_init = json.at("strict_init").get<bool>();
  settings.strategy = json.at("strategy").get<std::string>();
  settings.seed = json.at("seed").get<std::uint64_t>();
  settings.steps_max = json.at("steps_max").get<std::uint64_t>();
  settings.memory_bytes = json.at("memory_bytes").get<std::uint64_t>();
  settings.jobs = json.at("jobs").get<unsigned>();
  settings.compile = compile_of(json.at("compile"));
  settings.fresh_pattern = json.at("fresh_pattern").get<bool>();
  settings.devices = json.value("devices", 1u);
  settings.device = json.at("device").get<unsigned>();
  settings.sparse = json.at("sparse").get<bool>();
  settings.steps_budget = json.at("steps_budget").get<std::uint64_t>();
  settings.leaks = json.at("leaks").get<bool>();
  settings.prove = json.at("prove").get<bool>();
  settings.host_bytes = json.at("host_bytes").get<bool>();
  settings.host_inputs = json.at("host_inputs").get<bool>();
  settings.heap = json.at("heap").get<unsigned>();
  settings.trace_file = json.at("trace_file").get<std::string>();
  settings.trace = json.at("trace").get<std::string>();
  settings.launch_worker = json.at("launch_worker").get<std::string>();
  settings.debugger = json.at("debugger").get<std::string>();
  settings.profile = json.at("profile").get<bool>();
  for (const Json& edit : json.at("edits")) settings.edits.push_back(edit_of(edit));
  settings.texts = json.at("texts").get<std::vector<std::string>>();
  settings.supposed.one_stream = json.at("one_stream").get<bool>();
  settings.supposed.zeroed_memory = json.at("zeroed_memory").get<bool>();
  settings.supposed.host_waits = json.at("host_waits").get<bool>();
  settings.supposed.late_frees = json.at("late_frees").get<bool>();
  settings.supposed.peer_access = json.at("peer_access").get<bool>();
  settings.supposed.ordered_nodes = json.at("ordered_nodes").get<bool>();
  settings.supposed.more_dynamic_shared = json.at("more_dynamic_shared").get<bool>();
  settings.experiments = json.at("experiments").get<int>();
  settings.host_lines = json.at("host_lines").get<bool>();
  settings.findings_at_end = json.at("findings_at_end").get<bool>();
  settings.code = json.at("code").get<bool>();
  settings.kept_bytes = json.at("kept_bytes").get<std::vector<std::uint32_t>>();
  settings.ordered_operation = json.at("ordered_operation").get<std::uint32_t>();
  settings.ordered_byte = json.at("ordered_byte").get<std::uint64_t>();
  return settings;
}

// Returns the text of "[json.exception.out_of_range.403] key 'name' not found" without the part for
// programmers.
std::string_view reason_of(const Json::exception& error) {
  const std::string_view text = error.what();
  const std::size_t head = text.find("] ");
  return head == std::string_view::npos ? text : text.substr(head + 2);
}

}  // namespace

std::string to_text(const ExecSettings& settings) {
  Json edits = Json::array();
  for (const ptx::ProgramEdit& edit : settings.edits) edits.push_back(to_json(edit));
  Json checkers = Json::object();
  for (const vgpu::CheckerRow& row : vgpu::kCheckers) {
    checkers[row.name] = settings.checkers.*row.enabled;
  }
  return dump({{"records", settings.records},
               {"checkers", std::move(checkers)},
               {"portable", settings.checkers.portable},
               {"volatile_is_weak", settings.checkers.volatile_is_weak},
               {"strict_init", settings.checkers.strict_init},
               {"lockstep", settings.warp_model == vgpu::WarpModel::lockstep},
               {"strategy", settings.strategy},
               {"seed", settings.seed},
               {"steps_max", settings.steps_max},
               {"memory_bytes", settings.memory_bytes},
               {"jobs", settings.jobs},
               {"compile", name_of(settings.compile)},
               {"fresh_pattern", settings.fresh_pattern},
               {"devices", settings.devices},
               {"device", settings.device},
               {"sparse", settings.sparse},
               {"steps_budget", settings.steps_budget},
               {"leaks", settings.leaks},
               {"prove", settings.prove},
               {"host_bytes", settings.host_bytes},
               {"host_inputs", settings.host_inputs},
               {"heap", settings.heap},
               {"trace_file", settings.trace_file},
               {"trace", settings.trace},
               {"launch_worker", settings.launch_worker},
               {"debugger", settings.debugger},
               {"profile", settings.profile},
               {"edits", std::move(edits)},
               {"texts", settings.texts},
               {"one_stream", settings.supposed.one_stream},
               {"zeroed_memory", settings.supposed.zeroed_memory},
               {"host_waits", settings.supposed.host_waits},
               {"late_frees", settings.supposed.late_frees},
               {"peer_access", settings.supposed.peer_access},
               {"ordered_nodes", settings.supposed.ordered_nodes},
               {"more_dynamic_shared", settings.supposed.more_dynamic_shared},
               {"experiments", settings.experiments},
               {"host_lines", settings.host_lines},
               {"findings_at_end", settings.findings_at_end},
               {"code", settings.code},
               {"kept_bytes", settings.kept_bytes},
               {"ordered_operation", settings.ordered_operation},
               {"ordered_byte", settings.ordered_byte}});
}

std::optional<ExecSettings> parse_exec_settings(std::string_view text) {
  try {
    return settings_of(Json::parse(text));
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

std::string to_text(const ExecRecord& record) {
  Json json = std::visit(RecordJson{}, record.what);
  json["process"] = record.process;
  return dump(json) + "\n";
}

ExecRecordError::ExecRecordError(std::string_view line, std::string_view reason)
    : std::runtime_error("wrote '" + std::string(line) + "': " + std::string(reason)) {}

ExecRecord parse_exec_record(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  try {
    return record_of(Json::parse(line));
  } catch (const Json::parse_error& error) {
    throw ExecRecordError(line, "no JSON from byte " + std::to_string(error.byte) + " on");
  } catch (const Json::exception& error) {
    throw ExecRecordError(line, reason_of(error));
  }
}

}  // namespace warpcheck::cudart
