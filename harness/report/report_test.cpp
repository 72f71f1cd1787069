#include "harness/report/report.hpp"

#include <gtest/gtest.h>

#include "harness/input/input_summary.hpp"
#include "harness/pair/registry.hpp"
#include "harness/report/run_report.hpp"
#include "harness/testing/fake_engine.hpp"

namespace warpcheck {
namespace {

vgpu::AccessSide side(std::string role, unsigned thread, std::string ptx) {
  return {.role = std::move(role),
          .block = {0, 0, 0},
          .thread = {thread, 0, 0},
          .file = "kernels/specimens/scan_hillis_steele.cu",
          .line = 14,
          .ptx = std::move(ptx)};
}

// The report in docs and README.
Report published_report() {
  FakeInput in{.values = std::vector<int>(33), .launch = {.grid = 1, .block = 33}};
  in.values[30] = 1;
  Report report;
  report.a_case.pair = Registry::global().find("fake_scan_published");
  report.a_case.input = std::make_shared<const FakeInput>(in);
  vgpu::Finding race;
  race.space = "shared";
  race.kernel = "scan";
  race.object = "share[31], 4 bytes";
  race.accesses = {side("write", 31, "st.shared.u32"), side("read", 32, "ld.shared.u32")};
  race.message = "no barrier orders (1) and (2)";
  vgpu::Finding mismatch;
  mismatch.kind = vgpu::FindingKind::mismatch;
  mismatch.kernel = "fake_scan_published";
  mismatch.message = "out[32] = 2, reference 1";
  report.verdict.findings = {race, mismatch};
  report.search = Report::Search{.trials = 3, .shrinks = 22, .complete = true};
  report.replay_path = "fuzz/cases/fake_scan_published/3f9a.case";
  return report;
}

TEST(ReportText, ReadsAsDocumented) {
  EXPECT_EQ(report_text(published_report()),
            R"(FAIL fake_scan_published   after 3 trials, 22 shrinks
  data-race on shared memory share[31], 4 bytes
    (1) write by block (0,0,0) thread (31,0,0)  kernels/specimens/scan_hillis_steele.cu:14   st.shared.u32
    (2) read  by block (0,0,0) thread (32,0,0)  kernels/specimens/scan_hillis_steele.cu:14   ld.shared.u32
    no barrier orders (1) and (2)
  mismatch: out[32] = 2, reference 1
  input: n=33, values[30]=1, rest 0; launch {grid 1, block 33}; schedule: default (0 decisions)
debug: warpcheck debug fuzz/cases/fake_scan_published/3f9a.case
replay: warpcheck replay fuzz/cases/fake_scan_published/3f9a.case
)");
}

// A store in a function, which was reached by two calls.
Report report_of_a_called_function() {
  Report report = published_report();
  vgpu::AccessSide& write = report.verdict.findings[0].accesses[0];
  write.callers = {{"tile.hpp", 7}, {"gemm.cu", 29}};
  write.other_callers = {{"gemm.cu", 31}};
  return report;
}

TEST(ReportText, SaysWhoCalls) {
  const std::string text = report_text(report_of_a_called_function());
  const std::string whole =
      "kernels/specimens/scan_hillis_steele.cu:14   st.shared.u32\n"
      "        called at tile.hpp:7, gemm.cu:29; also at gemm.cu:31\n"
      "    (2) read ";
  EXPECT_NE(text.find(whole), std::string::npos) << text;
}

TEST(ReportText, PrintsWhatDiffersFromTheDefaults) {
  Report report = published_report();
  report.search = Report::Search{.trials = 1, .shrinks = 1, .complete = false};
  report.verdict.findings[0].severity = vgpu::Severity::note;
  report.verdict.findings[0].accesses[0].thread = {5, 0, 0};
  report.verdict.findings[0].accesses[1] = {};
  report.verdict.findings[0].accesses[1].role = "host copy";
  report.a_case.settings.warp_model = vgpu::WarpModel::lockstep;
  report.a_case.settings.build = cudart::Build::unoptimized;
  report.a_case.settings.checkers.init = false;
  report.verdict.schedule.decisions.push_back({.launch = 0,
                                               .at = {0, 0},
                                               .point = vgpu::Decision::Point::access,
                                               .index = 2,
                                               .held = 4,
                                               .next = {0, 0}});
  report.replay_path.clear();
  EXPECT_EQ(report_text(report),
            "FAIL fake_scan_published   after 1 trial, 1 shrink (not finished: the budget was used "
            "up)\n"
            "  note: data-race on shared memory share[31], 4 bytes\n"
            "    (1) write     by block (0,0,0) thread (5,0,0)  "
            "kernels/specimens/scan_hillis_steele.cu:14   st.shared.u32\n"
            "    (2) host copy by the host\n"
            "    no barrier orders (1) and (2)\n"
            "  mismatch: out[32] = 2, reference 1\n"
            "  input: n=33, values[30]=1, rest 0; launch {grid 1, block 33}; warp model lockstep; "
            "build unoptimized; checker init off; schedule: 1 decision, " +
                vgpu::to_string(report.verdict.schedule.decisions[0]) + "\n");
}

TEST(ReportText, SaysWhatLimitsTheGrouping) {
  Causes causes{.tried = 12, .known = 40};
  EXPECT_EQ(limit_of(causes), "");
  causes.why_ended = "it takes too long";
  EXPECT_EQ(limit_of(causes),
            "experiments ended after 12 of 40 changes: it takes too long; other findings are "
            "grouped by rules");
  causes = {.tried = 12, .known = 40, .budget_used_up = true};
  EXPECT_EQ(limit_of(causes),
            "the budget of steps for experiments was used up after 12 of 40 changes; other "
            "findings are grouped by rules");
  causes.tried = 40;
  EXPECT_EQ(limit_of(causes),
            "the budget of steps for experiments was used up before what had helped was confirmed "
            "under other schedules; other findings are grouped by rules");
}

TEST(ReportText, SaysWhatCannotRun) {
  Report report = published_report();
  report.search.reset();
  report.verdict.findings.clear();
  report.verdict.refusals = {"kernel k: a.cu:3: wmma.load is not supported"};
  report.replay_path.clear();
  EXPECT_EQ(report_text(report),
            "CANNOT RUN fake_scan_published\n"
            "  kernel k: a.cu:3: wmma.load is not supported\n"
            "  input: n=33, values[30]=1, rest 0; launch {grid 1, block 33}; schedule: default (0 "
            "decisions)\n");
}

TEST(ReportJson, HasTheContractsFields) {
  RunReport run;
  run.reports = {published_report()};
  const Json json = report_json(run);
  EXPECT_EQ(json["version"], 1);
  ASSERT_EQ(json["findings"].size(), 2u);
  const Json& race = json["findings"][0];
  EXPECT_EQ(race["kind"], "data-race");
  EXPECT_EQ(race["space"], "shared");
  EXPECT_EQ(race["severity"], "error");
  EXPECT_EQ(race["kernel"], "scan");
  EXPECT_EQ(race["message"], "no barrier orders (1) and (2)");
  EXPECT_EQ(race["hash"].get<std::string>().size(), 16u);
  EXPECT_EQ(race["accesses"][1],
            Json::parse(R"({"role":"read","block":[0,0,0],"thread":[32,0,0],)"
                        R"("file":"kernels/specimens/scan_hillis_steele.cu","line":14,)"
                        R"("ptx":"ld.shared.u32"})"));
  EXPECT_EQ(json["failures"][0]["kinds"], Json::parse(R"(["data-race","mismatch"])"));
  EXPECT_EQ(json["failures"][0]["case"], "fuzz/cases/fake_scan_published/3f9a.case");
}

TEST(ReportJson, HasTheCallsOfAFunction) {
  RunReport run;
  run.reports = {report_of_a_called_function()};
  const Json accesses = report_json(run)["findings"][0]["accesses"];
  EXPECT_EQ(accesses[0]["callers"],
            Json::parse(R"([{"file":"tile.hpp","line":7},{"file":"gemm.cu","line":29}])"));
  EXPECT_EQ(accesses[0]["other_callers"], Json::parse(R"([{"file":"gemm.cu","line":31}])"));
  EXPECT_FALSE(accesses[1].contains("callers"));
  const Json result = Json::parse(report_sarif(run, "1.2.3"))["runs"][0]["results"][0];
  ASSERT_EQ(result["stacks"].size(), 1u);
  const Json& frames = result["stacks"][0]["frames"];
  ASSERT_EQ(frames.size(), 3u);
  const auto line = [&](std::size_t frame) {
    return frames[frame]["location"]["physicalLocation"]["region"]["startLine"];
  };
  EXPECT_EQ(line(0), 14);
  EXPECT_EQ(line(1), 7);
  EXPECT_EQ(line(2), 29);
}

TEST(ReportJson, ListsACauseBeforeItsConsequences) {
  RunReport run;
  run.reports = {published_report()};
  run.reports[0].causes.found = {{"a barrier", {1, 0}}};
  const Json findings = report_json(run)["findings"];
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0]["kind"], "mismatch");
  EXPECT_FALSE(findings[0].contains("consequence_of"));
  EXPECT_EQ(findings[1]["kind"], "data-race");
  EXPECT_EQ(findings[1]["consequence_of"], findings[0]["hash"]);
}

