// Runs PTX on a given tensor memory, and returns what it holds afterwards: for tests.
//
// The kernel copies the given bytes to the array S of shared memory and the given words to the
// first columns of tensor memory, executes lines in thread 0 of the first block, waits until a
// tcgen05.commit behind them has arrived, and copies the words out.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "vgpu/machine/machine.hpp"
#include "vgpu/machine/observer.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/ptx/module.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

// The words of one block, by lanes.
struct TensorImage {
  static constexpr std::uint32_t kLanes = 128;
  std::uint32_t columns = 64;
  std::vector<std::uint32_t> words = std::vector<std::uint32_t>(std::size_t{kLanes} * columns);

  explicit TensorImage(std::uint32_t count = 64) : columns(count) {}
  std::uint32_t& at(std::uint32_t lane, std::uint32_t column) {
    return words.at(std::size_t{lane} * columns + column);
  }
  [[nodiscard]] std::uint32_t at(std::uint32_t lane, std::uint32_t column) const {
    return words.at(std::size_t{lane} * columns + column);
  }
};

class TensorBench {
 public:
  std::uint32_t blocks = 1;  // 2: a pair, and .cta_group::2
  std::uint32_t columns = 64;
  std::vector<TensorImage> images;                // of each block
  std::vector<std::vector<std::uint8_t>> shared;  // of each block
  std::string lines;                              // of thread 0 of block 0
  // Of all threads, before: %own is the address of the warp's lanes.
  std::string lines_of_all;
  std::string target = "sm_100a";
  // Words that lines_of_all may read and write: [%data], the thread's first one.
  std::vector<std::uint32_t> data;
  std::string trap;  // what stopped the kernel

  explicit TensorBench(std::uint32_t count = 1, std::uint32_t width = 64)
      : blocks(count), columns(width), images(count, TensorImage(width)), shared(count) {}

  // Throws std::runtime_error if the kernel does not end.
  void run() {
    Program program = decode(ptx::parse(text(), "bench.ptx"), "k");
    link(program);
    DeviceMemory memory;
    std::vector<std::uint64_t> parameters;
    const auto add = [&](std::size_t bytes) {
      Allocation* const one = memory.allocate(bytes + 16);
      parameters.push_back(one->address);
      return one;
    };
    Allocation* const words = add(image_words() * 4 * blocks);
    Allocation* const bytes = add(shared_bytes() * blocks);
    Allocation* const own = add(data.size() * 4);
    for (std::uint32_t i = 0; i < blocks; ++i) {
      std::memcpy(words->data + i * image_words() * 4, images[i].words.data(), image_words() * 4);
      if (shared[i].empty()) continue;
      std::memcpy(bytes->data + i * shared_bytes(), shared[i].data(), shared[i].size());
    }
    if (!data.empty()) std::memcpy(own->data, data.data(), data.size() * 4);
    Launch launch;
    launch.program = &program;
    launch.grid = launch.cluster = {blocks, 1, 1};
    launch.explicit_cluster = blocks > 1;
    launch.block = {128, 1, 1};
    launch.parameters = std::as_bytes(std::span(parameters));
    Limits limits;
    limits.steps_max = 2'000'000;
    Traps traps;
    Observer* const observers[] = {&traps};
    Fixed policy;
    Machine machine(memory);
    const Outcome outcome =
        machine.run(launch, WarpModel::independent, policy, std::span(observers), limits);
    trap = traps.text;
    if (!outcome.refusal.empty()) throw std::runtime_error(outcome.refusal);
    if (outcome.end != Outcome::End::completed && trap.empty()) {
      throw std::runtime_error("the kernel does not end");
    }
    for (std::uint32_t i = 0; i < blocks; ++i) {
      std::memcpy(images[i].words.data(), words->data + i * image_words() * 4, image_words() * 4);
    }
    if (!data.empty()) std::memcpy(data.data(), own->data, data.size() * 4);
  }

 private:
  struct Traps final : Observer {
    void on_trap(const Trap& event) override { text = event.detail; }
    std::string text;
  };
  struct Fixed final : Strategy {
    std::uint64_t next_access(std::uint32_t, WarpId, std::uint64_t) override { return UINT64_MAX; }
    std::optional<Choice> decide(const SchedulePoint&) override { return std::nullopt; }
  };

  [[nodiscard]] std::size_t image_words() const {
    return std::size_t{TensorImage::kLanes} * columns;
  }
  [[nodiscard]] std::size_t shared_bytes() const {
    std::size_t most = 16;
    for (const auto& one : shared) most = std::max(most, one.size());
    return (most + 2047) / 2048 * 2048;  // 16 bytes a thread at a time
  }

