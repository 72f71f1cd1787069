#include "vgpu/machine/memory/provenance_objects.hpp"

#include <algorithm>
#include <cstring>

namespace warpcheck::vgpu {
namespace {

bool is_same(const ProvenanceObject& a, const ProvenanceObject& b) {
  return a.allocation == b.allocation && (a.symbol == nullptr) == (b.symbol == nullptr) &&
         a.begin == b.begin;
}

bool is_same_in_shared(const ProvenanceObject& a, const ProvenanceObject& b) {
  return a.symbol == b.symbol && a.begin == b.begin && a.end == b.end;
}

}  // namespace

// Counts how often the sum contains the address of each object; roots that are no address are
// integers.
void ProvenanceObjects::count_objects(const RootSum& sum) {
  std::vector<CountedObject>& counted = counted_;
  counted.clear();
  for (const RootTerm& term : sum) {
    const ProvenanceObject& object = object_of_root_[term.root];
    if (object.allocation == nullptr && object.symbol == nullptr) continue;
    const auto same = std::ranges::find_if(
        counted, [&](const CountedObject& one) { return is_same(one.object, object); });
    if (same == counted.end()) {
      counted.push_back({object, term.count});
    } else {
      same->count += term.count;
      same->object.is_sure |= object.is_sure;
    }
  }
  std::erase_if(counted, [](const CountedObject& one) { return one.count == 0; });
}

// Returns the object whose address the root holds; nothing: it holds no address.
ProvenanceObject ProvenanceObjects::object_of(const Root& root) const {
  const Launch& launch = launch_.request();
  ProvenanceObject object;
  std::uint64_t address = 0;
  if (root.kind == Root::Kind::shared) {
    const std::uint32_t dynamic_end =
        launch_.program().dynamic_shared_offset + launch.dynamic_shared_bytes;
    object.symbol = &launch_.program().shared_symbols[root.index];
    object.begin = object.symbol->offset;
    object.end = object.symbol->bytes == 0 ? dynamic_end : object.begin + object.symbol->bytes;
    return object;
  }
  if (root.kind == Root::Kind::variable) {
    const AddressPatch& patch = launch_.program().patches[root.index];
    if (!patch.wide) return object;
    std::memcpy(&address, launch_.program().constants.data() + patch.constant_offset,
                sizeof address);
    object.allocation =
        launch_.memory().object_at(address - static_cast<std::uint64_t>(patch.addend));
    return object;
  }
  if (root.index + sizeof address > launch.parameters.size()) return object;
  std::memcpy(&address, launch.parameters.data() + root.index, sizeof address);
  object.allocation = launch_.memory().object_at(address);
  if (object.allocation == nullptr)
    object.allocation = launch_.memory().object_at(address - 1);  // the address of its end
  // Programs form one array from several adjacent mappings.
  if (object.allocation != nullptr && object.allocation->of_virtual) return {};
  object.is_sure = object.allocation != nullptr && object.allocation->address == address;
  // It may also be the end of the region before.
  if (object.is_sure && object.allocation->is_region) [[unlikely]] {
    const Allocation* const before = launch_.memory().object_at(address - 1);
    object.is_sure = before == nullptr || !before->is_region;
  }
  return object;
}

bool ProvenanceObjects::may_read_own_writes() const {
  return std::ranges::any_of(launch_.program().noncoherent_loads, [&](std::uint16_t load) {
    const Allocation* const read = meant_[load].allocation;
    return std::ranges::any_of(launch_.program().global_writes, [&](std::uint16_t write) {
      if (meant_[write].symbol != nullptr || meant_[write].frame != nullptr) return false;
      const Allocation* const written = meant_[write].allocation;
      return read == nullptr || written == nullptr || read == written;
    });
  });
}

bool ProvenanceObjects::begin_launch() {
  const Program& program = launch_.program();
  objects_.clear();
  for (const Root& root : program.roots) objects_.push_back(object_of(root));
  // Most launches of a trial are those of the trial before, with memory at the same addresses.
  const bool is_same =
      program.native != nullptr && program.native == are_of_ && objects_ == object_of_root_;
  if (is_same) {
    std::ranges::copy(at_begin_, meant_.begin());
    return true;
  }
  are_of_ = program.native;
  object_of_root_ = objects_;
  find_meant();
  const bool keeps_shared = std::ranges::equal(at_begin_, meant_, is_same_in_shared);
  at_begin_ = meant_;
  return keeps_shared;
}

void ProvenanceObjects::find_meant() {
  meant_.clear();
  for (const Provenance& provenance : launch_.program().provenances) {
    meant_.push_back(object_of(provenance));
  }
}

// Returns no object if none is known.
ProvenanceObject ProvenanceObjects::object_of(const Provenance& provenance) {
  if (provenance.frame != ptx::kNone) {
    const FunctionCode& function = launch_.program().functions[provenance.frame];
    ProvenanceObject object;
    if (function.local_begin == ptx::kNone) return object;
    object.frame = &function;
    object.begin = function.local_begin;
    object.end = object.begin + function.variable_bytes;
    return object;
  }
  const bool is_root = provenance.differences.empty() && provenance.sum.size() == 1 &&
                       provenance.sum.front().count == 1;
  if (is_root) {  // the most frequent case
    const ProvenanceObject& object = object_of_root_[provenance.sum.front().root];
    return object.allocation != nullptr || object.symbol != nullptr ? object : ProvenanceObject{};
  }
  const bool is_clear = std::ranges::all_of(provenance.differences, [&](const RootSum& sum) {
    count_objects(sum);
    return counted_.empty();
  });
  if (is_clear) count_objects(provenance.sum);
  const bool is_one = is_clear && counted_.size() == 1 && counted_.front().count == 1;
  return is_one ? counted_.front().object : ProvenanceObject{};
}

}  // namespace warpcheck::vgpu
