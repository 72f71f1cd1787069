#include "harness/testing/fake_engine.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "harness/generators/generators.hpp"
#include "harness/pair/pair.hpp"
#include "vgpu/schedule/default_policy.hpp"

namespace warpcheck {
namespace {

constexpr std::size_t kLanes = 32;
FakeEngine* running = nullptr;

std::vector<int> inclusive_sums(const FakeInput& in) {
  std::vector<int> sums;
  unsigned sum = 0;
  for (const int value : in.values) {
    sums.push_back(static_cast<int>(sum += static_cast<unsigned>(value)));
  }
  return sums;
}

bool one_thread_each(const FakeInput& in) {
  return in.launch.grid == Dim3{1} && in.launch.block.x >= in.values.size() &&
         in.launch.block.x <= 1024 && in.launch.block.count() == in.launch.block.x;
}

FakeInput draw_one_thread_each(Draw& draw) {
  const auto n = static_cast<std::size_t>(draw.between(1, 200));
  FakeInput in{.values = {}, .launch = {.grid = 1, .block = n}};
  for (std::size_t i = 0; i < n; ++i) {
    in.values.push_back(static_cast<int>(draw.between(-50, 50)));
  }
  return in;
}

}  // namespace

TrialResult FakeEngine::run(const TrialSettings& settings, FunctionRef<void()> body) {
  settings_ = &settings;
  result_ = {};
  result_.ptx_hash = ptx_hash;
  running = this;
  body();
  running = nullptr;
  result_.decisions_ignored = settings.strategy->ignored();
  return std::move(result_);
}

FakeEngine& FakeEngine::current() {
  if (running == nullptr) throw std::logic_error("no trial is running");
  return *running;
}

std::uint32_t FakeEngine::held_lanes(vgpu::WarpId warp, std::uint64_t index, std::uint32_t active) {
  vgpu::Strategy& strategy = *settings_->strategy;
  if (strategy.next_access(0, warp, index) != index) return 0;
  const std::vector<vgpu::WarpId> ready{warp};
  const auto choice = strategy.decide({.launch = 0,
                                       .at = warp,
                                       .point = vgpu::Decision::Point::access,
                                       .index = index,
                                       .active = active,
                                       .model = settings_->warp_model,
                                       .default_next = warp,
                                       .ready = ready});
  if (!choice || choice->held == 0 || choice->held == active) return 0;
  result_.schedule.decisions.push_back({.launch = 0,
                                        .at = warp,
                                        .point = vgpu::Decision::Point::access,
                                        .index = index,
                                        .held = choice->held,
                                        .next = warp});
  return choice->held;
}

void FakeEngine::report(vgpu::FindingKind kind, std::string kernel, std::uint32_t line) {
  vgpu::Finding finding;
  finding.kind = kind;
  finding.space = "shared";
  finding.kernel = std::move(kernel);
  finding.object = "share[1], 4 bytes";
  for (const char* role : {"write", "read"}) {
    finding.accesses.push_back(
        {.role = role,
         .block = {0, 0, 0},
         .thread = {line, 0, 0},
         .file = WARPCHECK_SOURCE_DIR "/kernels/fake.cu",
         .line = line,
         .ptx = role == std::string("read") ? "ld.shared.u32" : "st.shared.u32"});
  }
  finding.message = "no barrier orders (1) and (2)";
  result_.findings.push_back(std::move(finding));
}

void FakeEngine::spin(std::uint64_t steps) {
  const std::uint64_t allowed = settings_->limits.steps_max;
  result_.steps += std::min(steps, allowed);
  if (steps > allowed) report(vgpu::FindingKind::deadlock, "spin", 3);
}

void FakeEngine::racy_scan(std::vector<int>& data) {
  ++result_.launches;
  const bool independent = settings_->warp_model == vgpu::WarpModel::independent;
  const std::size_t threads = data.size();
  std::uint64_t round = 0;
  for (std::size_t stride = 1; stride < threads; stride *= 2, ++round) {
    for (std::size_t first = 0; first < threads; first += kLanes) {
      const std::size_t last = std::min(first + kLanes, threads);
      const auto active = static_cast<std::uint32_t>((std::uint64_t{1} << (last - first)) - 1);
      const auto warp = static_cast<std::uint32_t>(first / kLanes);
      const std::uint32_t held = held_lanes({0, warp}, round, active);
      for (const std::uint32_t lanes : {active & ~held, held}) {
        const std::vector<int> before = data;
        for (std::size_t t = std::max(first, stride); t < last; ++t) {
          if ((lanes >> (t - first) & 1) == 0) continue;
          data[t] = static_cast<int>(static_cast<unsigned>(before[t]) +
                                     static_cast<unsigned>(before[t - stride]));
        }
      }
      result_.steps += 1;
    }
    // Thread t reads what thread t - stride writes, if that thread takes part in the round.
    const bool same_warp = threads > 2 * stride;
    const bool two_warps = threads > std::max(kLanes, 2 * stride);
    if ((independent ? same_warp : two_warps) && result_.findings.empty()) {
      report(vgpu::FindingKind::data_race, "fake_scan", 14);
    }
  }
}

KERNEL_PAIR(fake_scan_published, FakeInput, std::vector<int>) = {
    .family = "fake",
    .origin = "a published book",
    .expects = {"data-race", "mismatch"},
    .domain = one_thread_each,
    .arbitrary = draw_one_thread_each,
    .kernel =
        [](Device&, const FakeInput& in) {
          std::vector<int> data = in.values;
          FakeEngine::current().racy_scan(data);
          return data;
        },
    .reference = inclusive_sums,
    .agreement = exactly(),
};

// Wrong from 5 elements on, with a race from 20 elements on: a race must not become a mismatch.
KERNEL_PAIR(fake_two_bugs, FakeInput, std::vector<int>) = {
    .family = "fake",
    .origin = "ours",
    .expects = {"data-race", "mismatch"},
    .domain = one_thread_each,
    .arbitrary = draw_one_thread_each,
    .kernel =
        [](Device&, const FakeInput& in) {
          std::vector<int> sums = inclusive_sums(in);
          if (sums.size() >= 20) {
            FakeEngine::current().report(vgpu::FindingKind::data_race, "two_bugs", 7);
          }
          if (sums.size() >= 5) ++sums[4];
          return sums;
        },
    .reference = inclusive_sums,
};

// Fails only under two decisions, one in each of two rounds.
KERNEL_PAIR(fake_two_decisions, FakeInput, std::vector<int>) = {
    .family = "fake",
    .origin = "ours",
    .expects = {"mismatch"},
    .domain = one_thread_each,
    .arbitrary = draw_one_thread_each,
    .kernel =
        [](Device&, const FakeInput& in) {
          std::vector<int> sums = inclusive_sums(in);
          FakeEngine& engine = FakeEngine::current();
          int decisions = 0;
          for (std::uint64_t round = 0; round < 6 && !sums.empty(); ++round) {
            const bool counts = engine.held_lanes({0, 0}, round, 0xff) != 0 && round % 2 == 1;
            decisions += counts ? 1 : 0;
          }
          if (decisions >= 2) ++sums[0];
          return sums;
        },
    .reference = inclusive_sums,
};

// Hangs from 7 elements on; from 3 on it is only slow.
KERNEL_PAIR(fake_hang, FakeInput, int) = {
    .family = "fake",
    .origin = "ours",
    .expects = {"deadlock"},
    .domain = one_thread_each,
    .arbitrary = draw_one_thread_each,
    .kernel =
        [](Device&, const FakeInput& in) {
          const std::size_t n = in.values.size();
          FakeEngine::current().spin(n >= 7 ? UINT64_MAX : n >= 3 ? 1'000'000 : 10);
          return 0;
        },
    .reference = [](const FakeInput&) { return 0; },
};

KERNEL_PAIR(fake_clean, FakeInput, std::vector<int>) = {
    .family = "fake",
    .origin = "ours",
    .domain = one_thread_each,
    .arbitrary = draw_one_thread_each,
    .kernel = [](Device&, const FakeInput& in) { return inclusive_sums(in); },
    .reference = inclusive_sums,
};

PROPERTY(fake_clean, keeps_its_length)(FakeInput in) {
  EXPECT_EQ(run(in).size(), in.values.size());
}

PROPERTY(fake_clean, last_is_below_1000)(FakeInput in) {
  for (const int sum : run(in)) EXPECT_LT(sum, 1000);
}

}  // namespace warpcheck
