// The orders of a pair's kernels for users and programs: a table, JSON, and a page with the source.
#pragma once

#include <string>
#include <vector>

#include "harness/input/json_values.hpp"
#include "harness/orders/judge_orders.hpp"

namespace warpcheck {

struct OrdersOfPair {
  const AnyPair* pair = nullptr;
  std::vector<JudgedOrder> orders;
};

[[nodiscard]] std::string orders_text(const OrdersOfPair& judged);
[[nodiscard]] Json orders_json(const std::vector<OrdersOfPair>& pairs);

// What a page shows beside the source.
struct ShownOrder {
  const Order* order = nullptr;
  Need need = Need::unknown;
  std::string reason;
};
struct OrdersSection {
  std::string title;  // of a pair, or a program
  std::vector<ShownOrder> orders;
};
// judged: outlives the section
[[nodiscard]] OrdersSection section_of(const OrdersOfPair& judged);
[[nodiscard]] std::string orders_html(const std::vector<OrdersSection>& sections);

// What is changed: "bar.sync removed".
[[nodiscard]] std::string change_text(const Order& order);
// The members of a report that say which order it is, and how often it was executed.
[[nodiscard]] Json order_json(const Order& order);
// "3.1 %"; "-" where nothing ran
[[nodiscard]] std::string share_text(const Order& order);
// "33 elements, 64 threads"
[[nodiscard]] std::string size_text(const Case& a_case);

}  // namespace warpcheck
