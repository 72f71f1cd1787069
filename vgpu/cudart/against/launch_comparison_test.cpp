// The other device is a fake: it returns what a test says for each level of optimisation.
#include "vgpu/cudart/against/launch_comparison.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "vgpu/program/program.hpp"
#include "vgpu/ptx/module.hpp"

namespace warpcheck::cudart {
namespace {

using Floats = std::vector<float>;

class FakeDevice final : public LaunchTarget {
 public:
  using Answer = std::function<Floats(const std::string& ptx, unsigned optimization)>;
  explicit FakeDevice(Answer answer) : answer_(std::move(answer)) {}

  LaunchResult run(const LaunchImage& image, unsigned optimization) override {
    LaunchResult result{.problem = problem, .memory = image.memory};
    const Floats floats = answer_(image.ptx, optimization);
    std::memcpy(result.memory[0].bytes.data(), floats.data(), floats.size() * sizeof(float));
    return result;
  }
  [[nodiscard]] const std::string& name() const override { return name_; }

  std::string problem;

 private:
  Answer answer_;
  std::string name_ = "a fake";
};

std::string kernel_with(const std::string& instruction) {
  return ".version 8.0\n.target sm_75\n.address_size 64\n"
         ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<2>;\n.reg .f32 %f<4>;\n"
         "ld.param.u64 %rd1, [p];\nld.global.f32 %f1, [%rd1];\n" +
         instruction + "\nst.global.f32 [%rd1], %f1;\nret;\n}\n";
}

class Compared : public ::testing::Test {
 protected:
  // Here the launch leaves {1, 2}.
  LaunchComparison::Answer compare(const std::string& instruction, FakeDevice& device,
                                   LaunchFacts facts = {}) {
    image_.ptx = kernel_with(instruction);
    image_.kernel = "k";
    image_.memory = {left({0, 0})};
    const ptx::Module module = ptx::parse(image_.ptx, "test");
    const vgpu::Program program = vgpu::decode(module, "k");
    facts.program = &program;
    facts.number = 3;
    LaunchComparison comparison(
        device, {.run = [&](const std::string& ptx) -> std::optional<std::vector<MemoryImage>> {
                   if (!here_) return {};
                   return std::vector{left(here_(ptx))};
                 },
                 .writer = [](std::uint64_t address) -> std::optional<vgpu::AccessSide> {
                   vgpu::AccessSide side;
                   side.role = "write";
                   side.file = "k.cu";
                   side.line = static_cast<std::uint32_t>(address);
                   return side;
                 }});
    return comparison.compare(image_, {left({1, 2})}, facts);
  }
  static MemoryImage left(const Floats& values) {
    MemoryImage image{.variable = {}, .address = 512, .bytes = {}};
    image.bytes.resize(values.size() * sizeof(float));
    std::memcpy(image.bytes.data(), values.data(), image.bytes.size());
    return image;
  }

