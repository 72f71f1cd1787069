#include "fuzz/feedback.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "vgpu/program/program.hpp"

namespace warpcheck::fuzz {
namespace {

using vgpu::AccessKind;
using vgpu::kWarpLanes;

constexpr std::uint32_t kThreadsMax = 1024;  // of a block
constexpr std::size_t kWarpsCounted = 4096;  // of a launch; further ones share counts

// Finalizer of MurmurHash3: every bit of `x` reaches every bit of the result.
std::uint32_t mix(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdu;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53u;
  return static_cast<std::uint32_t>(x ^ (x >> 33));
}

std::uint32_t combine(std::uint32_t a, std::uint32_t b) {
  return mix((std::uint64_t{a} << 32) | b);
}

void count(std::span<std::uint8_t> counters, std::uint32_t hash) {
  std::uint8_t& counter = counters[(std::uint64_t{hash} * counters.size()) >> 32];
  if (counter != 0xff) ++counter;
}

// Lanes of different threads never access the same bytes in the other spaces.
bool is_watched(ptx::Space space) {
  return space == ptx::Space::shared || space == ptx::Space::global;
}

}  // namespace

Feedback::Feedback(std::span<std::uint8_t> counters) {
  if (counters.size() != kCounters) throw std::invalid_argument("Feedback: expected kCounters");
  edges_ = counters.first(kEdgeCounters);
  reads_from_ = counters.last(kReadsFromCounters);
}

void Feedback::reset() {
  ++trial_;
  shape_.launches.clear();
  hashed_program_ = nullptr;
}

std::uint32_t Feedback::kernel_hash(const vgpu::Program& program) {
  if (&program == hashed_program_) return hashed_;
  hashed_program_ = &program;
  hashed_ = static_cast<std::uint32_t>(program.code.size());
  for (const char letter : program.kernel) {
    hashed_ = combine(hashed_, static_cast<unsigned char>(letter));
  }
  return hashed_;
}

Feedback::Shadow& Feedback::shadow_of(const vgpu::Allocation& allocation) {
  if (allocation.id >= shadows_.size()) shadows_.resize(allocation.id + 1);
  Shadow& shadow = shadows_[allocation.id];
  const std::size_t words = (std::size_t{allocation.bytes} + 3) / 4;
  if (shadow.trial != trial_ || shadow.words.size() != words) {
    shadow.words.assign(words, {});
    shadow.trial = trial_;
  }
  return shadow;
}

void Feedback::forget(const vgpu::Allocation& allocation) {
  if (allocation.id < shadows_.size()) shadows_[allocation.id].trial = 0;
}

void Feedback::on_allocate(const vgpu::Allocation& allocation) { forget(allocation); }

void Feedback::on_sync(const vgpu::Sync& sync) {
  if (sync.kind == vgpu::Sync::Kind::block_start && sync.shared != nullptr) forget(*sync.shared);
  if (sync.kind != vgpu::Sync::Kind::kernel_start) return;
  hashed_program_ = nullptr;
  const auto blocks = static_cast<std::uint32_t>(sync.grid.count());
  const auto warps = static_cast<std::uint32_t>((sync.block.count() + kWarpLanes - 1) / kWarpLanes);
  shape_.launches.push_back({blocks, warps, 0});
  accesses_.assign(std::min(std::size_t{blocks} * warps, kWarpsCounted), 0);
}

void Feedback::count_access(const vgpu::WarpPlace& place) {
  if (accesses_.empty()) return;
  TrialShape::Launch& launch = shape_.launches.back();
  const std::size_t warp = std::size_t{place.block} * launch.warps_per_block + place.warp;
  const std::uint64_t count = ++accesses_[warp % accesses_.size()];
  launch.accesses_max = std::max(launch.accesses_max, count);
}

void Feedback::on_edge(std::uint32_t from, std::uint32_t to, const vgpu::Program& program) {
  count(edges_, combine(combine(kernel_hash(program), from), to));
}

void Feedback::count_read(std::uint32_t site, std::uint32_t reader, const Writer& writer) {
  Relation relation = Relation::none;
  if (writer.site != 0) {
    const std::uint32_t apart = reader ^ writer.thread;
    relation = apart == 0            ? Relation::lane
               : apart < kWarpLanes  ? Relation::warp
               : apart < kThreadsMax ? Relation::block
                                     : Relation::grid;
  }
  const bool repeats = writer.site == last_writer_site_ && relation == last_relation_;
  if (repeats && !row_begins_) return;
  row_begins_ = false;
  last_writer_site_ = writer.site;
  last_relation_ = relation;
  count(reads_from_, combine(combine(site, writer.site), static_cast<std::uint32_t>(relation)));
}

void Feedback::on_access(const vgpu::Access& access) {
  count_access(access.place);
  if (!is_watched(access.space)) return;
  Shadow& shadow = shadow_of(*access.allocation);
  const std::uint32_t site = combine(kernel_hash(*access.program), access.pc) | 1;
  const std::uint32_t first_thread =
      access.place.block * kThreadsMax + access.place.warp * kWarpLanes;
  row_begins_ = true;
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    const std::uint32_t thread = first_thread + lane;
    const std::uint32_t first = access.offset[lane] / 4;
    const std::uint32_t last = (access.offset[lane] + access.bytes - 1) / 4;
    for (std::uint32_t word = first; word <= last; ++word) {
      Writer& writer = shadow.words[word];
      if (access.kind != AccessKind::write) count_read(site, thread, writer);
      if (access.kind != AccessKind::read) writer = {site, thread};
    }
  }
}

}  // namespace warpcheck::fuzz
