// The inspector with a session that is made up here: this program has its own DebugSession, and
// links only what the inspector needs.
#include "cli/debug/inspector.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "cli/debug/variables/debug_info.hpp"
#include "cli/debug/variables/ptx_testing.hpp"

namespace warpcheck::debug {

// A block of 40 threads at a mark of variables_testing.cu.  `t` is the thread's number, but that
// of thread 3 is not written; lane 2 has left the kernel, lane 4 stands at another line.
struct DebugSession::Impl {
  Stop stop;
  KernelText text;
  std::string t_register;
  std::uint32_t other_line = 0;
  std::map<std::uint64_t, std::byte> shared;
};

namespace {

constexpr std::uint32_t kExited = 2, kUnwritten = 3, kElsewhere = 4;

std::string kernel_of(const std::string& ptx) {
  const std::size_t entry = ptx.find(".entry ") + 7;
  return ptx.substr(entry, ptx.find('(', entry) - entry);
}

}  // namespace

DebugSession::DebugSession(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DebugSession::~DebugSession() = default;

std::unique_ptr<DebugSession> DebugSession::start(Target target) {
  auto impl = std::make_unique<Impl>();
  const std::string& ptx = target.build == "optimized" ? optimized_ptx() : unoptimized_ptx();
  impl->text.ptx = ptx;
  impl->text.name = kernel_of(ptx);
  Stop& stop = impl->stop;
  stop.has_location = true;
  stop.grid = {3, 1, 1};
  stop.block = {20, 2, 1};
  stop.focus = {{1, 0, 0}, {5, 0, 0}};
  stop.at.linkage_name = impl->text.name;
  stop.at.ptx_line = line_of_mark(ptx, "all");
  stop.at.line = 64;
  impl->text.instructions.push_back({stop.at});
  impl->other_line = 60;
  const DebugInfo info(ptx, "t.ptx");
  for (const Scope& scope : info.scopes_at(stop.at.ptx_line)) {
    for (const Variable& each : scope.variables) {
      if (each.name == "t") impl->t_register = each.location.register_name;
    }
  }
  for (unsigned i = 0; i < 64; ++i) {
    for (unsigned byte = 0; byte < 4; ++byte) {
      const float number = static_cast<float>(i) / 2;
      std::uint32_t bits = 0;
      std::memcpy(&bits, &number, 4);
      impl->shared[4 * i + byte] = static_cast<std::byte>(bits >> (8 * byte));
    }
  }
  return std::unique_ptr<DebugSession>(new DebugSession(std::move(impl)));
}

const Stop& DebugSession::stop() const { return impl_->stop; }
const KernelText& DebugSession::kernel_text() { return impl_->text; }
void DebugSession::set_focus(const Thread& thread) { impl_->stop.focus = thread; }

std::vector<Frame> DebugSession::frames(const Thread& thread) {
  Frame frame;
  frame.at = impl_->stop.at;
  if (thread.thread.x == kElsewhere && thread.thread.y == 0) frame.at.line = impl_->other_line;
  return {frame};
}

std::vector<Register> DebugSession::registers(const Thread& thread, std::uint32_t) {
  const bool is_unwritten = thread.thread.x == kUnwritten && thread.thread.y == 0;
  return {Register{impl_->t_register, "b32", 4, thread.thread.x + 20 * thread.thread.y,
                   is_unwritten ? 0xffffffff : 0}};
}

Memory DebugSession::memory(const Place& place, std::uint64_t bytes) {
  Memory memory;
  for (std::uint64_t i = place.offset; i < place.offset + bytes; ++i) {
    if (place.space != Space::shared || !impl_->shared.contains(i)) {
      memory.why_short = fmt::format("0x{:x} is outside of shared memory", i);
      break;
    }
    memory.bytes.push_back(impl_->shared[i]);
    memory.unwritten.push_back(0);
  }
  return memory;
}

std::string DebugSession::function_at(std::uint64_t) { return {}; }

Place DebugSession::resolve(const Thread&, std::uint64_t) {
  throw DebugError("no memory is there");
}

std::optional<Symbol> DebugSession::symbol(std::string_view name, const Thread& thread,
                                           std::uint32_t) {
  if (name == "dynamic") return Symbol{std::string(name), {Space::shared, 240, thread}, 0};
  if (!name.ends_with("5share")) return std::nullopt;
  return Symbol{std::string(name), {Space::shared, 0, thread}, 256};
}

std::vector<BlockState> DebugSession::blocks() {
  WarpState first{0, 32, {{~0u & ~(1u << kExited), {}}, {1u << kExited, {}}}};
  first.groups[1].state.kind = LaneState::Kind::exited;
  WarpState second{1, 8, {{0xff, {}}}};
  BlockState block;
  block.block = {1, 0, 0};
  block.warps = {first, second};
  return {block};
}

namespace {

struct InspectorTest : testing::Test {
  std::unique_ptr<DebugSession> session = DebugSession::start({});
  Inspector inspector{*session};
  Inspector::At at{session->stop().focus, 0};

  std::string error_of(std::string_view expression) {
    try {
      (void)inspector.evaluate(expression, at);
    } catch (const DebugError& error) {
      return error.what();
    }
    return "no error";
  }
};

TEST_F(InspectorTest, Evaluates) {
  const Inspector::Shown shown = inspector.evaluate("share[t] + blockIdx.x", at);
  EXPECT_EQ(shown.text, "3.5");
  EXPECT_EQ(shown.type, "float");
  EXPECT_EQ(shown.children, 0u);
  EXPECT_EQ(inspector.evaluate("share", at).children, 64u);
  EXPECT_EQ(inspector.evaluate("share[2]", at, Format::hex).text, "0x3f800000");
  EXPECT_EQ(error_of("share["), "column 7: expected a value, found the end");
  EXPECT_EQ(error_of("share[64] + 1"),
            "column 6: `share[64]` has no value: 0x100 is outside of shared memory");
  EXPECT_EQ(inspector.missing_variables(), "");
}

TEST_F(InspectorTest, Children) {
  const Inspector::Shown shown = inspector.evaluate("share", at);
  const std::vector<Inspector::Shown> children = inspector.children(shown.value, at, 62, 5);
  ASSERT_EQ(children.size(), 2u);
  EXPECT_EQ(children[1].value.expression, "share[63]");
  EXPECT_EQ(children[1].text, "31.5");
}

// The 256 bytes of shared memory end an array whose length nothing says.
TEST_F(InspectorTest, DynamicSharedMemory) {
  const Inspector::Shown shown = inspector.evaluate("dynamic", at);
  EXPECT_EQ(shown.type, "int[4]");
  EXPECT_EQ(shown.children, 4u);
  EXPECT_EQ(inspector.evaluate("dynamic[3]", at, Format::floating).text, "31.5");
}

TEST_F(InspectorTest, Declarations) {
  EXPECT_EQ(inspector.declaration("Word", at),
            "union Word {\n  unsigned int bits;\n  float value;\n}");
  EXPECT_EQ(inspector.declaration("points", at).substr(0, 14), "struct Point :");
  EXPECT_TRUE(inspector.declaration("points", at).ends_with("}*"));
  EXPECT_EQ(inspector.declaration("share", at), "float[64]");
}

TEST_F(InspectorTest, RangesForDataBreakpoints) {
  const Inspector::Range range = inspector.range_of("share[t]", at);
  EXPECT_EQ(range.place.space, Space::shared);
  EXPECT_EQ(range.place.offset, 20u);
  EXPECT_EQ(range.place.thread, session->stop().focus);
  EXPECT_EQ(range.bytes, 4u);
  EXPECT_THROW((void)inspector.range_of("t", at), DebugError);
  EXPECT_THROW((void)inspector.range_of("t + 1", at), DebugError);
}

TEST_F(InspectorTest, LanesSideBySide) {
  const auto lanes = inspector.lanes("t * 2", at);
  EXPECT_EQ(lanes[0].text, "0");
  EXPECT_EQ(lanes[31].text, "62");
  EXPECT_EQ(lanes[kExited].text, "");
  EXPECT_EQ(lanes[kExited].note, "has left the kernel");
  EXPECT_EQ(lanes[kUnwritten].text, "<not written>");
  EXPECT_EQ(lanes[kElsewhere].text, "8");
  EXPECT_EQ(lanes[kElsewhere].note, "at line 60");
  Inspector::At second = at;
  second.thread.thread = {15, 1, 0};
  const auto rest = inspector.lanes("t", second);
  EXPECT_EQ(rest[7].text, "39");
  EXPECT_EQ(rest[8].note, "does not exist");
}

TEST_F(InspectorTest, Conditions) {
  const auto condition = inspector.condition("t == 6 && share[t] > 2");
  EXPECT_FALSE(condition(session->stop()));
  session->set_focus({{1, 0, 0}, {6, 0, 0}});
  EXPECT_TRUE(condition(session->stop()));
  EXPECT_EQ(inspector.note_of_condition(), "");
  EXPECT_THROW((void)inspector.condition("t =="), DebugError);
}

// Where a condition has no value, nothing is passed by.
TEST_F(InspectorTest, ConditionsWithoutValueStop) {
  const auto condition = inspector.condition("t > 100");
  session->set_focus({{1, 0, 0}, {kUnwritten, 0, 0}});
  EXPECT_TRUE(condition(session->stop()));
  EXPECT_EQ(inspector.note_of_condition(),
            "the condition `t > 100` has no value here: column 1: `t > 100` depends on what the "
            "program has not written");
}

TEST(Inspector, OptimizedCode) {
  Target target;
  target.build = "optimized";
  const auto session = DebugSession::start(target);
  Inspector inspector(*session);
  const Inspector::At at{session->stop().focus, 0};
  EXPECT_EQ(inspector.missing_variables(),
            "the code is optimised, and describes no variables; --build unoptimized does");
  EXPECT_EQ(inspector.evaluate("share[5]", at).text, "2.5");
  EXPECT_TRUE(inspector.locals(at).empty());
  EXPECT_EQ(inspector.arguments(at).size(), 6u);
}

}  // namespace
}  // namespace warpcheck::debug
