// How `exec` converts the records of a program: counts, merged runs, text.
#include "cli/exec/program_report.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include "harness/input/json.hpp"
#include "harness/report/finding_help.hpp"
#include "vgpu/cudart/testing/temporary_directory.hpp"

namespace warpcheck {
namespace {

using cudart::EndRecord;
using cudart::ExecRecord;
using cudart::FindingRecord;
using cudart::RefusalRecord;
using cudart::StartRecord;

vgpu::AccessSide side(std::string role, std::uint32_t block, std::uint32_t thread, std::string file,
                      std::uint32_t line) {
  return {.role = std::move(role),
          .block = {block, 0, 0},
          .thread = {thread, 0, 0},
          .file = std::move(file),
          .line = line,
          .ptx = "ld.shared.u32"};
}

vgpu::Finding race(std::uint64_t count) {
  vgpu::Finding finding;
  finding.kind = vgpu::FindingKind::data_race;
  finding.space = "shared";
  finding.kernel = "sum";
  finding.object = "s[1], 4 bytes";
  const std::string file = (std::filesystem::current_path() / "kernels" / "sum.cu").string();
  finding.accesses = {side("read", 0, 0, file, 5), side("write", 0, 32, file, 4)};
  finding.message = "no barrier orders (1) and (2)";
  finding.count = count;
  return finding;
}

std::string no_schedule(int) { return "--strategy random --seed 7"; }

ProgramReport report_of(std::vector<ExecRecord> records) {
  ProgramReport report;
  report.program = "./sum";
  report.add({.status = 0, .signal = 0, .records = std::move(records)});
  return report;
}

ProgramReport ignoring(std::vector<std::string> patterns) {
  ExpectedFindings expected;
  expected.add({{.files = std::move(patterns), .reason = "ignored"}});
  return ProgramReport(std::move(expected), "./sum");
}

// Calls in host code without line information have one class, and differ by their places in it.
TEST(ProgramReportTest, CallsAtOtherPlacesOfHostCodeAreOtherFindings) {
  const auto free_in = [](const std::string& code, std::uint64_t count) {
    vgpu::Finding finding;
    finding.kind = vgpu::FindingKind::invalid_free;
    finding.space = "global";
    finding.accesses = {{.role = "host free", .host_code = code}};
    finding.message = "cudaFree of memory that has been freed";
    finding.count = count;
    return finding;
  };
  const ProgramReport report = report_of({{1, FindingRecord{0, free_in("main+0xd3", 2)}},
                                          {1, FindingRecord{1, free_in("main+0xe8", 1)}},
                                          {2, FindingRecord{0, free_in("main+0xd3", 1)}}});
  ASSERT_EQ(report.findings.size(), 2U);
  EXPECT_EQ(report.findings[0].finding.count, 3U);
  EXPECT_EQ(report.findings[1].finding.count, 1U);
}

TEST(ProgramReportTest, TextOfAProgramWithARace) {
  const ProgramReport report = report_of({{1, StartRecord{"/sum"}},
                                          {1, FindingRecord{0, race(1)}},
                                          {1, FindingRecord{0, race(9)}},
                                          {1, EndRecord{2, {"_Z3sumPi"}}}});
  EXPECT_EQ(report.errors(), 1u);
  EXPECT_EQ(exec_text(report, no_schedule),
            "========= warpcheck exec: ./sum\n"
            "========= data-race on shared memory s[1], 4 bytes, in kernel sum\n"
            "=========   (1) read  by block (0,0,0) thread (0,0,0)   kernels/sum.cu:5   "
            "ld.shared.u32\n"
            "=========   (2) write by block (0,0,0) thread (32,0,0)  kernels/sum.cu:4   "
            "ld.shared.u32\n"
            "=========   no barrier orders (1) and (2)\n"
            "=========   9 times\n"
            "=========   hint: " +
                std::string(help_for(vgpu::FindingKind::data_race).advice) +
                "\n"
                "========= 1 error; 2 launches of 1 kernel\n");
}

TEST(ProgramReportTest, TextHasLongNamesOnRequest) {
  vgpu::Finding finding = race(1);
  finding.kernel = "scan<" + std::string(200, 'p') + ">";
  ProgramReport report = report_of(
      {{1, StartRecord{"/sum"}}, {1, FindingRecord{0, finding}}, {1, EndRecord{1, {"a"}}}});
  EXPECT_NE(exec_text(report, no_schedule).find("in kernel scan<...>\n"), std::string::npos);
  EXPECT_EQ(report.findings.at(0).finding.kernel, finding.kernel);
  report.full_names = true;
  EXPECT_NE(exec_text(report, no_schedule).find("in kernel " + finding.kernel + "\n"),
            std::string::npos);
}

// `a[i] += 1` reads and writes out of bounds at one line: one finding, and two expectations.
TEST(ProgramReportTest, WhatIsExpectedCoversAllRolesOfAClass) {
  vgpu::Finding written = race(1);
  written.accesses[0].role = "write";
  const ProgramReport report = report_of({{1, FindingRecord{0, race(1)}},
                                          {1, FindingRecord{1, written}},
                                          {1, FindingRecord{2, race(1)}},
                                          {1, FindingRecord{3, written}}});
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].finding.count, 4u);
  const std::vector<vgpu::Finding> expected = report.findings_to_expect();
  ASSERT_EQ(expected.size(), 2u);
  EXPECT_EQ(expected[0].accesses[0].role, "read");
  EXPECT_EQ(expected[1].accesses[0].role, "write");
}

