// JSON and HTML of proofs.
#include "harness/prove/prove_report.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness/pair/registry.hpp"

namespace warpcheck {
namespace {

PairProof proof_of_three_points() {
  const ProvedPoint first{.point = {0, 32, 1}, .proof = Proof::all_data, .same_bytes = true};
  ProvedPoint second = first, third{.point = {1, 64, 2}, .proof = Proof::every_execution};
  second.point.size = 1;
  third.reason = "data decides a branch: a<b>.cu:1 (bra)";
  third.varies = "a.cu:2 atom.global.add.f32";
  third.executions = 1'234;
  return {.pair = Registry::global().find("fake_two_bugs"), .points = {first, second, third}};
}

TEST(ProveReport, JsonHasEveryPoint) {
  EXPECT_EQ(prove_json({proof_of_three_points()}).dump(),
            R"j({"command":"prove","pairs":[{"pair":"fake_two_bugs","proof":"every-execution",)j"
            R"j("counts":{"all-data":2,"every-schedule":0,"every-execution":1,"tried":0,)j"
            R"j("failed":0},"errors":[],"interrupted":false,"points":[)j"
            R"j({"size":0,"block":32,"grid":1,"proof":"all-data","same_bytes":true},)j"
            R"j({"size":1,"block":32,"grid":1,"proof":"all-data","same_bytes":true},)j"
            R"j({"size":1,"block":64,"grid":2,"proof":"every-execution","same_bytes":false,)j"
            R"j("reason":"data decides a branch: a<b>.cu:1 (bra)",)j"
            R"j("varies":"a.cu:2 atom.global.add.f32","executions":1234}]}]})j");
}

TEST(ProveReport, WhatIsInterruptedIsNotProved) {
  PairProof proof = proof_of_three_points();
  proof.points.resize(2);
  const std::string two =
      "fake_two_bugs   2 points: size 0 to 1, block 32\n"
      "       2  proved for all data and schedules\n";
  EXPECT_EQ(prove_text(proof), "PROVED " + two);
  proof.interrupted = true;
  EXPECT_EQ(prove_text(proof), "TRIED " + two + "  interrupted: there are more points\n");
}

// Sizes with the same result are one rectangle in their block's row.
TEST(ProveReport, PageMapsSizeAgainstBlock) {
  const std::string page = prove_html({proof_of_three_points()});
  for (const std::string_view part :
       {"<h2 id=\"fake_two_bugs\">fake_two_bugs</h2>\n"
        "<p>3 points: size 0 to 1, block 32 to 64</p>\n",
        "<rect x=\"64.00\" y=\"8.00\" width=\"960.00\" height=\"13.00\" class=\"all-data\">"
        "<title>sizes 0 to 1, block 32: proved for all data and schedules</title></rect>\n"
        "<rect x=\"544.00\" y=\"22.00\" width=\"480.00\" height=\"13.00\" "
        "class=\"every-execution\"><title>size 1, block 64: "
        "proved for this data: every execution was tried</title></rect>\n"
        "<text x=\"58.0\" y=\"19.0\" class=\"axis\" text-anchor=\"end\">32</text>\n"
        "<text x=\"58.0\" y=\"33.0\" class=\"axis\" text-anchor=\"end\">64</text>\n",
        "<li>1 point: <code>data decides a branch: a&lt;b&gt;.cu:1 (bra)</code></li>\n",
        "<p>The order of threads shows in results: <code>a.cu:2 atom.global.add.f32</code></p>\n",
        "<td><a href=\"#fake_two_bugs\">fake_two_bugs</a></td><td>3</td><td>2</td>"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
}

// Among any number of points a single one is visible, and weaker results are not hidden.
TEST(ProveReport, PageShowsSinglePointsOfMany) {
  PairProof proof = proof_of_three_points();
  proof.points.clear();
  for (std::uint32_t block = 1; block <= 1'000; ++block)
    proof.points.push_back({.point = {1, block, 1}, .proof = Proof::all_data});
  proof.points[500].proof = Proof::tried;
  proof.points.push_back({.point = {4'000, 1'000, 4}, .proof = Proof::all_data});
  const std::string page = prove_html({proof});
  const std::size_t last =
      page.find("width=\"1.80\" height=\"1.80\" class=\"all-data\"><title>size 4000, block 1000: ");
  EXPECT_NE(last, std::string::npos);
  EXPECT_NE(
      page.find("width=\"1.80\" height=\"1.80\" class=\"tried\"><title>size 1, block 501: ", last),
      std::string::npos);
}

}  // namespace
}  // namespace warpcheck
