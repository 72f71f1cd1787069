// A run as one self-contained HTML page: no script, no external style sheet, no external picture.
//
// Findings are grouped by class (the finding's hash) and folded; the first of a class is shown in
// full.  Five hundred findings are five hundred lines until they are opened.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <pugixml.hpp>
#include <set>
#include <sstream>

#include "harness/input/json.hpp"
#include "harness/pair/project.hpp"
#include "harness/report/finding_help.hpp"
#include "harness/report/input_view.hpp"
#include "harness/report/report_svg.hpp"
#include "harness/report/run_report.hpp"
#include "harness/report/source_excerpt.hpp"
#include "vgpu/check/finding_groups.hpp"
#include "vgpu/program/dim3_text.hpp"
#include "vgpu/text/counted.hpp"
#include "vgpu/text/shell_word.hpp"

namespace warpcheck {
namespace {

constexpr std::string_view kHead =
#include "harness/report/report_page.inc"
    ;
constexpr std::string_view kFoot = "</html>\n";

// Longer tables and groups are folded at first.
constexpr std::size_t kRowsOpen = 80, kClassesOpen = 40;
// Up to this many findings are shown in full: one case often shows a race and its consequences.
constexpr std::size_t kClassesShownWhole = 3;

// The findings of one class in a run.
struct FindingClass {
  struct Member {
    std::size_t report = 0, finding = 0;
  };
  std::vector<Member> members;
  std::size_t first = 0;  // class with the same cause: this one, if there is none before it
  std::string change{};   // sentence_of() the change with which its group vanishes
  bool is_consequence = false;
};

pugi::xml_node add(pugi::xml_node parent, const char* name, std::string_view text = {},
                   std::string_view style = {}) {
  pugi::xml_node node = parent.append_child(name);
  if (!style.empty()) node.append_attribute("class") = std::string(style).c_str();
  if (!text.empty()) node.append_child(pugi::node_pcdata).set_value(printable(text).c_str());
  return node;
}

void add_text(pugi::xml_node parent, std::string_view text) {
  parent.append_child(pugi::node_pcdata).set_value(printable(text).c_str());
}

class Page {
 public:
  explicit Page(const RunReport& run) : run_(run), body_(document_.append_child("body")) {
    std::map<std::string, std::size_t> index_of;
    for (std::size_t i = 0; i < run.reports.size(); ++i) {
      const auto& findings = run.reports[i].verdict.findings;
      for (const FindingGroup& group : finding_groups(findings, run.reports[i].causes)) {
        std::size_t first = classes_.size();
        for (const std::size_t j : group.findings) {
          // A note at the lines of an error is not a repetition of the error.
          const auto [entry, is_new] = index_of.try_emplace(
              vgpu::hash_of(findings[j]) + std::string(vgpu::name_of(findings[j].severity)),
              classes_.size());
          if (j == group.findings.front()) first = entry->second;
          if (is_new) {
            classes_.push_back({{}, first});
            if (group.change != nullptr) {
              classes_.back().change = sentence_of(*group.change, findings.size());
              classes_.back().is_consequence = j != group.findings.front();
            }
          }
          classes_[entry->second].members.push_back({i, j});
        }
      }
    }
  }

  std::string text() {
    write_summary();
    write_verdicts();
    write_findings();
    write_expected();
    write_lines("Assumed", run_.assumed);
    write_lines("Not checked", run_.not_checked);
    write_kernels();
    write_coverage();
    write_profile();
    std::ostringstream out;
    out << kHead;
    document_.save(
        out, "",
        pugi::format_raw | pugi::format_no_declaration | pugi::format_no_empty_element_tags);
    out << kFoot;
    return out.str();
  }

 private:
  [[nodiscard]] const vgpu::Finding& finding_of(const FindingClass::Member& member) const {
    return run_.reports[member.report].verdict.findings[member.finding];
  }