TEST(ProgramReportTest, RunsAndProcessesCountTogether) {
  ProgramReport report =
      report_of({{1, StartRecord{"/sum"}}, {1, EndRecord{1, {"a"}}}, {2, StartRecord{"/sum"}}});
  EXPECT_TRUE(report.findings.empty());
  // Numbers are unique within a process.
  report.add({.status = 0,
              .signal = 0,
              .records = {{3, FindingRecord{0, race(2)}},
                          {4, FindingRecord{0, race(3)}},
                          {4, EndRecord{5, {"a", "b"}}}}});
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].finding.count, 5u);
  EXPECT_EQ(report.findings[0].run, 2);
  EXPECT_EQ(report.launches, 6u);
  EXPECT_EQ(report.kernels.size(), 2u);
  const std::string text = exec_text(report, no_schedule);
  EXPECT_NE(text.find("first seen in run 2: --strategy random --seed 7\n"), std::string::npos);
  EXPECT_NE(text.find("1 error; 6 launches of 2 kernels; 2 runs\n"), std::string::npos);
}

TEST(ProgramReportTest, NotesAreNoErrors) {
  vgpu::Finding note = race(1);
  note.severity = vgpu::Severity::note;
  const ProgramReport report = report_of(
      {{1, StartRecord{"/sum"}}, {1, FindingRecord{0, race(1)}}, {1, FindingRecord{1, note}}});
  EXPECT_EQ(report.findings.size(), 2u);
  EXPECT_EQ(report.errors(), 1u);
}

TEST(ProgramReportTest, ALoopOfTheHostThatHadToBeEndedIsAnError) {
  vgpu::Finding loop = race(1);
  loop.kind = vgpu::FindingKind::deadlock;
  loop.severity = vgpu::Severity::note;
  vgpu::Finding note = race(2);
  note.severity = vgpu::Severity::note;
  for (const bool timed_out : {false, true}) {
    ProgramReport report;
    report.program = "./sum";
    ProgramRun run;
    run.timed_out = timed_out;
    run.records = {
        {1, StartRecord{"/sum"}}, {1, FindingRecord{0, loop}}, {1, FindingRecord{1, note}}};
    report.add(run);
    EXPECT_EQ(report.findings.size(), 2u);
    EXPECT_EQ(report.errors(), timed_out ? 1u : 0u);
  }
}