TEST(ReportJson, OfNothingIsEmptyLists) {
  RunReport run;
  run.command = "fuzz";
  EXPECT_EQ(report_json(run).dump(),
            R"({"schema":"warpcheck-report/1","version":1,"command":"fuzz","findings":[],)"
            R"("failures":[],"claims":[]})");
}

std::string summary(const std::string& json) { return input_summary(Json::parse(json)); }

TEST(InputSummary, ShowsWhatIsNotTheRest) {
  EXPECT_EQ(summary(R"({"in": []})"), "n=0");
  EXPECT_EQ(summary(R"({"in": [0, 0, 0]})"), "n=3, all in=0");
  EXPECT_EQ(summary(R"({"in": [1, 0, 0]})"), "n=3, in[0]=1, rest 0");
  EXPECT_EQ(summary(R"({"in": [3, 1, 2]})"), "n=3, in={3,1,2}");
  EXPECT_EQ(summary(R"({"in": [0,1,2,3,4,5,6,7,8,9]})"), "n=10, in={0,1,2,3,4,5,6,7,... 2 more}");
  EXPECT_EQ(summary(R"({"in": ["-0", 1.5, 1.5]})"), "n=3, in[0]=-0, rest 1.5");
  EXPECT_EQ(summary(R"({"a": [1], "b": [], "k": 7})"), "a: n=1, all a=1; b: n=0; k=7");
  EXPECT_EQ(summary(R"({"launch": {"grid": [2,1,1], "block": [8,4,1], "shared_bytes": 64}})"),
            "launch {grid 2, block (8,4,1), shared 64 bytes}");
}

