// Random kernels of one warpgroup, of which one checker is asked about the reads of products at
// once, and the other receives each read: both find the same races.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "vgpu/check/fake_launch.hpp"
#include "vgpu/check/race/race.hpp"
#include "vgpu/machine/access/product_read.hpp"
#include "vgpu/machine/compute/simd.hpp"

namespace warpcheck::vgpu {
namespace {

struct JudgeOfProducts {
  JudgeOfProducts() { checker.reset(WarpModel::independent); }
  Reporter reporter;
  RaceChecker checker{reporter, race_row_functions(simd_level())};
};

class RandomProducts {
 public:
  explicit RandomProducts(std::uint64_t seed) : random_(seed) {
    program_.synchronizes_threads = true;
    set_kinds();
    launch_.start({1, 1, 1}, {kWarps * kWarpLanes, 1, 1});
    launch_.start_block(0, 0, &shared_);
    for (std::vector<std::uint32_t>& tile : tiles_) {
      for (int i = 0; i < 8; ++i) tile.push_back(16 * below(kBytes / 16));
      if (below(2) == 0) continue;
      for (int i = 0; i < 8; ++i) tile[i] = 16 * ((tile[0] / 16 + i) % (kBytes / 16));
    }
    tiles_[2] = tiles_[1];
    std::ranges::reverse(tiles_[2]);
  }

  void run() {
    for (std::uint32_t step = 0; step < kSteps; ++step) {
      switch (below(12)) {
        case 0:
        case 1: write(step); break;
        case 2: read(step); break;
        case 3:
        case 4: fence(below(kWarps)); break;
        case 5: launch_.barrier(0); break;
        case 6:
          for (std::uint32_t warp = 0; warp < kWarps; ++warp) fence(warp);
          launch_.barrier(0);
          break;
        default: multiply();
      }
    }
  }
  std::size_t taken = 0;
  JudgeOfProducts at_once, one_by_one;

 private:
  static constexpr std::uint32_t kWarps = 4, kBytes = 2048, kSteps = 40;
  // pcs; the others are of other accesses
  static constexpr std::uint32_t kProduct = 60, kCommit = 61, kWait = 62, kFence = 63;

  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_() % end); }
  void set_kinds() {
    program_.code[kProduct].kind = InstrKind::group_load;
    program_.code[kCommit].kind = program_.code[kWait].kind = InstrKind::group_pending;
    program_.code[kFence].kind = InstrKind::fence;
  }
  void both(const Access& access) {
    at_once.checker.on_access(access);
    one_by_one.checker.on_access(access);
  }
  Access row(AccessKind kind, std::uint32_t pc, std::uint8_t bytes) {
    Access access = launch_.access(kind, shared_, 0, below(kWarps), pc, bytes);
    access.mask = below(3) == 0 ? static_cast<std::uint32_t>(random_() | 1) : ~0u;
    access.pattern = Pattern::strided;
    const std::uint32_t first = 16 * below((kBytes - kWarpLanes * bytes) / 16 + 1);
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) access.offset[lane] = first + lane * bytes;
    return access;
  }
  void write(std::uint32_t pc) {
    const std::uint8_t bytes = below(8) == 0 ? 2 : below(2) == 0 ? 4 : 16;
    both(row(AccessKind::write, pc, bytes));
  }
  void read(std::uint32_t pc) { both(row(AccessKind::read, pc, 4)); }
  void fence(std::uint32_t warp) {
    Fence fence{.program = &program_, .place = launch_.place(0, warp), .pc = kFence, .mask = ~0u};
    fence.proxy = true;
    at_once.checker.on_fence(fence);
    one_by_one.checker.on_fence(fence);
  }
  // Some or all warps read tiles, close a group, and mostly wait for it.
  void multiply() {
    const std::uint32_t warps = below(8) == 0 ? below(kWarps) + 1 : kWarps;
    const std::uint32_t tile = below(3), rounds = 1 + below(2);
    for (std::uint32_t round = 0; round < rounds; ++round) {
      for (std::uint32_t warp = 0; warp < warps; ++warp) multiply(warp, tiles_[tile]);
    }
    for (std::uint32_t warp = 0; warp < warps; ++warp) {
      const CopyCommit commit{&program_, launch_.place(0, warp), kCommit, ~0u};
      at_once.checker.on_copy_commit(commit);
      one_by_one.checker.on_copy_commit(commit);
    }
    for (std::uint32_t warp = 0; warp < warps; ++warp) {
      if (below(6) == 0) continue;
      const CopyWait wait{&program_, launch_.place(0, warp), kWait, ~0u, below(6) == 0};
      at_once.checker.on_copy_wait(wait);
      one_by_one.checker.on_copy_wait(wait);
    }
  }
  void multiply(std::uint32_t warp, const std::vector<std::uint32_t>& chunks) {
    const ProductRead product{.allocation = &shared_.allocation(),
                              .program = &program_,
                              .place = launch_.place(0, warp),
                              .pc = kProduct,
                              .chunks = chunks,
                              .lanes_of_chunk = 4,
                              .lanes_of_word = 1};
    Access access = launch_.access(AccessKind::read, shared_, 0, warp, kProduct);
    set_kinds();
    access.mask = ~0u;
    access.pattern = Pattern::scattered;
    access.asynchronous = access.async_proxy = true;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      access.offset[lane] = chunks[lane / 4] + lane % 4 * 4;
    }
    if (at_once.checker.takes_product(product)) {
      ++taken;
    } else {
      at_once.checker.on_access(access);
    }
    one_by_one.checker.on_access(access);
  }

  std::mt19937_64 random_;
  Program program_ = fake_program();
  FakeMemory shared_{0, ptx::Space::shared, kBytes, "s"};
  FakeLaunch launch_{
      program_, {&at_once.reporter, &at_once.checker, &one_by_one.reporter, &one_by_one.checker}};
  std::array<std::vector<std::uint32_t>, 3> tiles_;
};

TEST(ProductReads, RaceAsTheirSingleReadsDo) {
  std::size_t taken = 0, found = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    RandomProducts kernel(seed);
    kernel.run();
    ASSERT_TRUE(kernel.at_once.reporter.findings() == kernel.one_by_one.reporter.findings())
        << seed;
    taken += kernel.taken;
    found += kernel.at_once.reporter.findings().size();
  }
  EXPECT_GT(taken, 2'000u);
  EXPECT_GT(found, 400u);
}

}  // namespace
}  // namespace warpcheck::vgpu
