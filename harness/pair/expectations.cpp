#include "harness/pair/expectations.hpp"

#include <atomic>
#include <utility>

namespace warpcheck {
namespace {

// Failures of the body that this thread runs.
std::vector<std::string>*& current_failures() {
  thread_local std::vector<std::string>* failures = nullptr;
  return failures;
}

ExpectationCapture& installed() {
  static ExpectationCapture capture = capture_expectations;
  return capture;
}

std::atomic<std::uint64_t> evaluated = 0;  // a body may use threads

}  // namespace

std::uint64_t expectations_evaluated() { return evaluated; }
int count_expectation() noexcept {
  evaluated.fetch_add(1, std::memory_order_relaxed);
  return 0;
}

void set_expectation_capture(ExpectationCapture capture) { installed() = std::move(capture); }
const ExpectationCapture& expectation_capture() { return installed(); }

bool capture_expectations(const std::function<void()>& body, std::vector<std::string>& failures) {
  struct Restore {
    std::vector<std::string>* outer;
    ~Restore() { current_failures() = outer; }
  };
  const std::size_t before = failures.size();
  const Restore restore{std::exchange(current_failures(), &failures)};
  body();
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