  void write_summary() {
    add(body_, "h1", "warpcheck " + run_.command);
    std::size_t findings = 0;
    for (const FindingClass& one : classes_) findings += one.members.size();
    std::string text = fmt::format("{}; {} in {}", count_of_statuses(),
                                   counted(findings, "finding"), counted(classes_.size(), "class"));
    if (run_.coverage) {
      std::uint64_t lines = 0, hit = 0;
      for (const auto& [file, of_file] : run_.coverage->files) {
        lines += of_file.size();
        hit += lines_hit(of_file);
      }
      text += fmt::format("; {} of {} kernel lines ran", hit, lines);
    }
    add(body_, "p", text, "summary");
    for (const Report& report : run_.reports) {
      if (const std::string limit = limit_of(report.causes); !limit.empty())
        add(body_, "p", fmt::format("{}: {}", report.a_case.pair->name(), limit));
    }
  }

  // "58 claims: 57 passed, 1 failed"
  [[nodiscard]] std::string count_of_statuses() const {
    std::string text = counted(run_.claims.size(), "claim");
    const char* separator = ": ";
    for (const auto status :
         {Claim::Status::passed, Claim::Status::failed, Claim::Status::cannot_run}) {
      const auto count = std::ranges::count(run_.claims, status, &Claim::status);
      if (count == 0) continue;
      text += fmt::format("{}{} {}", separator, count, name_of(status));
      separator = ", ";
    }
    return text;
  }

  void write_verdicts() {
    if (run_.claims.empty()) return;
    add(body_, "h2", "Verdicts");
    pugi::xml_node fold = add(body_, "details", {}, "group");
    if (run_.claims.size() <= kRowsOpen) fold.append_attribute("open") = "";
    add(fold, "summary", count_of_statuses());
    pugi::xml_node table = add(add(fold, "div", {}, "wide"), "table", {}, "verdicts");
    pugi::xml_node head = add(add(table, "thead"), "tr");
    for (const char* name : {"claim", "expects", "found", "trials", "verdict"}) {
      add(head, "th", name);
    }
    pugi::xml_node rows = add(table, "tbody");
    // Claims that did not pass come first.
    std::vector<const Claim*> claims;
    for (const Claim& claim : run_.claims) claims.push_back(&claim);
    std::ranges::stable_sort(
        claims, {}, [](const Claim* claim) { return claim->status == Claim::Status::passed; });
    for (const Claim* each : claims) {
      const Claim& claim = *each;
      pugi::xml_node row = add(rows, "tr", {}, name_of(claim.status));
      add(row, "td", claim.case_file.empty() ? claim.title() : claim.case_file);
      add(row, "td", claim.expects.empty() ? "clean" : show_kinds(claim.expects), "expects");
      add(row, "td", claim.found.empty() ? "-" : show_kinds(claim.found), "found");
      add(row, "td", fmt::format("{}", claim.trials), "number trials");
      const bool failed = claim.status == Claim::Status::failed;
      add(row, "td", failed ? claim.verdict : claim.verdict + claim.beyond.text(), "verdict");
    }
  }

  // --- findings ----------------------------------------------------------------------------------

  void write_findings() {
    if (classes_.empty()) return;
    add(body_, "h2", "Findings");
    // By kind, in the order of their first occurrence.
    std::vector<vgpu::FindingKind> kinds;
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      const vgpu::FindingKind kind = finding_of(classes_[i].members.front()).kind;
      const bool is_shown = classes_[i].first == i;  // not under one of another kind
      if (is_shown && std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(kind);
    }
    std::ranges::sort(kinds);
    for (const vgpu::FindingKind kind : kinds) write_kind(kind);
  }