TEST(ProgramReportTest, IgnoresFindingsInFilesThatMatch) {
  const auto report_with = [](std::vector<std::string> patterns, vgpu::Finding finding) {
    ProgramReport report = ignoring(std::move(patterns));
    report.add({.status = 0,
                .signal = 0,
                .records = {{1, StartRecord{"/sum"}},
                            {1, FindingRecord{0, finding}},
                            {2, FindingRecord{0, finding}},
                            {1, EndRecord{2, {"_Z3sumPi"}}}}});
    return report;
  };
  const ProgramReport report = report_with({"*/cub/*", "kernels/*"}, race(3));
  EXPECT_EQ(report.errors(), 0u);
  ASSERT_EQ(report.expected.size(), 1u);
  EXPECT_EQ(report.expected[0].finding.count, 6u);
  EXPECT_EQ(exec_text(report, no_schedule),
            "========= warpcheck exec: ./sum\n"
            "========= no findings, 1 ignored; 2 launches of 1 kernel\n");
  EXPECT_EQ(report_with({"*/kernels/*"}, race(3)).errors(), 0u);
  EXPECT_EQ(report_with({"*/cub/*", "kernels"}, race(3)).errors(), 1u);
  // A finding with one line elsewhere, or an unknown line, counts; sides of the host have none.
  vgpu::Finding finding = race(3);
  finding.accesses[1].file = "/other/sum.cu";
  EXPECT_EQ(report_with({"kernels/*"}, finding).errors(), 1u);
  finding.accesses[1].file.clear();
  EXPECT_EQ(report_with({"kernels/*"}, finding).errors(), 1u);
  finding.accesses[1].ptx.clear();
  EXPECT_EQ(report_with({"kernels/*"}, finding).errors(), 0u);
  finding.accesses.erase(finding.accesses.begin());
  EXPECT_EQ(report_with({"*"}, finding).errors(), 1u);
}

TEST(ProgramReportTest, IgnoredFindingsAreSuppressedResults) {
  ProgramReport report = ignoring({"kernels/*"});
  report.add({.status = 0, .signal = 0, .records = {{1, FindingRecord{0, race(3)}}}});
  const RunReport run = run_report(report, {});
  EXPECT_EQ(run.claims.at(0).status, Claim::Status::passed);
  const Json json = report_json(run);
  EXPECT_EQ(json.at("findings").size(), 0u);
  EXPECT_EQ(json.at("ignored").at(0).at("kind"), "data-race");
  const Json sarif = Json::parse(report_sarif(run, "1.2.3"));
  const Json& result = sarif.at("runs").at(0).at("results").at(0);
  EXPECT_EQ(result.at("suppressions").at(0).at("kind"), "external");
}

TEST(ProgramReportTest, ARefusalIsToldOnce) {
  const ProgramReport report = report_of({{1, StartRecord{"/sum"}},
                                          {1, RefusalRecord{"wgmma: no"}},
                                          {2, RefusalRecord{"wgmma: no"}},
                                          {2, RefusalRecord{"other: no"}}});
  EXPECT_EQ(report.refusals, (std::vector<std::string>{"wgmma: no", "other: no"}));
  EXPECT_EQ(exec_text(report, no_schedule),
            "========= warpcheck exec: ./sum\n"
            "========= refused: wgmma: no\n"
            "========= refused: other: no\n"
            "========= no findings, 2 refused; 0 launches of 0 kernels\n");
}

TEST(ProgramReportTest, WithoutLinesItSaysHowToGetThem) {
  vgpu::Finding finding = race(1);
  for (vgpu::AccessSide& one : finding.accesses) one.file.clear();
  const ProgramReport report =
      report_of({{1, StartRecord{"/sum"}}, {1, FindingRecord{0, finding}}});
  EXPECT_NE(exec_text(report, no_schedule).find("compile with nvcc -lineinfo\n"),
            std::string::npos);
}

