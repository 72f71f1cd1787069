// What transposes do to memory, as their properties claim it: the claims of the fast one hold at
// every tile and edge, and those of the slow ones fail, shrink to the smallest matrix, and fail
// again from the text of the case.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "harness/case/case_file.hpp"
#include "harness/shrink/shrink.hpp"
#include "properties/run_case.hpp"

namespace warpcheck {
namespace {

Json matrix(int eight_rows, int eight_columns) {
  return {{"eight_rows", eight_rows}, {"eight_columns", eight_columns}, {"values", {3, 1, 2}}};
}

TEST(Transpose, KeepsItsClaimsAtEveryEdgeOfATile) {
  for (const Settings& settings : kAllSettings) {
    for (const int rows : {1, 3, 4, 5, 8}) {
      for (const int columns : {1, 4, 7}) {
        const Json input = matrix(rows, columns);
        EXPECT_EQ(kinds_for("transpose", input, settings), "");
        EXPECT_EQ(kinds_for("transpose.no_bank_conflicts", input, settings), "");
        EXPECT_EQ(kinds_for("transpose.rows_are_coalesced", input, settings), "");
        EXPECT_EQ(kinds_for("transpose_naive", input, settings), "");
        EXPECT_EQ(kinds_for("transpose_unpadded", input, settings), "");
      }
    }
  }
}

TEST(Transpose, ClaimsThatFailAreShrunkAndReplayed) {
  for (const std::string_view title :
       {"transpose_naive.rows_are_coalesced", "transpose_unpadded.no_bank_conflicts"}) {
    TrialRunner runner;
    const ShrunkCase shrunk = shrink(case_of(title, matrix(5, 7)), runner);
    EXPECT_TRUE(shrunk.complete);
    const Json smallest{{"eight_rows", 1}, {"eight_columns", 1}, {"values", Json::array()}};
    EXPECT_EQ(shrunk.a_case.pair->to_json(shrunk.a_case.input), smallest) << title;
    const std::string text = case_text(record_of(shrunk.a_case, shrunk.verdict));
    const CaseRecord again = parse_case(text, "shrunk.case", Registry::global());
    EXPECT_EQ(again.a_case.title(), title);
    EXPECT_EQ(kinds_of(run_case(again.a_case)), "mismatch");
  }
}

}  // namespace
}  // namespace warpcheck