  void write_kind(vgpu::FindingKind kind) {
    const FindingHelp& help = help_for(kind);
    const auto of_kind = std::ranges::count_if(classes_, [&](const FindingClass& one) {
      return finding_of(one.members.front()).kind == kind;
    });
    pugi::xml_node section = add(body_, "details", {}, "group");
    if (classes_.size() <= kClassesOpen) section.append_attribute("open") = "";
    add(section, "summary",
        fmt::format("{} ({})", help.title, counted(static_cast<std::size_t>(of_kind), "class")));
    pugi::xml_node about = add(section, "p", help.meaning, "about");
    add_text(about, " ");
    add_text(about, help.advice);
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      const FindingClass& one = classes_[i];
      if (one.first == i && finding_of(one.members.front()).kind == kind) write_class(section, i);
    }
  }

  // With the others of the same cause folded under it.
  void write_class(pugi::xml_node parent, std::size_t index) {
    const FindingClass& one = classes_[index];
    const FindingClass::Member& first = one.members.front();
    const vgpu::Finding& finding = finding_of(first);
    pugi::xml_node fold = add(parent, "details");
    if (classes_.size() <= kClassesShownWhole) fold.append_attribute("open") = "";
    pugi::xml_node summary = add(fold, "summary");
    const bool note = finding.severity == vgpu::Severity::note;
    add(summary, "span", fmt::format("{}{}", note ? "note: " : "", vgpu::name_of(finding.kind)),
        note ? "kind note" : "kind");
    // Findings of the host belong to no kernel.
    const std::string title = run_.reports[first.report].a_case.title();
    add_text(summary, fmt::format(" {}", finding.kernel.empty() ? title : finding.kernel));
    if (!finding.object.empty()) add_text(summary, fmt::format("  {}", finding.object));
    // A long line may be broken at spaces.
    add_text(summary, " ");
    add(summary, "span", places_of(finding), "places");
    if (one.members.size() > 1) {
      add_text(summary, " ");
      add(summary, "span", counted(one.members.size(), "time"), "count");
    }
    write_finding(fold, first, one.is_consequence ? "" : one.change);
    write_others(fold, one);
    pugi::xml_node same;
    for (std::size_t i = index + 1; i < classes_.size(); ++i) {
      if (classes_[i].first != index) continue;
      if (!same) {
        same = add(fold, "details");
        const auto folded =
            static_cast<std::size_t>(std::ranges::count(classes_, index, &FindingClass::first) - 1);
        add(same, "summary",
            classes_[i].is_consequence ? "and " + counted(folded, "consequence")
                                       : fmt::format("{} more of this cause", folded));
      }
      write_class(same, i);
    }
  }

  // "kernels/scan.cu:14, 22"
  static std::string places_of(const vgpu::Finding& finding) {
    std::string text;
    std::set<std::pair<std::string, std::uint32_t>> shown;
    std::string file;
    for (const vgpu::AccessSide& side : finding.accesses) {
      if (side.line == 0 || !shown.insert({side.file, side.line}).second) continue;
      const std::string place = side.file == file ? "" : side.file + ":";
      text += fmt::format("{}{}{}", text.empty() ? "" : ", ", place, side.line);
      file = side.file;
    }
    return text;
  }

  // change: with which it vanishes; empty: none is known
  void write_finding(pugi::xml_node parent, const FindingClass::Member& member,
                     const std::string& change) {
    const Report& report = run_.reports[member.report];
    const vgpu::Finding& finding = finding_of(member);
    if (!finding.message.empty()) add(parent, "p", finding.message, "message");
    if (const std::string also = vgpu::also_text(finding); !also.empty()) add(parent, "p", also);
    if (!finding.cause.empty()) add(parent, "p", "cause: " + finding.cause);
    if (!change.empty()) add(parent, "p", change, "tried");
    const std::string_view advice = advice_for(finding);
    if (change.empty() && advice != help_for(finding.kind).advice)
      add(parent, "p", advice, "about");
    write_sides(parent, finding);
    write_excerpts(parent, finding);
    write_picture(parent, member);
    write_input(parent, report);
    write_schedule(parent, report);
    write_commands(parent, report);
    if (member.finding < run_.debug_commands.size()) {
      add(parent, "h4", "In the debugger");
      add(parent, "pre", run_.debug_commands[member.finding], "commands");
    }
  }

