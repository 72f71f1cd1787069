#include "harness/trial/line_coverage.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "harness/input/json.hpp"
#include "harness/pair/source_path.hpp"
#include "vgpu/check/reporter.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck {
namespace {

// Whether no lane continues after this instruction, except along a reported edge. A thread that
// waits at a barrier or calls a function comes back.
bool ends_straight_line(const vgpu::Instr& instr) {
  switch (instr.kind) {
    case vgpu::InstrKind::branch:
    case vgpu::InstrKind::jump: return true;
    case vgpu::InstrKind::ret:
    case vgpu::InstrKind::exit:
    case vgpu::InstrKind::trap: return instr.guard.bank == vgpu::Bank::none;
    default: return false;
  }
}

// How often each instruction was executed.
std::vector<std::uint64_t> executions_of(const vgpu::Program& program,
                                         const std::vector<std::uint64_t>& entries) {
  std::vector<std::uint64_t> counts(program.code.size());
  std::uint64_t running = 0;
  for (std::size_t pc = 0; pc < counts.size(); ++pc) {
    running += entries[pc];
    counts[pc] = running;
    if (ends_straight_line(program.code[pc])) running = 0;
  }
  return counts;
}

void add_lines(const vgpu::Program& program, const std::vector<std::uint64_t>& entries,
               LineCoverage& coverage) {
  const std::vector<std::uint64_t> counts = executions_of(program, entries);
  LineCoverage of_program;
  for (std::uint32_t pc = 0; pc < counts.size(); ++pc) {
    const vgpu::AccessSide side = vgpu::side_at("", {.program = &program, .pc = pc});
    if (side.line == 0 || vgpu::is_library_header(side.file)) continue;
    std::uint64_t& count = of_program.files[repository_path(side.file)][side.line];
    count = std::max(count, counts[pc]);
  }
  coverage.add(of_program);
}

}  // namespace

void LineCoverage::add(const LineCoverage& other) {
  for (const auto& [file, lines] : other.files) {
    Lines& mine = files[file];
    for (const auto& [line, count] : lines) mine[line] += count;
  }
}

std::uint64_t lines_hit(const LineCoverage::Lines& lines) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(lines, [](const auto& line) { return line.second != 0; }));
}

void FieldTraits<LineCoverage>::write(Json& json, const LineCoverage& coverage) {
  json = Json::object();
  for (const auto& [file, lines] : coverage.files) {
    Json list = Json::array();
    for (const auto& [line, count] : lines) list.push_back(Json::array({line, count}));
    json[file] = std::move(list);
  }
}

LineCoverage FieldTraits<LineCoverage>::read(const Json& json, const FieldPath& path) {
  using Numbers = FieldTraits<std::array<std::uint64_t, 2>>;
  if (!json.is_object()) throw_unexpected(path, "lines of files", json);
  LineCoverage coverage;
  for (const auto& [file, lines] : json.items()) {
    const FieldPath file_path(path, file);
    if (!lines.is_array()) throw_unexpected(file_path, "a list", lines);
    LineCoverage::Lines& mine = coverage.files[file];
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const FieldPath line_path(file_path, i);
      const auto [line, count] = Numbers::read(lines[i], line_path);
      if (line > std::numeric_limits<std::uint32_t>::max()) {
        throw_unexpected(line_path, "a line and how often it ran", lines[i]);
      }
      mine[static_cast<std::uint32_t>(line)] = count;
    }
  }
  return coverage;
}

CoverageObserver::Entries& CoverageObserver::entries_of(const vgpu::Program& program) {
  if (last_ != &program) {
    last_ = &program;
    last_entries_ = &programs_[&program];
    last_entries_->resize(program.code.size());
  }
  return *last_entries_;
}

void CoverageObserver::on_sync(const vgpu::Sync& sync) {
  // The warps of a block begin at the first instruction of the kernel.
  if (sync.kind == vgpu::Sync::Kind::kernel_start) {
    warps_of_block_ = (sync.block.count() + vgpu::kWarpLanes - 1) / vgpu::kWarpLanes;
  } else if (sync.kind == vgpu::Sync::Kind::block_start) {
    Entries& entries = entries_of(*sync.program);
    entries[sync.program->functions.front().entry] += warps_of_block_;
  }
}

void CoverageObserver::on_edge(std::uint32_t /*from*/, std::uint32_t to,
                               const vgpu::Program& program) {
  ++entries_of(program)[to];
}

LineCoverage CoverageObserver::coverage() const {
  LineCoverage coverage;
  for (const auto& [program, entries] : programs_) add_lines(*program, entries, coverage);
  return coverage;
}

std::unordered_map<const vgpu::Program*, std::vector<std::uint64_t>> CoverageObserver::executions()
    const {
  std::unordered_map<const vgpu::Program*, std::vector<std::uint64_t>> counts;
  for (const auto& [program, entries] : programs_)
    counts.emplace(program, executions_of(*program, entries));
  return counts;
}

CoveredEngine::CoveredEngine(bool wants_coverage, Engine& engine) : engine_(engine) {
  if (wants_coverage) watched_.emplace(engine, observer_, true);
}

std::optional<LineCoverage> CoveredEngine::coverage() const {
  return watched_ ? std::optional(observer_.coverage()) : std::nullopt;
}

}  // namespace warpcheck
