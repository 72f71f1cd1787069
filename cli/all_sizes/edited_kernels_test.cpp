// Proofs for every size of kernels with changed code.
#include <gtest/gtest.h>

#include "cli/all_sizes/all_sizes.hpp"
#include "harness/orders/find_orders.hpp"
#include "harness/orders/judge_orders.hpp"
#include "harness/pair/registry.hpp"

namespace warpcheck {
namespace {

TEST(AllSizesOfEditedKernels, BarrierMoreIsProvedAndBarrierLessIsRefuted) {
  const AnyPair& pair = *Registry::global().find("scan_hillis_steele");
  EXPECT_TRUE(prove_all_sizes(pair).is_proved());
  const std::vector<Order> orders = find_orders(pair, 1);
  ASSERT_EQ(orders.size(), 1U);

  ptx::Edits twice = orders[0].edits;
  for (ptx::ProgramEdit& edit : twice) {
    edit.kind = ptx::EditKind::insert_after;
    edit.text = "bar.sync 0;";
  }
  EXPECT_TRUE(prove_all_sizes(pair, twice).is_proved());

  const PairOfAllSizes without = prove_all_sizes(pair, orders[0].edits);
  EXPECT_FALSE(without.is_proved());
  ASSERT_TRUE(without.failure.has_value());
  JudgedOrder judged{.order = orders[0], .need = Need::redundant, .proof = "wrong"};
  show_need(judged, *without.failure, {});
  EXPECT_EQ(judged.need, Need::needed);
  EXPECT_EQ(judged.proof, "");
  EXPECT_EQ(failure_kinds(judged.tried.failure->verdict),
            std::vector{vgpu::FindingKind::data_race});
}

}  // namespace
}  // namespace warpcheck