  static void write_sides(pugi::xml_node parent, const vgpu::Finding& finding) {
    if (finding.accesses.empty()) return;
    pugi::xml_node list = add(parent, "ul", {}, "sides");
    for (std::size_t i = 0; i < finding.accesses.size(); ++i) {
      const vgpu::AccessSide& side = finding.accesses[i];
      pugi::xml_node item = add(list, "li");
      add(item, "span", fmt::format("{}", i + 1), "side");
      add_text(item, side.ptx.empty()
                         ? fmt::format(" {} by the host", side.role)
                         : fmt::format(" {} by block {} thread {}  {}", side.role,
                                       triple(side.block), triple(side.thread), side.ptx));
      if (const std::string callers = vgpu::callers_text(side); !callers.empty()) {
        add(item, "div", callers, "callers");
      }
    }
  }

  void write_excerpts(pugi::xml_node parent, const vgpu::Finding& finding) {
    std::vector<ExcerptPlace> places;
    for (const vgpu::AccessSide& side : finding.accesses) places.push_back({side.file, side.line});
    for (const Excerpt& excerpt : excerpts(places, files_)) {
      add(parent, "p",
          excerpt.found ? excerpt.file
                        : excerpt.file + ": the file is not here; only its line numbers are known",
          "file");
      pugi::xml_node code = add(parent, "pre", {}, "code");
      for (const Excerpt::Line& line : excerpt.lines) write_line(code, line);
    }
  }

  static void write_line(pugi::xml_node code, const Excerpt::Line& line) {
    pugi::xml_node row = add(code, "span", {}, line.sides.empty() ? "line" : "line hot");
    std::string sides;
    for (const std::size_t side : line.sides) sides += fmt::format("({})", side);
    add(row, "span", fmt::format("{:>7} ", sides), "side-of");
    add(row, "span", line.number == 0 ? "  ... " : fmt::format("{:>5} ", line.number), "at");
    add_text(row, line.text + "\n");
  }

  void write_picture(pugi::xml_node parent, const FindingClass::Member& member) {
    if (run_.pictures.empty()) return;
    const auto& picture = run_.pictures[member.report][member.finding];
    const vgpu::Finding& finding = finding_of(member);
    if (!picture) {
      if (!finding.accesses.empty()) {
        add(parent, "p", "No step of the device shows this finding, so there is no picture.",
            "about");
      }
      return;
    }
    append_svg(add(parent, "div", {}, "wide"), *picture, finding.message);
    pugi::xml_node legend = add(parent, "p", {}, "legend");
    add_text(
        legend,
        "Time runs to the right; above each column its source line. R read, W write, A atomic, "
        "! what went wrong; a bar is a barrier; \xe2\x97\x86 a decision of the schedule, after "
        "which a lane or warp is held back (thin bar); \xe2\x97\x80 one by which the next access "
        "leaves out the latest writes.");
    for (const Interleaving::Step& step : picture->steps) {
      if (step.decision)
        add(legend, "span", fmt::format("\xe2\x97\x86{} {}", step.label, step.text), "decision");
    }
  }

  static void write_input(pugi::xml_node parent, const Report& report) {
    const Json input = report.a_case.pair->to_json(report.a_case.input);
    add(parent, "h4", "Input");
    pugi::xml_node list = add(parent, "dl", {}, "input");
    for (const InputField& field : input_view(input)) {
      add(list, "dt",
          field.is_list ? fmt::format("{} ({})", field.name, counted(field.size, "element"))
                        : field.name);
      pugi::xml_node value = add(list, "dd");
      std::size_t next = 0;
      for (const InputField::Element& element : field.elements) {
        if (element.index != next) add_text(value, fmt::format("... [{}] ", element.index));
        next = element.index + 1;
        if (element.extreme.empty()) {
          add_text(value, element.value + " ");
          continue;
        }
        add(value, "mark", element.value).append_attribute("title") = element.extreme.c_str();
        add(value, "small", " " + element.extreme + " ");
      }
      if (next < field.size) add_text(value, fmt::format("... {} more", field.size - next));
    }
  }