  [[nodiscard]] std::string text() const {
    std::string moves_in, moves_out;
    for (std::uint32_t column = 0; column < columns; ++column) {
      moves_in += fmt::format(
          "ld.global.b32 %v, [%image+{0}];\n"
          "tcgen05.st.sync.aligned.32x32b.x1.b32 [%own+{1}], {{%v}};\n",
          column * 4, column);
      moves_out += fmt::format(
          "tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%v}}, [%own+{1}];\n"
          "tcgen05.wait::ld.sync.aligned;\nst.global.b32 [%image+{0}], %v;\n",
          column * 4, column);
    }
    std::string copies;
    for (std::size_t at = 0; at < shared_bytes(); at += 2048) {
      copies += fmt::format(
          "ld.global.v4.b32 {{%x, %y, %z, %w}}, [%bytes+{0}];\n"
          "st.shared.v4.b32 [%s+{0}], {{%x, %y, %z, %w}};\n",
          at);
    }
    const std::string sync =
        blocks == 1 ? "tcgen05.fence::before_thread_sync;\nbar.sync 0;\n"
                      "tcgen05.fence::after_thread_sync;\n"
                    : "tcgen05.fence::before_thread_sync;\nbarrier.cluster.arrive.aligned;\n"
                      "barrier.cluster.wait.aligned;\ntcgen05.fence::after_thread_sync;\n";
    const std::string commit =
        blocks == 1
            ? "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [ended];\n"
            : "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster"
              ".multicast::cluster.b64 [ended], 3;\n";
    return fmt::format(
        R"(.version 9.0
.target {target}
.address_size 64
.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2)
{{
.reg .b32 %thread, %warp, %block, %base, %own, %v, %w, %x, %y, %z, %s, %r<300>;
.reg .b64 %image, %bytes, %data, %wide, %d<40>;
.reg .pred %p, %q, %no, %yes;
.shared .align 4 .b32 place;
.shared .align 8 .b64 ended;
.shared .align 1024 .b8 S[{shared_bytes}];
mov.u32 %thread, %tid.x;
mov.u32 %block, %cluster_ctarank;
shr.u32 %warp, %thread, 5;
setp.ne.u32 %no, 0, 0;
setp.eq.u32 %yes, 0, 0;
ld.param.u64 %image, [p0];
mad.lo.u32 %x, %block, 128, %thread;
mul.wide.u32 %wide, %x, {row_bytes};
add.u64 %image, %image, %wide;
ld.param.u64 %bytes, [p1];
mul.wide.u32 %wide, %block, {shared_bytes};
add.u64 %bytes, %bytes, %wide;
mul.wide.u32 %wide, %thread, 16;
add.u64 %bytes, %bytes, %wide;
ld.param.u64 %data, [p2];
mul.wide.u32 %wide, %thread, 4;
add.u64 %data, %data, %wide;
mov.u32 %s, S;
mad.lo.u32 %s, %thread, 16, %s;
{copies}
setp.ne.u32 %p, %thread, 0;
@%p bra INITIALISED;
mbarrier.init.shared::cta.b64 [ended], 1;
INITIALISED:
fence.proxy.async.shared::cta;
fence.mbarrier_init.release.cluster;
setp.ne.u32 %p, %warp, 0;
@%p bra ALLOCATED;
tcgen05.alloc.cta_group::{blocks}.sync.aligned.shared::cta.b32 [place], {allocated};
ALLOCATED:
{sync}
ld.shared.b32 %base, [place];
shl.b32 %x, %warp, 21;
add.u32 %own, %base, %x;
{moves_in}
tcgen05.wait::st.sync.aligned;
{lines_of_all}
tcgen05.wait::st.sync.aligned;
tcgen05.wait::ld.sync.aligned;
{sync}
or.b32 %x, %thread, %block;
setp.ne.u32 %p, %x, 0;
@%p bra ISSUED;
{lines}
{commit}
ISSUED:
mbarrier.try_wait.parity.shared::cta.b64 %p, [ended], 0;
@!%p bra ISSUED;
tcgen05.fence::after_thread_sync;
{moves_out}
{sync}
setp.ne.u32 %p, %warp, 0;
@%p bra END;
tcgen05.dealloc.cta_group::{blocks}.sync.aligned.b32 %base, {allocated};
END:
ret;
}}
)",
        fmt::arg("target", target), fmt::arg("shared_bytes", shared_bytes()),
        fmt::arg("row_bytes", columns * 4), fmt::arg("copies", copies), fmt::arg("blocks", blocks),
        fmt::arg("allocated", std::bit_ceil(std::max(32u, columns))), fmt::arg("sync", sync),
        fmt::arg("moves_in", moves_in), fmt::arg("lines_of_all", lines_of_all),
        fmt::arg("lines", lines), fmt::arg("commit", commit), fmt::arg("moves_out", moves_out));
  }
};

}  // namespace warpcheck::vgpu
