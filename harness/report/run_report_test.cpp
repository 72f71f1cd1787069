#include "harness/report/run_report.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harness/pair/project.hpp"
#include "harness/pair/registry.hpp"
#include "harness/report/finding_help.hpp"
#include "harness/testing/fake_engine.hpp"

namespace warpcheck {
namespace {

Report report_of(std::vector<vgpu::Finding> findings, std::string replay_path = "cases/a.case") {
  FakeInput in{.values = {0, 1, 0}, .launch = {.grid = 1, .block = 3}};
  Report report;
  report.a_case.pair = Registry::global().find("fake_scan_published");
  report.a_case.input = std::make_shared<const FakeInput>(in);
  report.verdict.findings = std::move(findings);
  report.replay_path = std::move(replay_path);
  return report;
}

vgpu::Finding race_at(std::string kernel, std::uint32_t line) {
  vgpu::Finding race;
  race.space = "shared";
  race.kernel = std::move(kernel);
  race.object = "share[1], 4 bytes";
  for (const char* role : {"write", "read"}) {
    race.accesses.push_back({.role = role,
                             .block = {0, 0, 0},
                             .thread = {line, 0, 0},
                             .file = "kernels/my scan.cu",
                             .line = line++,
                             .ptx = "op"});
  }
  race.message = "no barrier orders (1) and (2)";
  return race;
}

vgpu::Finding mismatch() {
  vgpu::Finding finding;
  finding.kind = vgpu::FindingKind::mismatch;
  finding.kernel = "fake_scan_published";
  finding.message = "out[2] = 2, reference 1";
  return finding;
}

// A claim that failed with one report.
RunReport run_of(Report report) {
  RunReport run;
  run.command = "check";
  Claim claim{.pair = "fake_scan_published"};
  claim.found = failure_kinds(report.verdict);
  claim.trials = 7;
  claim.status = Claim::Status::failed;
  claim.verdict = "FAIL: " + show_kinds(claim.found);
  run.claims.push_back(claim);
  run.add(std::move(report));
  return run;
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

TEST(Printable, KeepsTextAndReplacesWhatIsNone) {
  EXPECT_EQ(printable("a\tb\nc <&> \xc3\xa9 \xf0\x9f\x90\x9b"),
            "a\tb\nc <&> \xc3\xa9 \xf0\x9f\x90\x9b");
  EXPECT_EQ(printable(std::string_view("\0\x1b[1m\r\x7f", 7)),
            "\xef\xbf\xbd\xef\xbf\xbd[1m\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(printable("caf\xe9"), "caf\xef\xbf\xbd");
  EXPECT_EQ(printable("\xc0\x80|\xed\xa0\x80|\xf5"),  // overlong, surrogate, too large
            "\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd");
  EXPECT_EQ(printable("\xe2\x82"), "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(printable("\xef\xbf\xbf"), "\xef\xbf\xbd") << "no character in XML";
}

TEST(ReportLcov, IsATracefile) {
  const LineCoverage coverage{{{"a.cu", {{3, 7}, {4, 0}}}, {"b.cu", {{1, 1}}}}};
  EXPECT_EQ(report_lcov(coverage),
            "TN:\nSF:a.cu\nDA:3,7\nDA:4,0\nLF:2\nLH:1\nend_of_record\n"
            "TN:\nSF:b.cu\nDA:1,1\nLF:1\nLH:1\nend_of_record\n");
  EXPECT_EQ(report_lcov({}), "");
}

TEST(ReportJunit, HasASuiteForEachPairAndACaseForEachClaim) {
  RunReport run = run_of(report_of({mismatch()}));
  run.claims.push_back({.pair = "fake_clean", .property = "keeps_its_length"});
  run.claims.push_back({.pair = "fake_clean"});
  run.claims.back().status = Claim::Status::cannot_run;
  run.claims.back().verdict = "cannot run: k.cu:3: wmma <not> \"supported\"";
  EXPECT_EQ(report_junit(run),
            R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="warpcheck check" tests="3" failures="1" errors="1">
 <testsuite name="fake_clean" tests="2" failures="0" errors="1" skipped="0">
  <testcase classname="warpcheck.fake_clean" name="keeps_its_length" />
  <testcase classname="warpcheck.fake_clean" name="agrees_with_its_reference">
   <error message="cannot run: k.cu:3: wmma &lt;not> &quot;supported&quot;" type="cannot-run">cannot run: k.cu:3: wmma &lt;not&gt; "supported"</error>
  </testcase>
 </testsuite>
 <testsuite name="fake_scan_published" tests="1" failures="1" errors="0" skipped="0">
  <testcase classname="warpcheck.fake_scan_published" name="agrees_with_its_reference">
   <failure message="FAIL: mismatch" type="mismatch">FAIL fake_scan_published
  mismatch: out[2] = 2, reference 1
  input: n=3, values[1]=1, rest 0; launch {grid 1, block 3}; schedule: default (0 decisions)
debug: warpcheck debug cases/a.case
replay: warpcheck replay cases/a.case
</failure>
  </testcase>
 </testsuite>
</testsuites>
)");
}

// What is known beyond the trials of a claim, in JSON and on the page.
TEST(RunReport, SaysWhatIsProvedOfAClaim) {
  RunReport run;
  run.command = "hunt";
  Claim claim{.pair = "fake_clean"};
  claim.trials = 40;
  claim.verdict = "ok";
  claim.beyond = {
      .for_every_schedule = 12,
      .proved = SampleProof{
          Proof::every_schedule, {0, 31, 480}, "data decides an address: a.cu:3 (ld.global.u32)"}};
  run.claims.push_back(claim);
  EXPECT_EQ(
      report_json(run)["claims"].dump(),
      R"j([{"pair":"fake_clean","property":"","status":"passed","verdict":"ok","expects":[],)j"
      R"j("found":[],"trials":40,"failures":[],"trials_for_every_schedule":12,)j"
      R"j("proof":{"proof":"every-schedule","sizes":[0,31,480],)j"
      R"j("reason":"data decides an address: a.cu:3 (ld.global.u32)",)j"
      R"j("equality":"none","unequal":""}}])j");
  const std::string page = report_html(run);
  EXPECT_NE(
      page.find(">ok, 12 trials for every schedule, proved for this data and all schedules at "
                "3 of its sizes (n = 0, 31, 480): data decides an address: a.cu:3 "
                "(ld.global.u32)</td>"),
      std::string::npos)
      << page.substr(page.find("<table"), 800);
  run.claims[0].status = Claim::Status::failed;
  run.claims[0].verdict = "FAIL: mismatch";
  EXPECT_NE(report_html(run).find(">FAIL: mismatch</td>"), std::string::npos);
}

TEST(ReportSarif, HasBothSidesOfARace) {
  const Json sarif = Json::parse(report_sarif(run_of(report_of({race_at("scan", 14)})), "1.2.3"));
  const Json& run = sarif["runs"][0];
  EXPECT_EQ(run["tool"]["driver"]["version"], "1.2.3");
  const Json& result = run["results"][0];
  EXPECT_EQ(result["ruleId"], "data-race");
  EXPECT_EQ(result["partialFingerprints"]["warpcheckFindingHash/v1"],
            vgpu::hash_of(race_at("scan", 14)));
  EXPECT_EQ(result["locations"][0]["physicalLocation"],
            Json::parse(R"({"artifactLocation": {"uri": "kernels/my%20scan.cu",
                            "uriBaseId": "%SRCROOT%"}, "region": {"startLine": 14}})"));
  EXPECT_EQ(result["relatedLocations"][0]["physicalLocation"]["region"]["startLine"], 15);
  EXPECT_EQ(result["relatedLocations"][0]["message"]["text"],
            "(2) read by block (0,0,0) thread (15,0,0), op");
  EXPECT_EQ(result["message"]["text"],
            "data-race on shared memory share[1], 4 bytes: no barrier orders (1) and (2).\n"
            "(1) write by block (0,0,0) thread (14,0,0), op, kernels/my scan.cu:14\n"
            "(2) read by block (0,0,0) thread (15,0,0), op, kernels/my scan.cu:15\n"
            "replay: warpcheck replay cases/a.case\n");
}

TEST(ReportSarif, AMismatchStandsWhereItsReportHasALineElseInItsCase) {
  const auto place = [](std::vector<vgpu::Finding> findings, std::size_t result) {
    const Json sarif = Json::parse(report_sarif(run_of(report_of(std::move(findings))), "1.2.3"));
    return sarif["runs"][0]["results"][result]["locations"][0]["physicalLocation"];
  };
  EXPECT_EQ(place({race_at("scan", 14), mismatch()}, 1)["region"]["startLine"], 14);
  EXPECT_EQ(place({mismatch()}, 0)["artifactLocation"]["uri"], "cases/a.case");
}

// SARIF 2.1.0, 3.11.5 and 3.11.6: text that a viewer would read as a placeholder or a link.
TEST(ReportSarif, AMessageHoldsNoPlaceholderAndNoLink) {
  vgpu::Finding finding = race_at("map<int[]>::operator[](int)", 14);
  finding.message = "in[0](1) is {0}, {a";
  const Json sarif =
      Json::parse(report_sarif(run_of(report_of({finding}, "cases/{0}.case")), "1.2.3"));
  const Json& result = sarif["runs"][0]["results"][0];
  const std::string text = result["message"]["text"];
  EXPECT_TRUE(
      text.starts_with("data-race on shared memory share[1], 4 bytes: in[0] (1) is {{0}}, {{a.\n"))
      << text;
  EXPECT_TRUE(text.ends_with("replay: warpcheck replay 'cases/{{0}}.case'\n")) << text;
  // Text outside messages is not changed.
  EXPECT_EQ(result["properties"]["case"], "cases/{0}.case");
  EXPECT_EQ(result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"],
            "map<int[]>::operator[](int)");
}

TEST(ReportSarif, TellsAClassOnceAndCountsIt) {
  RunReport run = run_of(report_of({race_at("scan", 14)}));
  run.add(report_of({race_at("scan", 14), race_at("scan", 20)}));
  const Json results = Json::parse(report_sarif(run, "1.2.3"))["runs"][0]["results"];
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0]["occurrenceCount"], 2);
  EXPECT_EQ(results[1]["occurrenceCount"], 1);
}

TEST(ReportSarif, RulesAreTheKindsInTheirOrder) {
  const Json rules =
      Json::parse(report_sarif(RunReport{}, "1.2.3"))["runs"][0]["tool"]["driver"]["rules"];
  ASSERT_EQ(rules.size(), kFindingKinds);
  for (std::size_t i = 0; i < kFindingKinds; ++i) {
    EXPECT_EQ(rules[i]["id"], vgpu::name_of(static_cast<vgpu::FindingKind>(i)));
  }
  EXPECT_EQ(rules[3]["name"], "UninitializedRead");
}

TEST(ReportHtml, EscapesEverything) {
  vgpu::Finding finding = race_at("<script>alert(1)</script>", 14);
  finding.object = "\"><img src=x onerror=alert(1)>";
  finding.message = "a & b \x01";
  RunReport run = run_of(report_of({finding}, "cases/<b>.case"));
  run.claims[0].verdict = "<i>FAIL</i>";
  run.coverage.emplace();
  run.coverage->files["<u>.cu"][1] = 1;
  const std::string page = report_html(run);
  for (const char* raw : {"<script", "<img", "<b>", "<i>", "<u>", "\x01"}) {
    EXPECT_EQ(page.find(raw), std::string::npos) << raw;
  }
  EXPECT_NE(page.find("&lt;script&gt;alert(1)&lt;/script&gt;"), std::string::npos);
  EXPECT_NE(page.find("a &amp; b \xef\xbf\xbd"), std::string::npos);
}

// On paper nothing scrolls.
TEST(ReportHtml, BreaksLongLinesWhenItIsPrinted) {
  const std::string page = report_html(run_of(report_of({race_at("scan", 14)})));
  const std::size_t print = page.find("@media print {");
  ASSERT_NE(print, std::string::npos);
  EXPECT_LT(page.find("pre, .line { white-space: pre-wrap;", print), page.find("</style>"));
  EXPECT_LT(page.find(".wide { overflow: visible; }", print), page.find("</style>"));
}

TEST(ReportHtml, SaysWhereASourceFileIsNotThere) {
  const std::string page = report_html(run_of(report_of({race_at("scan", 14)})));
  EXPECT_NE(page.find("kernels/my scan.cu: the file is not here"), std::string::npos);
  EXPECT_NE(page.find("warpcheck replay cases/a.case\nwarpcheck export cases/a.case -o finding.cu\n"
                      "warpcheck debug cases/a.case"),
            std::string::npos);
}

TEST(Reports, TheReplayCommandIsOfTheProgramThatFoundIt) {
  Project ours(project());
  set_project({.program = "saxpy_pairs", .source_root = ours.source_root});
  RunReport run = run_of(report_of({race_at("scan", 14)}));
  run.add(report_of({race_at("scan", 14)}, "cases/b.case"));
  const std::string html = report_html(run), sarif = report_sarif(run, "1.2.3");
  set_project(std::move(ours));
  EXPECT_NE(html.find("saxpy_pairs replay cases/a.case\n"
                      "saxpy_pairs export cases/a.case -o finding.cu"),
            std::string::npos);
  EXPECT_NE(html.find("saxpy_pairs replay cases/b.case"), std::string::npos);
  EXPECT_EQ(html.find("warpcheck replay"), std::string::npos);
  EXPECT_NE(sarif.find("replay: saxpy_pairs replay cases/a.case"), std::string::npos);
  EXPECT_EQ(sarif.find("warpcheck replay"), std::string::npos);
}

TEST(ReportHtml, FoldsManyFindingsByClass) {
  constexpr std::uint32_t kClasses = 125;
  RunReport run = run_of(report_of({race_at("scan", 0)}));
  for (std::uint32_t i = 1; i < 4 * kClasses; ++i) {
    run.add(report_of({race_at("scan", i % kClasses)}, fmt::format("cases/{}.case", i)));
  }
  const std::string page = report_html(run);
  EXPECT_NE(page.find("500 findings in 125 classes"), std::string::npos);
  EXPECT_EQ(count_of(page, "<summary>3 more of this class</summary>"), kClasses);
  EXPECT_EQ(count_of(page, "<details"), 2 * kClasses + 2) << "and the verdicts, and the kind";
  EXPECT_EQ(count_of(page, "open="), 1U) << "of one verdict";
  for (std::uint32_t i = 1; i < 4 * kClasses; ++i) {
    EXPECT_NE(page.find(fmt::format("warpcheck replay cases/{}.case", i)), std::string::npos);
  }
}

TEST(ReportHtml, AFewClassesAreOpen) {
  const auto open = [](std::uint32_t classes) {
    RunReport run = run_of(report_of({race_at("scan", 0)}));
    for (std::uint32_t i = 1; i < classes; ++i) run.add(report_of({race_at("scan", 10 * i)}));
    return count_of(report_html(run), "open=\"\"");
  };
  EXPECT_EQ(open(3), 5U) << "and the verdicts, and the kind";
  EXPECT_EQ(open(4), 2U);
}

TEST(ReportHtml, OneFindingIsOpen) {
  const std::string page = report_html(run_of(report_of({race_at("scan", 14)})));
  EXPECT_EQ(count_of(page, "<details"), 3U);
  EXPECT_EQ(count_of(page, "open=\"\""), 3U);
}

TEST(ReportHtml, DrawsThePicture) {
  RunReport run = run_of(report_of({race_at("scan", 14)}));
  using Sign = Interleaving::Mark;
  run.pictures = {{Interleaving{
      .of = "block 0 warp 0",
      .rows = {"lane 0", "lane 1"},
      .steps =
          {{.label = "14", .text = "first", .marks = {Sign::write, Sign::none}},
           {.label = "...", .text = "", .marks = {}, .gap = true},
           {.label = "1", .text = "hold", .marks = {Sign::none, Sign::decided}, .decision = true},
           {.label = "15", .text = "second", .marks = {Sign::none, Sign::read}}},
      .sides = {Interleaving::Point{0, 0}, Interleaving::Point{1, 3}}}}};
  const std::string page = report_html(run);
  EXPECT_EQ(count_of(page, "<svg"), 1U);
  EXPECT_EQ(count_of(page, "<circle"), 2U);
  EXPECT_EQ(count_of(page, "class=\"missing\""), 3U);
  EXPECT_EQ(count_of(page, "class=\"decided\""), 1U);
  EXPECT_NE(page.find("<title>second</title>"), std::string::npos);
  EXPECT_NE(page.find(">\xe2\x97\x86"
                      "1 hold<"),
            std::string::npos);
}

TEST(ReportHtml, ShowsWhichLinesRan) {
  RunReport run;
  run.command = "hunt";
  run.coverage = LineCoverage{{{"kernels/specimens/scan_hillis_steele.cu", {{14, 5}, {16, 0}}}}};
  const std::string page = report_html(run);
  EXPECT_NE(page.find("1 of 2 lines"), std::string::npos);
  EXPECT_EQ(count_of(page, "class=\"line ran\""), 1U);
  EXPECT_EQ(count_of(page, "class=\"line missed\""), 1U);
  EXPECT_NE(page.find("extern __shared__ int share[];"), std::string::npos);
}

TEST(FindingHelp, EveryKindSaysWhatToDo) {
  for (std::size_t i = 0; i < kFindingKinds; ++i) {
    const FindingHelp& help = help_for(static_cast<vgpu::FindingKind>(i));
    for (const std::string_view text : {help.meaning, help.advice}) {
      EXPECT_TRUE(text.ends_with('.')) << help.title;
    }
  }
  vgpu::FindingKind none{};
  EXPECT_EQ(vgpu::name_of(static_cast<vgpu::FindingKind>(kFindingKinds)), "unknown")
      << "a kind without help";
  EXPECT_FALSE(vgpu::find_kind("unknown", none));
}

}  // namespace
}  // namespace warpcheck
