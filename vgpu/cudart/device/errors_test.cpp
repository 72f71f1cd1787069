#include "vgpu/cudart/device/errors.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "vgpu/cudart/api/calls/api_call.hpp"
#include "vgpu/cudart/testing/device_parts.hpp"

namespace warpcheck::cudart {
namespace {

class ErrorsOfCalls : public testing::Test, protected DeviceParts {
 protected:
  ErrorsOfCalls() { begin("cudaFree"); }
  ~ErrorsOfCalls() override { current_call() = before_; }
  // Begins a call of the API by this thread, with a null pointer.
  void begin(const char* name) {
    current_call() = {.name = name, .return_address = __builtin_return_address(0)};
    errors.begin_call();
  }
  void begin_ambient() { trial.begin_ambient({}, virtual_gpu::kTrialCapability); }

 private:
  ApiCall before_ = current_call();
};

TEST_F(ErrorsOfCalls, TheLastIsKeptUntilItIsTaken) {
  EXPECT_EQ(errors.record(cudaErrorInvalidValue), cudaErrorInvalidValue);
  EXPECT_EQ(errors.record(cudaSuccess), cudaSuccess);
  EXPECT_EQ(errors.record(cudaErrorNotReady), cudaErrorNotReady);
  EXPECT_EQ(errors.last(), cudaErrorInvalidValue);
  EXPECT_EQ(errors.take_last(), cudaErrorInvalidValue);
  EXPECT_EQ(errors.take_last(), cudaSuccess);
}

TEST_F(ErrorsOfCalls, AreNotToldInTrials) {
  trial.begin({});
  errors.record(cudaErrorInvalidValue);
  EXPECT_TRUE(found().empty());
}

TEST_F(ErrorsOfCalls, AreToldOfAPlainProgram) {
  begin_ambient();
  errors.record(cudaErrorInvalidValue);
  ASSERT_EQ(found().size(), 1u);
  EXPECT_EQ(found()[0].kind, vgpu::FindingKind::api_error);
  EXPECT_EQ(found()[0].severity, vgpu::Severity::note);
  EXPECT_EQ(found()[0].object, "cudaFree(nullptr)");
  EXPECT_TRUE(
      found()[0].message.starts_with("(1) returned cudaErrorInvalidValue: invalid argument"));
}

TEST_F(ErrorsOfCalls, AreToldAsTheCallIsDescribed) {
  begin_ambient();
  errors.describe_call({.text = "saxpy<<<0, 256>>>(...)", .kernel = "saxpy"});
  errors.record(cudaErrorInvalidValue);
  ASSERT_EQ(found().size(), 1u);
  EXPECT_EQ(found()[0].object, "saxpy<<<0, 256>>>(...)");
  EXPECT_EQ(found()[0].kernel, "saxpy");
  begin("cudaFreeHost");  // a call whose arguments are not described
  errors.record(cudaErrorInvalidValue);
  ASSERT_EQ(found().size(), 2u);
  EXPECT_EQ(found()[1].object, "cudaFreeHost(nullptr)");
}

TEST_F(ErrorsOfCalls, OfLaunchesAreUnaskedUntilTheThreadAsks) {
  begin_ambient();
  const FailedCall launch{.text = "saxpy<<<1, 2048>>>(...)", .needs_question = true};
  errors.describe_call(launch);
  errors.record(cudaErrorInvalidValue);
  EXPECT_EQ(last_errors.unasked(), (std::set<std::size_t>{0}));
  EXPECT_EQ(errors.last(), cudaErrorInvalidValue);
  EXPECT_TRUE(last_errors.unasked().empty());
  errors.describe_call(launch);
  errors.record(cudaErrorInvalidValue);
  EXPECT_EQ(last_errors.unasked(), (std::set<std::size_t>{0}));
  vgpu::Finding finding = found()[0];
  raise_unasked(finding);
  EXPECT_EQ(finding.severity, vgpu::Severity::error);
  begin("cudaFree");  // its result says it
  errors.record(cudaErrorInvalidValue);
  errors.take_last();
  EXPECT_TRUE(last_errors.unasked().empty());
}

TEST_F(ErrorsOfCalls, AreNotToldBesideAFindingOfTheCall) {
  begin_ambient();
  vgpu::Finding own;
  own.kind = vgpu::FindingKind::invalid_free;
  findings.add(own);
  errors.record(cudaErrorInvalidValue);
  EXPECT_EQ(found().size(), 1u);
  begin("cudaFree");
  errors.record(cudaErrorInvalidValue);
  EXPECT_EQ(found().size(), 2u);
}

TEST_F(ErrorsOfCalls, OfALaunchThatDiedAreNotToldAgain) {
  begin_ambient();
  EXPECT_FALSE(errors.has_sticky());
  errors.set_sticky(cudaErrorLaunchFailure);
  EXPECT_TRUE(errors.has_sticky());
  EXPECT_EQ(errors.record(errors.sticky()), cudaErrorLaunchFailure);
  EXPECT_TRUE(found().empty());
  errors.forget_sticky();
  EXPECT_EQ(errors.sticky(), cudaSuccess);
  EXPECT_EQ(errors.last(), cudaErrorLaunchFailure);
}

TEST_F(ErrorsOfCalls, RefusalsAreKeptOnceAndNotToldAsErrors) {
  trial.begin({});
  errors.refuse("no such thing");
  errors.refuse("no such thing");
  errors.refuse("nor this");
  EXPECT_TRUE(findings.call_is_told());
  EXPECT_EQ(trial.result().refusals, (std::vector<std::string>{"no such thing", "nor this"}));
}

TEST_F(ErrorsOfCalls, AHostFunctionMayNotCall) {
  begin_ambient();
  EXPECT_EQ(errors.refuse_in_host_function(), cudaErrorNotPermitted);
  EXPECT_EQ(errors.last(), cudaSuccess);
  ASSERT_EQ(found().size(), 1u);
  EXPECT_EQ(found()[0].object, "cudaFree(nullptr)");
}

}  // namespace
}  // namespace warpcheck::cudart
