#include "vgpu/cudart/streams/host_loops.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <utility>
#include <variant>

#include "vgpu/check/finding.hpp"
#include "vgpu/check/reporter.hpp"
#include "vgpu/cudart/code/registry.hpp"
#include "vgpu/cudart/device/findings.hpp"

namespace warpcheck::cudart {
namespace {

// More memory is not compared: the loop is not reported.
constexpr std::uint64_t kMemoryMax = std::uint64_t{64} << 20;

class Hash {
 public:
  template <class... Values>
  Hash& add(const Values&... values) {
    ((hash_ = XXH3_64bits_withSeed(&values, sizeof values, hash_)), ...);
    return *this;
  }
  Hash& add(const Dim3& size) { return add(size.x, size.y, size.z); }
  Hash& add(const Place& place) { return add(place.pointer, place.pitch, place.slice); }
  Hash& add(const Box& box) { return add(box.width, box.height, box.depth); }
  Hash& add_bytes(const std::vector<std::byte>& bytes) {
    hash_ = XXH3_64bits_withSeed(bytes.data(), bytes.size(), hash_);
    return *this;
  }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 1;
};

std::uint64_t hash_of(const KernelWork& work) {
  return Hash()
      .add(work.linked, work.dynamic_shared_bytes, work.cooperative)
      .add(work.grid)
      .add(work.block)
      .add(work.cluster)
      .add_bytes(work.parameters)
      .value();
}

std::uint64_t hash_of(const CopyWork& work) {
  return Hash().add(work.target).add(work.source).add(work.box).add(work.kind).value();
}

std::uint64_t hash_of(const FillWork& work) {
  return Hash().add(work.target).add(work.box).add(work.value, work.element_bytes).value();
}

}  // namespace

void HostLoops::asked_for(const KernelWork& work) {
  launched_at_[work.kernel] = findings_.mishaps().performing();
}

void HostLoops::runs(const Work& work) {
  using Kind = RepeatedRounds::Kind;
  if (const auto* const kernel = std::get_if<KernelWork>(&work)) {
    kernel_ = kernel->kernel;
    add(hash_of(*kernel), Kind::launch);
  } else if (const auto* const copy = std::get_if<CopyWork>(&work)) {
    runs(*copy);
  } else if (const auto* const fill = std::get_if<FillWork>(&work)) {
    add(hash_of(*fill), Kind::other);
  } else if (!std::holds_alternative<EmptyWork>(work)) {
    rounds_.interrupt();
  }
}

void HostLoops::runs(const CopyWork& work) {
  const bool reads = work.target_in == Where::host && work.source_in == Where::device;
  add(hash_of(work), reads ? RepeatedRounds::Kind::read : RepeatedRounds::Kind::other);
}

void HostLoops::add(std::uint64_t hash, RepeatedRounds::Kind kind) {
  if (is_too_large_) return;
  if (rounds_.add(hash, kind, [this] { return hash_of_memory(); }) && !is_too_large_) report();
}

std::uint64_t HostLoops::hash_of_memory() {
  const std::vector<const vgpu::Allocation*> live = memory_.live();
  std::uint64_t hash = 1, bytes = 0;
  for (const vgpu::Allocation* const allocation : live) bytes += allocation->bytes;
  is_too_large_ = bytes > kMemoryMax;
  if (is_too_large_) return 0;
  for (const vgpu::Allocation* const allocation : live) {
    if (allocation->data == nullptr) continue;
    hash = XXH3_64bits_withSeed(allocation->data, allocation->bytes, hash ^ allocation->id);
  }
  return hash;
}

void HostLoops::report() const {
  vgpu::Finding finding;
  finding.kind = vgpu::FindingKind::deadlock;
  finding.severity = vgpu::Severity::note;
  finding.kernel = vgpu::kernel_name(kernel_->name);
  vgpu::AccessSide side;
  side.role = "host call";
  finding.accesses.push_back(side);
  const auto call = launched_at_.find(kernel_);  // absent for a node of a graph
  if (call != launched_at_.end()) name_place(finding, 0, Mishaps::place_of_call(call->second));
  finding.message = fmt::format(
      "(1) was launched {} times with the same arguments and the same memory, and the host has "
      "read "
      "the same results each time: if it waits for others, it never ends",
      rounds_.rounds());
  findings_.add(std::move(finding));
}

}  // namespace warpcheck::cudart