// As in the file of a run: between good records, and half of one at the end.
TEST(ProgramReportTest, ARecordThatIsNotUnderstoodIsQuoted) {
  const TemporaryDirectory temporary;
  const auto path = temporary.path() / "records";
  std::ofstream(path) << to_text(ExecRecord{1, StartRecord{"/sum"}})
                      << "Segmentation fault\n{\"record\":\"new\",\"process\":1}\n"
                      << to_text(ExecRecord{1, EndRecord{2, {"_Z3sumPi"}}})
                      << "{\"record\":\"refusal\",";
  ProgramRun run{.records_file = path};
  read_records(run, false);
  EXPECT_EQ(run.records.size(), 2u);
  EXPECT_EQ(run.unreadable.size(), 2u);
  read_records(run, true);
  ProgramReport report;
  report.program = "./sum";
  report.add(run);
  EXPECT_EQ(exec_text(report, no_schedule),
            "========= warpcheck exec: ./sum\n"
            "========= refused: internal error: the program's process wrote 'Segmentation fault': "
            "no JSON from byte 1 on\n"
            "========= refused: internal error: the program's process wrote "
            "'{\"record\":\"new\",\"process\":1}': no such record\n"
            "========= refused: internal error: the program's process wrote "
            "'{\"record\":\"refusal\",': no JSON from byte 21 on\n"
            "========= no findings, 3 refused; 2 launches of 1 kernel\n");
}

// Accesses without lines are distinguished by their instructions.
TEST(ProgramReportTest, AccessesWithoutLinesAreToldApart) {
  vgpu::Finding first = race(1);
  for (vgpu::AccessSide& one : first.accesses) one.file.clear();
  first.accesses[0].instruction = 12;
  first.accesses[1].instruction = 15;
  vgpu::Finding second = first;
  second.accesses[1].instruction = 17;
  ProgramReport report = report_of({{1, FindingRecord{0, first}}, {1, FindingRecord{1, second}}});
  report.add({.records = {{2, FindingRecord{0, second}}}});
  ASSERT_EQ(report.findings.size(), 2u);
  EXPECT_EQ(report.findings[0].finding.count, 1u);
  EXPECT_EQ(report.findings[1].finding.count, 2u);
  const Json findings = report_json(run_report(report, {})).at("findings");
  EXPECT_NE(findings[0].at("hash"), findings[1].at("hash"));
}

// The launches in the log of a killed process are counted, although it did not record its end.
TEST(ProgramReportTest, LaunchesOfAKilledRun) {
  cudart::ExecLogContents log;
  log.counts.launches = 500;
  log.counts.running_kernel = 1;
  log.counts.blocks_ended = 2;
  log.counts.blocks = 64;
  ProgramReport report;
  report.program = "./sum";
  report.add({.status = 137,
              .signal = 9,
              .records = {{1, StartRecord{"/sum"}}, {1, cudart::KernelRecord{"_Z3sumPi", ""}}},
              .logs = {{1, log}}});
  EXPECT_EQ(exec_text(report, no_schedule),
            "========= warpcheck exec: ./sum\n"
            "========= ./sum was killed by signal 9 (Killed)\n"
            "========= it was running kernel sum, 2 of 64 blocks done\n"
            "========= no findings; 500 launches of 1 kernel\n");
  log.counts.running_kernel = 0;
  report.add({.status = 3, .records = {{1, EndRecord{500, {"_Z3sumPi"}}}}, .logs = {{1, log}}});
  EXPECT_EQ(report.launches, 1000u);
  EXPECT_EQ(report.own_status, 137);
  const RunReport files = run_report(report, {});
  EXPECT_EQ(files.claims.front().status, Claim::Status::cannot_run);
  EXPECT_EQ(files.claims.front().verdict, "killed by signal 9 in run 1");
}

TEST(ProgramReportTest, WhatNobodyLookedAtIsInAllFormats) {
  const std::string gap = "what the host reads: a thread blocks SIGSEGV";
  const ProgramReport report = report_of({{1, StartRecord{"/sum"}},
                                          {1, cudart::NotCheckedRecord{gap}},
                                          {2, cudart::NotCheckedRecord{gap}}});
  EXPECT_NE(exec_text(report, no_schedule).find("========= not checked: " + gap + "\n"),
            std::string::npos);
  const RunReport run = run_report(report, {});
  EXPECT_EQ(report_json(run).at("not_checked"), Json::array({gap}));
  EXPECT_NE(report_html(run).find("<h2>Not checked</h2><ul><li>" + gap + "</li></ul>"),
            std::string::npos);
  const Json sarif = Json::parse(report_sarif(run, "1.2.3"));
  const Json& invocation = sarif.at("runs").at(0).at("invocations").at(0);
  EXPECT_EQ(invocation.at("executionSuccessful"), true);
  const Json& notification = invocation.at("toolExecutionNotifications").at(0);
  EXPECT_EQ(notification.at("descriptor").at("id"), "not-checked");
  EXPECT_EQ(notification.at("message").at("text"), "not checked: " + gap);
}

