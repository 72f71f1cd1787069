// An engine whose trials leave out the findings that are expected.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/expected/expected_findings.hpp"
#include "harness/trial/engine.hpp"

namespace warpcheck {

class ExpectingEngine final : public Engine {
 public:
  ExpectingEngine(Engine& engine, ExpectedFindings expected)
      : engine_(engine), expectations_(std::move(expected)) {}

  void set_pair(const std::string& name) {
    pair_ = name;
    expectations_.set_program(name);
  }

  TrialResult run(const TrialSettings& settings, FunctionRef<void()> body) override {
    TrialResult result = engine_.run(settings, body);
    // A run that is silent only because of it says nothing about other schedules.
    if (leave_out(result.findings)) result.order_source = "a finding that is expected";
    return result;
  }

  // Removes the findings that are expected.  Returns whether there were any.
  bool leave_out(std::vector<vgpu::Finding>& findings) {
    return std::erase_if(findings, [&](const vgpu::Finding& finding) {
             const Expectation* const expectation = expectations_.find(finding);
             if (expectation == nullptr) return false;
             add_expected(expected_, finding, pair_, *expectation);
             return true;
           }) != 0;
  }

  // One of each class, as recorded.
  [[nodiscard]] const std::vector<ExpectedFinding>& expected() const { return expected_; }
  [[nodiscard]] const ExpectedFindings& expectations() const { return expectations_; }

 private:
  Engine& engine_;
  ExpectedFindings expectations_;
  std::string pair_;
  std::vector<ExpectedFinding> expected_;
};

}  // namespace warpcheck
