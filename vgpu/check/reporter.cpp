#include "vgpu/check/reporter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "vgpu/check/known_patterns.hpp"
#include "vgpu/machine/undefined/unwritten_memory.hpp"
#include "vgpu/program/library_headers.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::size_t kInitialEntries = 64;

std::size_t hash_of(const Reporter::Key& key) {
  auto mix = reinterpret_cast<std::uintptr_t>(key.subject) * 0x9e3779b97f4a7c15u;
  mix = (mix ^ (std::uint64_t{key.pc1} << 32 | key.pc2)) * 0xff51afd7ed558ccdu;
  mix = (mix ^ mix >> 29 ^ key.tag) * 0xc4ceb9fe1a85ec53u;
  return mix ^ mix >> 32;
}

// Returns whether a finding has sides in device code, and the source line of each such side is
// known.
bool has_lines(const Finding& finding) {
  const auto is_code = [](const AccessSide& side) { return !side.ptx.empty(); };
  return std::ranges::any_of(finding.accesses, is_code) &&
         std::ranges::all_of(finding.accesses, [&](const AccessSide& side) {
           return !is_code(side) || !side.file.empty();
         });
}

// Returns whether two findings have the same lines and roles; their elements, threads and
// instructions may differ.
bool say_the_same(const Finding& a, const Finding& b) {
  const auto roles = [](const Finding& finding) {
    std::vector<std::tuple<std::string_view, std::string_view, std::uint32_t>> all;
    for (const AccessSide& side : finding.accesses) {
      all.emplace_back(side.role, side.file, side.line);
    }
    std::ranges::sort(all);
    return all;
  };
  return a.kind == b.kind && a.severity == b.severity && a.space == b.space &&
         a.kernel == b.kernel && roles(a) == roles(b);
}

// Lines of a library's kernel tell a user of the library nothing, so the place of its launch is
// added.
void add_launch(Finding& finding, const HostPlace& place) {
  const bool is_of_library =
      !finding.accesses.empty() &&
      std::ranges::all_of(finding.accesses, [](const AccessSide& side) {
        return !side.ptx.empty() && side.header.empty() && is_library_header(side.file);
      });
  if (!is_of_library) return;
  const std::string name = place.file.substr(place.file.rfind('/') + 1);
  if (!name.empty()) {
    finding.message += fmt::format("; the kernel was launched at {}:{}", name, place.line);
  } else if (!place.code.empty()) {
    finding.message += fmt::format("; the kernel was launched in {}", place.code);
  }
}

void set_place(AccessSide& side, const HostPlace& place) {
  side.file = place.file;
  side.line = place.line;
  if (place.file.empty()) side.host_code = place.code;
}

}  // namespace

AccessSide host_side(std::string_view role) {
  AccessSide side;
  side.role = role;
  return side;
}

AccessSide host_side(bool write, const HostPlace& place) {
  AccessSide side = host_side(write ? "host write" : "host read");
  set_place(side, place);
  return side;
}

std::string text_of_code(const HostPlace& place, unsigned side) {
  if (!place.file.empty() || place.code.empty()) return {};
  return fmt::format("; ({}) is in {}", side, place.code);
}

std::string lack_of_host(const HostPlace& place, std::string_view other, unsigned side) {
  const std::string what =
      place.in_function
          ? fmt::format(
                "nothing orders {} ({}) and the host function of ({}): they are in "
                "different streams",
                other, 3 - side, side)
          : fmt::format("the host does not wait for {} ({}) before ({})", other, 3 - side, side);
  return what + text_of_code(place, side);
}

void name_place(Finding& finding, std::size_t side, const HostPlace& place, std::string_view call) {
  set_place(finding.accesses[side], place);
  const auto number = static_cast<unsigned>(side) + 1;
  if (call.empty() || !place.file.empty() || place.code.empty()) {
    finding.message += text_of_code(place, number);
  } else {
    finding.message += fmt::format("; ({}) is {} in {}", number, call, place.code);
  }
}

void add_free_by_host(Finding& finding, const HostPlace& freed_at, std::string_view verb) {
  if (freed_at.file.empty() && freed_at.code.empty()) return;
  finding.accesses.push_back(host_side("host free"));
  finding.message += fmt::format("; ({}) {} it", finding.accesses.size(), verb);
  name_place(finding, finding.accesses.size() - 1, freed_at);
}

std::string_view space_name(ptx::Space space) {
  switch (space) {
    case ptx::Space::global: return "global";
    case ptx::Space::shared: return "shared";
    case ptx::Space::local: return "local";
    case ptx::Space::constant: return "constant";
    case ptx::Space::param: return "param";
    case ptx::Space::generic: break;
  }
  return "";
}

std::string_view role_name(AccessKind kind) {
  switch (kind) {
    case AccessKind::read: return "read";
    case AccessKind::write: return "write";
    case AccessKind::atomic: break;
  }
  return "atomic";
}

AccessSide side_at(std::string_view role, const CodePlace& place) {
  AccessSide side;
  side.role = role;
  side.block = place.block;
  side.thread = place.thread;
  const Program& program = *place.program;
  if (place.pc < program.code.size()) {
    const ptx::SourceLocation& location = program.user_location(place.pc);
    if (location.file < program.files.size()) {
      side.file = program.files[location.file];
      side.line = location.line;
      for (const ptx::SourceLocation& call : program.user_callers(location)) {
        side.callers.push_back({program.files[call.file], call.line});
      }
    }
    const ptx::SourceLocation& innermost = program.source_of(place.pc).location;
    const bool is_called = &innermost != &location && innermost.file < program.files.size();
    if (is_called && is_library_code(program.files[innermost.file])) {
      side.header = program.files[innermost.file];
      side.header_line = innermost.line;
    }
    side.ptx = program.source_of(place.pc).text;
    side.instruction = place.pc;
  }
  return side;
}

