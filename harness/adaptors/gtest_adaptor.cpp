#include "harness/adaptors/gtest_adaptor.hpp"

#include <gtest/gtest-spi.h>

namespace warpcheck {

namespace {

std::string text_of(const testing::TestPartResult& result) {
  if (result.skipped()) {
    return "GTEST_SKIP inside a property: leave such inputs out of its generator's domain";
  }
  const std::string place =
      result.file_name() == nullptr
          ? std::string()
          : std::string(result.file_name()) + ":" + std::to_string(result.line_number()) + ": ";
  std::string text = place + result.message();
  // GoogleTest 1.14 ends messages of EXPECT_EQ with a line break, 1.12 does not.
  text.erase(text.find_last_not_of('\n') + 1);
  return text;
}

}  // namespace

bool run_capturing(const std::function<void()>& body, std::vector<std::string>& failures) {
  testing::TestPartResultArray results;
  {
    using Reporter = testing::ScopedFakeTestPartResultReporter;
    const Reporter reporter(Reporter::INTERCEPT_ALL_THREADS, &results);
    body();
  }
  const std::size_t before = failures.size();
  for (int i = 0; i < results.size(); ++i) {
    const testing::TestPartResult& result = results.GetTestPartResult(i);
    if (!result.passed()) failures.push_back(text_of(result));
  }
  return failures.size() == before;
}

void fail_property(const std::vector<std::string>& failures) {
  std::string text;
  for (const std::string& failure : failures) text += (text.empty() ? "" : "\n\n") + failure;
  throw rc::detail::CaseResult(rc::detail::CaseResult::Type::Failure, text);
}

}  // namespace warpcheck
