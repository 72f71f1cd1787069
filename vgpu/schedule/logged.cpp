#include "vgpu/schedule/logged.hpp"

namespace warpcheck::vgpu {

StartOrder LoggedStrategy::choose_start(const StartPoint& point) {
  const StartOrder order = inner_.choose_start(point);
  if (order != StartOrder{}) {
    log_({.launch = point.launch,
          .at = {},
          .point = Decision::Point::start,
          .index = order.descending ? 1u : 0u,
          .held = 0,
          .next = order.first});
  }
  return order;
}

std::optional<Choice> LoggedStrategy::decide(const SchedulePoint& point) {
  const std::optional<Choice> choice = inner_.decide(point);
  if (choice) {
    log_({.launch = point.launch,
          .at = point.at,
          .point = point.point,
          .index = point.index,
          .held = choice->held,
          .next = choice->next});
  }
  return choice;
}

std::optional<PastChoice> LoggedStrategy::choose_past(const PastPoint& point) {
  const std::optional<PastChoice> choice = inner_.choose_past(point);
  if (choice) {
    log_({.launch = point.launch,
          .at = point.at,
          .point = Decision::Point::past,
          .index = point.index,
          .held = choice->lanes,
          .next = {choice->writes, 0}});
  }
  return choice;
}

}  // namespace warpcheck::vgpu