  static void write_schedule(pugi::xml_node parent, const Report& report) {
    const std::string settings = settings_summary(report.a_case.settings);
    const auto& decisions = report.verdict.schedule.decisions;
    constexpr std::size_t kShown = 12;
    add(parent, "h4", "Schedule");
    add(parent, "p",
        fmt::format(
            "{}{}",
            decisions.empty() ? "default (0 decisions)" : counted(decisions.size(), "decision"),
            settings.empty() ? "" : "; " + settings));
    if (decisions.empty()) return;
    pugi::xml_node list = add(parent, "ol");
    for (std::size_t i = 0; i < std::min(decisions.size(), kShown); ++i) {
      add(list, "li", vgpu::to_string(decisions[i]));
    }
    if (decisions.size() > kShown) {
      add(parent, "p", fmt::format("... and {} more", decisions.size() - kShown));
    }
  }

  static void write_commands(pugi::xml_node parent, const Report& report) {
    if (report.replay_path.empty()) return;
    const std::string path = shell_word(report.replay_path);
    add(parent, "h4", "Again");
    add(parent, "pre",
        fmt::format("{0} replay {1}\n{0} export {1} -o finding.cu\n{0} debug {1}",
                    project().program, path),
        "commands");
  }

  // The other findings of a class: the place of each, and its replay command.
  void write_others(pugi::xml_node parent, const FindingClass& one) {
    if (one.members.size() < 2) return;
    pugi::xml_node fold = add(parent, "details", {}, "others");
    add(fold, "summary", fmt::format("{} more of this class", one.members.size() - 1));
    pugi::xml_node list = add(fold, "ul");
    for (std::size_t i = 1; i < one.members.size(); ++i) {
      const Report& report = run_.reports[one.members[i].report];
      const std::string settings = settings_summary(report.a_case.settings);
      pugi::xml_node item = add(list, "li",
                                fmt::format("{}: {}{}", report.a_case.title(),
                                            report.a_case.pair->summary(report.a_case.input),
                                            settings.empty() ? "" : "; " + settings));
      if (report.replay_path.empty()) continue;
      add(item, "code",
          fmt::format(" {} replay {}", project().program, shell_word(report.replay_path)));
    }
  }

  // --- exec --------------------------------------------------------------------------------------

  void write_expected() {
    if (run_.expected.empty() && run_.unmatched.empty()) return;
    add(body_, "h2", "Expected findings");
    pugi::xml_node list = add(body_, "ul");
    for (const ExpectedFinding& expected : run_.expected) add(list, "li", expected_text(expected));
    for (const Expectation& expectation : run_.unmatched) {
      add(list, "li", "not found: " + place_text(expectation));
    }
  }

  void write_lines(const char* title, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    add(body_, "h2", title);
    pugi::xml_node list = add(body_, "ul");
    for (const std::string& line : lines) add(list, "li", line);
  }

  void write_kernels() {
    if (run_.kernels.empty()) return;
    add(body_, "h2", "Kernels");
    pugi::xml_node table = add(add(body_, "div", {}, "wide"), "table");
    pugi::xml_node head = add(add(table, "thead"), "tr");
    for (const char* name : {"kernel", "launches", "thread instructions"}) add(head, "th", name);
    pugi::xml_node rows = add(table, "tbody");
    for (const RunReport::KernelUse& kernel : run_.kernels) {
      pugi::xml_node row = add(rows, "tr");
      add(row, "td", vgpu::kernel_name(kernel.name));
      add(row, "td", fmt::format("{}", kernel.launches), "number");
      add(row, "td", fmt::format("{}", kernel.thread_instructions), "number");
    }
  }

  // --- coverage ----------------------------------------------------------------------------------