// Times are in the text alone, and only if they are long.
TEST(ProgramReportTest, WhatKernelsHaveTaken) {
  const auto ran = [](std::uint64_t nanoseconds) {
    cudart::ExecLogContents log;
    log.counts.kernels[0] = {2, 1'500'000'000, nanoseconds};
    log.counts.kernels[1] = {1, 500, nanoseconds / 3};
    ProgramReport report;
    report.add({.records = {{1, cudart::KernelRecord{"_Z3sumPi", ""}},
                            {1, cudart::KernelRecord{"_Z4scanPi", ""}},
                            {2, cudart::KernelRecord{"_Z4scanPi", ""}}},
                .logs = {{1, log}}});
    return report;
  };
  EXPECT_EQ(
      time_text(ran(3'000'000'000)),
      "========= 1.5 G thread instructions in 4.0 s, 375.0 M a second: sum 75 %, scan 25 %\n");
  EXPECT_EQ(time_text(ran(300'000'000)), "");
  const Json json = report_json(run_report(ran(3'000'000'000), {}));
  EXPECT_EQ(json, report_json(run_report(ran(1), {})));
  const Json expected = {
      {{"name", "_Z3sumPi"}, {"launches", 2}, {"thread_instructions", 1'500'000'000}},
      {{"name", "_Z4scanPi"}, {"launches", 1}, {"thread_instructions", 500}}};
  EXPECT_EQ(json.at("kernels"), expected);
}

TEST(ProgramReportTest, WhoseTheStatusIs) {
  ProgramReport report;
  report.own_status = 2;
  using Owner = ExecStatus::Owner;
  EXPECT_EQ(status_text(report, {2, Owner::program}),
            "========= exit status 2: the program's own\n");
  EXPECT_EQ(status_text(report, {66, Owner::findings}),
            "========= exit status 66: errors were found; the program's own is 2\n");
  EXPECT_EQ(status_text(report, {2, Owner::refusals}),
            "========= exit status 2: something is not supported; the program's own is 2\n");
}

TEST(ProgramReportTest, AProgramWithoutTheRuntime) {
  EXPECT_EQ(exec_text(report_of({}), no_schedule),
            "========= warpcheck exec: ./sum\n"
            "========= the program never loaded the CUDA runtime library: nothing was checked\n");
}

// One missing barrier that shows at several lines.
TEST(ProgramReportTest, FindingsOfOneCauseAreFolded) {
  vgpu::Finding first = race(1);
  first.variable = "s";
  first.relation = vgpu::Relation::warps;
  first.also_between = {vgpu::Relation::lanes};
  first.lack = vgpu::Lack::block_barrier;
  vgpu::Finding second = first, other = first;
  second.object = "s[7], 4 bytes";
  second.accesses[0].line = 9;
  other.accesses[0].line = 20;
  other.accesses[1].line = 21;
  const ProgramReport report = report_of({{1, FindingRecord{0, first}},
                                          {1, FindingRecord{1, other}},
                                          {1, FindingRecord{2, second}},
                                          {1, StartRecord{"/sum"}},
                                          {1, EndRecord{1, {"_Z3sumPi"}}}});
  const std::string text = exec_text(report, no_schedule);
  EXPECT_NE(text.find("=========   no barrier orders (1) and (2)\n"
                      "=========   also between lanes of a warp\n"
                      "=========   1 more of this cause:\n"
                      "=========     s[7], 4 bytes: read kernels/sum.cu:9 and write "
                      "kernels/sum.cu:4\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("3 errors of 2 causes; 1 launch of 1 kernel\n"), std::string::npos) << text;

  const RunReport run = run_report(report, {});
  const Json findings = report_json(run).at("findings");
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_EQ(findings[0].at("group"), findings[0].at("hash"));
  EXPECT_EQ(findings[1].at("group"), findings[0].at("hash"));
  EXPECT_NE(findings[1].at("hash"), findings[0].at("hash"));
  EXPECT_EQ(findings[2].at("group"), findings[2].at("hash"));
  EXPECT_EQ(findings[0].at("relation"), "warps");
  EXPECT_EQ(findings[0].at("also_between"), Json::array({"lanes"}));
  EXPECT_EQ(findings[0].at("lack"), "block-barrier");
  const Json sarif = Json::parse(report_sarif(run, "1.2.3"));
  const Json& results = sarif.at("runs").at(0).at("results");
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[2].at("properties").at("group"), findings[0].at("hash"));
  EXPECT_EQ(results[2].at("relatedLocations").size(), 2u);
  EXPECT_EQ(results[0].at("relatedLocations").size(), 1u);
  const std::string html = report_html(run);
  EXPECT_NE(html.find("1 more of this cause"), std::string::npos);
  EXPECT_EQ(html.find("In the debugger"), std::string::npos);
  RunReport opened = run;
  opened.debug_commands = {"warpcheck debug -- ./a", "warpcheck debug -- ./b",
                           "warpcheck debug -- ./c"};
  const std::string with_commands = report_html(opened);
  for (const std::string& command : opened.debug_commands) {
    EXPECT_NE(with_commands.find(">" + command + "<"), std::string::npos);
  }
}

// A cause of which one race is between lanes and another one between warps.
TEST(ProgramReportTest, TheHintOfACauseHelpsAllOfItsFindings) {
  vgpu::Finding lanes = race(1), warps = race(1);
  lanes.variable = warps.variable = "s";
  lanes.relation = vgpu::Relation::lanes;
  lanes.lack = vgpu::Lack::warp_barrier;
  warps.relation = vgpu::Relation::warps;
  warps.lack = vgpu::Lack::block_barrier;
  warps.accesses[0].line = 9;
  ProgramReport report = report_of({{1, FindingRecord{0, lanes}},
                                    {1, FindingRecord{1, warps}},
                                    {1, StartRecord{"/sum"}},
                                    {1, EndRecord{1, {"_Z3sumPi"}}}});
  const std::string apart = exec_text(report, no_schedule);
  EXPECT_NE(apart.find("hint: Put __syncwarp()"), std::string::npos) << apart;
  report.causes.found = {{.text = "__syncthreads() before sum.cu:4", .findings = {0, 1}}};
  const std::string together = exec_text(report, no_schedule);
  EXPECT_NE(together.find("hint: Put __syncthreads()"), std::string::npos) << together;
  EXPECT_EQ(together.find("hint: Put __syncwarp()"), std::string::npos) << together;
}

TEST(FindingHelpTest, AdviceFitsWhatIsLacking) {
  using vgpu::Lack;
  using vgpu::Relation;
  struct Row {
    Lack lack;
    Relation relation;
    std::string_view says;
    std::string_view says_not;
  };
  const Row kRows[] = {
      {Lack::warp_barrier, Relation::none, "__syncwarp()", "__syncthreads()"},
      {Lack::block_barrier, Relation::none, "__syncthreads()", "__syncwarp()"},
      {Lack::cluster_barrier, Relation::none, "cluster.sync()", "__syncthreads()"},
      {Lack::order_of_blocks, Relation::none, "__threadfence()", "__syncthreads"},
      {Lack::order_of_launches, Relation::none, "cudaStreamWaitEvent", "__syncthreads"},
      {Lack::order_of_grids, Relation::launches, "cudaStreamTailLaunch", "cudaStreamWaitEvent"},
      {Lack::wait_of_host, Relation::none, "a wait of the host", "__syncthreads"},
      {Lack::arrival_of_blocks, Relation::none, "grid.sync()", "__syncthreads"},
      {Lack::peer_access, Relation::none, "cudaDeviceEnablePeerAccess()", "size"},
      {Lack::copy_to_host, Relation::none, "cudaMallocManaged()", "size"},
      {Lack::grid_wait, Relation::none, "cudaGridDependencySynchronize()", "__syncthreads"},
      {Lack::atomic_update, Relation::none, "atomicAdd", "__syncthreads"},
      {Lack::scope, Relation::none, "drop `_block`", "__syncthreads"},
      {Lack::scope, Relation::launches, "atomicAdd_system", "drop"},
      {Lack::acquire, Relation::none, "memory_order_acquire", "memory_order_release"},
      {Lack::release, Relation::none, "memory_order_release", "memory_order_acquire"},
      {Lack::host_release, Relation::none, "__threadfence_system()", "memory_order_acquire"},
      {Lack::atomicity, Relation::warps, "cuda::atomic_ref", "launches of their own"},
      {Lack::atomicity, Relation::warps, "barrier", "launches of their own"},
      {Lack::atomicity, Relation::blocks, "cuda::atomic_ref", "barrier"},
  };
  vgpu::Finding finding = race(1);
  EXPECT_EQ(advice_for(finding), help_for(vgpu::FindingKind::data_race).advice);
  finding.space = "global";
  for (const auto& [lack, relation, says, says_not] : kRows) {
    finding.lack = lack;
    finding.relation = relation;
    const std::string_view advice = advice_for(finding);
    EXPECT_NE(advice.find(says), std::string_view::npos) << advice;
    EXPECT_EQ(advice.find(says_not), std::string_view::npos) << advice;
  }
}

TEST(FindingHelpTest, HintsAtTheClusterBetweenBlocksThatShareMemory) {
  vgpu::Finding finding = race(1);
  finding.lack = vgpu::Lack::atomicity;
  finding.relation = vgpu::Relation::blocks;
  finding.space = "shared";
  EXPECT_NE(advice_for(finding).find("cluster.sync()"), std::string_view::npos);
}

TEST(FindingHelpTest, NoBarrierIsAdvisedBetweenTwoThreadsAtOneStore) {
  vgpu::Finding finding = race(1);
  finding.lack = vgpu::Lack::warp_barrier;
  finding.accesses[0].role = "write";
  finding.accesses[1] = finding.accesses[0];
  EXPECT_NE(advice_for(finding).find("let one of them write"), std::string_view::npos);
  finding.accesses[1].role = "read";
  EXPECT_NE(advice_for(finding).find("__syncwarp()"), std::string_view::npos);
}

TEST(FindingHelpTest, HintsOfHandlesAreNotThoseOfMemory) {
  vgpu::Finding finding;
  finding.kind = vgpu::FindingKind::use_after_free;
  finding.object = "stream";
  finding.accesses = {{.role = "host call"}};
  EXPECT_NE(advice_for(finding).find("handle"), std::string_view::npos);
  finding.space = "global";
  EXPECT_EQ(advice_for(finding), help_for(vgpu::FindingKind::use_after_free).advice);
}

// The copy may come late because nobody waits for it, or early because nobody waits for its target.
TEST(FindingHelpTest, HintsOfBulkCopiesNameTheirPhase) {
  vgpu::Finding finding = race(1);
  finding.lack = vgpu::Lack::block_barrier;
  finding.accesses[1].ptx = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";
  EXPECT_NE(advice_for(finding).find("parity"), std::string_view::npos);
  finding.accesses[0].role = "write";
  EXPECT_EQ(advice_for(finding).find("parity"), std::string_view::npos);
}

TEST(FindingHelpTest, HintsOfTraps) {
  vgpu::Finding finding;
  finding.kind = vgpu::FindingKind::trap;
  finding.accesses = {{.role = "trap"}};
  EXPECT_NE(advice_for(finding).find("assertion"), std::string_view::npos);
  finding.accesses[0].role = "call";
  EXPECT_NE(advice_for(finding).find("function pointers"), std::string_view::npos);
}

}  // namespace
}  // namespace warpcheck