TEST(InputSummary, NamesTheFieldsOfStructsByTheirPath) {
  EXPECT_EQ(summary(R"({"image": {"width": 2, "pixels": [0, 7]}, "mask": [1]})"),
            "image.width=2; image.pixels: n=2, image.pixels[1]=7, rest 0; mask: n=1, all mask=1");
  EXPECT_EQ(summary(R"({"run": {"launch": {"grid": [1,1,1], "block": [3,1,1],)"
                    R"( "shared_bytes": 0}}})"),
            "run.launch {grid 1, block 3}");
}

TEST(InputSummary, ShowsStructsInListsAndListsInLists) {
  EXPECT_EQ(summary(R"({"edges": [{"a": 1, "b": 2}, {"a": 0, "b": 1}, {"a": 0, "b": 1}]})"),
            "n=3, edges[0]={a=1,b=2}, rest {a=0,b=1}");
  EXPECT_EQ(summary(R"({"rows": [[0, 0, 5], [], [1]]})"),
            "n=3; rows[0]: n=3, rows[0][2]=5, rest 0; rows[1]: n=0; rows[2]: n=1, all rows[2]=1");
  EXPECT_EQ(summary(R"({"rows": [[], [], [], [], [1], []]})"),
            "n=6; rows[0]: n=0; rows[1]: n=0; rows[2]: n=0; rows[3]: n=0; ... 2 more");
}

TEST(InputSummary, QuotesTextThatIsNoName) {
  EXPECT_EQ(summary(R"({"order": "sorted", "x": "nan:0x7fc00000", "y": "-inf"})"),
            "order=sorted; x=nan:0x7fc00000; y=-inf");
  EXPECT_EQ(summary(R"({"a": "", "b": "0", "c": "x y", "d": "1\n2"})"),
            R"(a=""; b="0"; c="x y"; d="1\n2")");
  EXPECT_EQ(summary("{\"a\": \"" + std::string(38, 'x') + "\u00e9 \"}"),
            "a=\"" + std::string(38, 'x') + "...");
}

}  // namespace
}  // namespace warpcheck