  void write_coverage() {
    if (!run_.coverage || run_.coverage->empty()) return;
    add(body_, "h2", "Coverage of kernel lines");
    for (const auto& [file, lines] : run_.coverage->files) {
      pugi::xml_node fold = add(body_, "details");
      pugi::xml_node summary = add(fold, "summary", file + " ");
      add(summary, "span", fmt::format("{} of {}", lines_hit(lines), counted(lines.size(), "line")),
          "count");
      write_covered_file(fold, file, lines);
    }
  }

  void write_covered_file(pugi::xml_node parent, const std::string& file,
                          const LineCoverage::Lines& lines) {
    const std::vector<std::string>* text = files_.find(file);
    if (text == nullptr) add(parent, "p", "the file is not here", "file");
    pugi::xml_node code = add(parent, "pre", {}, "code");
    const std::uint32_t last = text != nullptr ? static_cast<std::uint32_t>(text->size()) : 0;
    const std::uint32_t end = std::max(last, lines.empty() ? 0 : lines.rbegin()->first);
    for (std::uint32_t number = 1; number <= end; ++number) {
      const auto found = lines.find(number);
      if (text == nullptr && found == lines.end()) continue;
      const char* style = found == lines.end() ? "line"
                          : found->second == 0 ? "line missed"
                                               : "line ran";
      pugi::xml_node row = add(code, "span", {}, style);
      const std::string count = found == lines.end() ? "" : fmt::format("{}", found->second);
      add(row, "span", fmt::format("{:>9} {:>5} ", count, number), "at");
      add_text(row, (number <= last ? (*text)[number - 1] : "") + "\n");
    }
  }

  // --- memory ------------------------------------------------------------------------------------

  void write_profile() {
    if (!run_.profile || run_.profile->lines.empty()) return;
    add(body_, "h2", "Memory, line by line");
    add(body_, "p",
        "Those lines first that lose most: sectors of global memory and wavefronts of shared "
        "memory beyond the least that their bytes need.",
        "about");
    pugi::xml_node table = add(add(body_, "div", {}, "wide"), "table");
    pugi::xml_node head = add(add(table, "thead"), "tr");
    for (const char* name : {"line", "executions", "lanes", "sectors", "least", "wavefronts",
                             "least", "contended", "parted", "local bytes"}) {
      add(head, "th", name);
    }
    pugi::xml_node rows = add(table, "tbody");
    for (const MemoryProfile::Line& line : run_.profile->lines) {
      if (line.has_costs()) write_profile_line(rows, line);
    }
  }

  void write_profile_line(pugi::xml_node rows, const MemoryProfile::Line& line) {
    const vgpu::MemoryCounts& all = line.total;
    pugi::xml_node row = add(rows, "tr");
    pugi::xml_node place = add(row, "td");
    add(place, "div",
        line.file.empty() ? vgpu::kernel_name(line.instrs.front().kernel)
                          : fmt::format("{}:{}", line.file, line.line),
        "file");
    const std::vector<std::string>* text = files_.find(line.file);
    if (text != nullptr && line.line != 0 && line.line <= text->size()) {
      add(place, "code", (*text)[line.line - 1]);
    }
    for (const std::string& sentence : profile_sentences(all)) add(place, "div", sentence, "about");
    const double lanes = static_cast<double>(all.lanes) / static_cast<double>(all.executions);
    add(row, "td", fmt::format("{}", all.executions), "number");
    add(row, "td", fmt::format("{:.1f}", lanes), "number");
    for (const std::uint64_t count :
         {all.sectors, all.ideal_sectors, all.wavefronts, all.ideal_wavefronts, all.contended,
          all.divergences, all.local_bytes}) {
      add(row, "td", count == 0 ? "" : fmt::format("{}", count), "number");
    }
  }

  const RunReport& run_;
  std::vector<FindingClass> classes_;
  SourceFiles files_;
  pugi::xml_document document_;
  pugi::xml_node body_;
};

}  // namespace

std::string report_html(const RunReport& run) { return Page(run).text(); }

}  // namespace warpcheck
