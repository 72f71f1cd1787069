#include "harness/adaptors/gtest_adaptor.hpp"

namespace warpcheck {

void fail_property(const std::vector<std::string>& failures) {
  std::string text;
  for (const std::string& failure : failures) text += (text.empty() ? "" : "\n\n") + failure;
  throw rc::detail::CaseResult(rc::detail::CaseResult::Type::Failure, text);
}

}  // namespace warpcheck