std::string describe_element(const Access& access, unsigned lane) {
  // The bytes of a warp's local variables are interleaved, and PTX has no names for them.
  if (access.space == ptx::Space::local) {
    return fmt::format("local variable, {}", counted(access.bytes, "byte"));
  }
  return fmt::format("{}, {}", describe(*access.allocation, access.offset[lane], access.bytes),
                     counted(access.bytes, "byte"));
}

std::string variable_of(const Allocation& allocation, std::uint32_t offset) {
  const Symbol* symbol = nullptr;
  for (const Symbol& candidate : allocation.symbols) {
    const bool holds = offset >= candidate.offset &&
                       (candidate.bytes == 0 || offset - candidate.offset < candidate.bytes);
    if (holds) symbol = &candidate;
  }
  if (symbol != nullptr) return symbol->name;
  if (!allocation.name.empty()) return allocation.name;
  return fmt::format("allocation {} of {}", allocation.id, counted(allocation.bytes, "byte"));
}

void Reporter::reset() {
  if (findings_.empty()) return;
  findings_.clear();
  entries_ = 0;
  recent_ = {};
  for (Entry& entry : table_) entry.finding = ptx::kNone;
}

bool Reporter::holds_undefined(const Allocation& allocation, std::uint32_t offset) const {
  return unwritten_ != nullptr && unwritten_->holds_undefined(allocation, offset);
}

void Reporter::on_sync(const Sync& sync) {
  if (sync.kind != Sync::Kind::kernel_start) return;
  grid_ = sync.grid;
  block_ = sync.block;
}

AccessSide Reporter::side(std::string_view role, const Program& program, std::uint32_t pc,
                          ThreadId who) const {
  return side_at(role, place_of(program, pc, who));
}

std::uint32_t& Reporter::finding_of(const Key& key) {
  if (2 * (entries_ + 1) > table_.size()) grow();
  const std::size_t wrap = table_.size() - 1;
  for (std::size_t at = hash_of(key) & wrap;; at = (at + 1) & wrap) {
    Entry& entry = table_[at];
    if (entry.finding == ptx::kNone) {
      entry.key = key;
      ++entries_;
      return entry.finding;
    }
    if (entry.key == key) return entry.finding;
  }
}

// Makes the finding a note if a known pattern says why it is no error.
void Reporter::weigh(Finding& finding) {
  const std::string_view argument =
      finding.severity == Severity::error ? known_argument(finding) : std::string_view();
  if (argument.empty()) return;
  finding.severity = Severity::note;
  finding.message += fmt::format("; but {}", argument);
}

bool Reporter::is_excused_by_threads(const Finding& finding) {
  return known_pattern_of_threads(finding);
}

std::uint32_t Reporter::add(Finding&& finding) {
  finding.count = 0;
  weigh(finding);
  add_launch(finding, place_of_call());
  const auto index =
      has_lines(finding)
          ? std::ranges::find_if(
                findings_, [&](const Finding& other) { return say_the_same(finding, other); }) -
                findings_.begin()
          : std::ssize(findings_);
  const auto at = static_cast<std::uint32_t>(index);
  if (index == std::ssize(findings_)) {
    findings_.push_back(std::move(finding));
    if (listener_) listener_(at);
    return at;
  }
  add_other_callers(finding, findings_[at]);
  if (is_wider(at, finding.relation)) {
    const Relation relation = finding.relation;
    widen(at, std::move(finding), relation);
  }
  return at;
}

// Records a relation that is not wider in Finding::also_between.
bool Reporter::is_wider(std::uint32_t index, Relation relation) {
  Finding& finding = findings_[index];
  if (relation > finding.relation) return true;
  if (relation == finding.relation || relation == Relation::none) return false;
  std::vector<Relation>& also = finding.also_between;
  const auto place = std::ranges::lower_bound(also, relation, std::greater{});
  if (place == also.end() || *place != relation) also.insert(place, relation);
  return false;
}

void Reporter::widen(std::uint32_t index, Finding&& finding, Relation relation) {
  Finding& known = findings_[index];
  add_launch(finding, place_of_call());
  finding.relation = relation;
  finding.count = known.count;
  finding.also_between = std::move(known.also_between);
  if (known.relation != Relation::none) {
    finding.also_between.insert(finding.also_between.begin(), known.relation);
  }
  add_other_callers(known, finding);
  known = std::move(finding);
  if (listener_) listener_(index);
}

void Reporter::grow() {
  const std::vector<Entry> old = std::exchange(
      table_, std::vector<Entry>(table_.empty() ? kInitialEntries : 2 * table_.size()));
  const std::size_t wrap = table_.size() - 1;
  for (const Entry& entry : old) {
    if (entry.finding == ptx::kNone) continue;
    std::size_t at = hash_of(entry.key) & wrap;
    while (table_[at].finding != ptx::kNone) at = (at + 1) & wrap;
    table_[at] = entry;
  }
}

}  // namespace warpcheck::vgpu
