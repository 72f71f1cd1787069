#include "harness/pair/expectations.hpp"

#include <atomic>
#include <utility>

#if !defined(WARPCHECK_NO_GTEST)
#include <gtest/gtest-spi.h>
#endif

namespace warpcheck {
namespace {

// Failures of the body that this thread runs.
std::vector<std::string>*& current_failures() {
  thread_local std::vector<std::string>* failures = nullptr;
  return failures;
}

std::atomic<std::uint64_t> evaluated = 0;  // a body may use threads

// Captures the expectations of this header.
void run_with_own(const std::function<void()>& body, std::vector<std::string>& failures) {
  struct Restore {
    std::vector<std::string>* outer;
    ~Restore() { current_failures() = outer; }
  };
  const Restore restore{std::exchange(current_failures(), &failures)};
  body();
}

#if !defined(WARPCHECK_NO_GTEST)
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
#endif

}  // namespace

std::uint64_t expectations_evaluated() { return evaluated; }
int count_expectation() noexcept {
  evaluated.fetch_add(1, std::memory_order_relaxed);
  return 0;
}

bool capture_expectations(const std::function<void()>& body, std::vector<std::string>& failures) {
  const std::size_t before = failures.size();
#if defined(WARPCHECK_NO_GTEST)
  run_with_own(body, failures);
#else
  testing::TestPartResultArray results;
  {
    using Reporter = testing::ScopedFakeTestPartResultReporter;
    const Reporter reporter(Reporter::INTERCEPT_ALL_THREADS, &results);
    run_with_own(body, failures);
  }
  for (int i = 0; i < results.size(); ++i) {
    const testing::TestPartResult& result = results.GetTestPartResult(i);
    if (!result.passed()) failures.push_back(text_of(result));
  }
#endif
  return failures.size() == before;
}

FailedExpectation::FailedExpectation(const char* file, int line, const char* text)
    : text_(std::string(file) + ":" + std::to_string(line) + ": " + text) {}

FailedExpectation::~FailedExpectation() {
  const std::string streamed = streamed_.str();
  if (!streamed.empty()) text_ += "\n" + streamed;
  if (auto* failures = current_failures()) failures->push_back(std::move(text_));
}

}  // namespace warpcheck