  LaunchImage image_;
  std::function<Floats(const std::string&)> here_;
};

TEST_F(Compared, EqualResultsAreSilent) {
  FakeDevice device([](auto&&...) { return Floats{1, 2}; });
  const auto answer = compare("", device);
  EXPECT_FALSE(answer.finding);
  EXPECT_EQ(answer.not_compared, "");
}

TEST_F(Compared, ADeviceThatCannotRunItIsNamed) {
  FakeDevice device([](auto&&...) { return Floats{1, 2}; });
  device.problem = "no memory";
  EXPECT_EQ(compare("", device).not_compared, "no memory");
}

TEST_F(Compared, TheSameResultAtEveryLevelIsAnError) {
  FakeDevice device([](auto&&...) { return Floats{1, 2.5F}; });
  const auto answer = compare("", device);
  ASSERT_TRUE(answer.finding);
  EXPECT_EQ(answer.finding->kind, vgpu::FindingKind::mismatch);
  EXPECT_EQ(answer.finding->severity, vgpu::Severity::error);
  EXPECT_EQ(answer.finding->object, "element 1 of the allocation of 8 bytes at 0x200");
  ASSERT_EQ(answer.finding->accesses.size(), 1u);
  EXPECT_EQ(answer.finding->accesses[0].line, 516u);
  EXPECT_EQ(answer.finding->message,
            "launch 3: 2 (0x40000000) here, 2.5 (0x40200000) on a fake; 1 element differs, by at "
            "most 2097152 ulp; the device gives this result at every level of the assembler's "
            "optimisation");
  EXPECT_EQ(answer.reproducer, "");
}

TEST_F(Compared, FindingsOfTheLaunchExplainIt) {
  FakeDevice device([](auto&&...) { return Floats{1, 2.5F}; });
  const auto answer = compare("", device, {.has_findings = true});
  ASSERT_TRUE(answer.finding);
  EXPECT_EQ(answer.finding->severity, vgpu::Severity::note);
  EXPECT_NE(answer.finding->message.find("see the findings of this launch"), std::string::npos);
}

TEST_F(Compared, RunsThatDifferAmongThemselvesDependOnTheOrder) {
  int runs = 0;
  FakeDevice device([&](auto&&...) { return Floats{1, static_cast<float>(3 + runs++)}; });
  const auto answer = compare("", device, {.order_source = "k.cu:7 (atom.add)"});
  ASSERT_TRUE(answer.finding);
  EXPECT_EQ(answer.finding->severity, vgpu::Severity::note);
  EXPECT_NE(answer.finding->message.find("the order of threads decides, k.cu:7 (atom.add)"),
            std::string::npos);
}

TEST_F(Compared, ContractionIsAllowed) {
  FakeDevice device([](const std::string& ptx, unsigned) {
    return ptx.find("mul.rn.f32") != std::string::npos ? Floats{1, 2} : Floats{1, 2.5F};
  });
  const auto answer = compare("mul.f32 %f1, %f1, %f1;", device);
  ASSERT_TRUE(answer.finding);
  EXPECT_EQ(answer.finding->severity, vgpu::Severity::note);
  EXPECT_NE(answer.finding->message.find("fuses a multiplication and an addition"),
            std::string::npos);
}

TEST_F(Compared, ApproximationsMayDifferByFewUlps) {
  FakeDevice close([](auto&&...) { return Floats{1, 2 + 0x1p-21F}; });
  const auto note = compare("sqrt.approx.f32 %f1, %f1;", close);
  ASSERT_TRUE(note.finding);
  EXPECT_EQ(note.finding->severity, vgpu::Severity::note);
  EXPECT_NE(note.finding->message.find("by at most 2 ulp; the results of sqrt.approx.f32 are"),
            std::string::npos);
  FakeDevice far([](auto&&...) { return Floats{1, 2.5F}; });
  const auto error = compare("sqrt.approx.f32 %f1, %f1;", far);
  ASSERT_TRUE(error.finding);
  EXPECT_EQ(error.finding->severity, vgpu::Severity::error);
  EXPECT_NE(error.finding->message.find("at every level of the assembler's optimisation; the "
                                        "results of sqrt.approx.f32 are approximations, but"),
            std::string::npos);
}

// The fake's assembler turns a negation into nothing when it optimises.
TEST_F(Compared, AMiscompilationIsFoundAndShrunk) {
  const auto value = [](const std::string& ptx) {
    return ptx.find("neg.f32") != std::string::npos ? Floats{1, 2} : Floats{1, 7};
  };
  FakeDevice device([&](const std::string& ptx, unsigned level) {
    if (level < 2) return value(ptx);
    return ptx.find("neg.f32") != std::string::npos ? Floats{1, -2} : value(ptx);
  });
  here_ = value;
  const auto answer =
      compare("add.rn.f32 %f2, %f1, %f1;\nneg.f32 %f1, %f1;\nadd.rn.f32 %f3, %f2, %f1;", device);
  ASSERT_TRUE(answer.finding);
  EXPECT_EQ(answer.finding->severity, vgpu::Severity::error);
  EXPECT_NE(answer.finding->message.find("with -O0, -O1 the device agrees with the virtual GPU"),
            std::string::npos);
  EXPECT_NE(answer.reproducer.find("neg.f32"), std::string::npos);
  EXPECT_EQ(answer.reproducer.find("add.rn.f32"), std::string::npos);
  EXPECT_EQ(answer.reproducer.find("//+"), std::string::npos);
}

}  // namespace
}  // namespace warpcheck::cudart
