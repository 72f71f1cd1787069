#include "harness/pair/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vgpu/text/nearest_word.hpp"

namespace warpcheck {
namespace {

void check_required_classes(const AnyPair& pair) {
  if (pair.required_classes().empty()) return;
  const std::vector<std::string> known = pair.class_names();
  for (const std::string& name : pair.required_classes()) {
    if (std::ranges::find(known, name) != known.end()) continue;
    throw RegistryError(fmt::format(
        "pair '{}' requires the class '{}', which its inputs do not have", pair.name(), name));
  }
}

}  // namespace

Registry& Registry::global() {
  static Registry registry;
  return registry;
}

void Registry::add(std::unique_ptr<AnyPair> pair) {
  owned_.push_back(std::move(pair));
  resolved_ = false;
}

void Registry::add_property(std::string pair, PropertyEntry property) {
  pending_.push_back({std::move(pair), std::move(property)});
  resolved_ = false;
}

void Registry::resolve() {
  std::ranges::sort(owned_, {},
                    [](const auto& pair) -> const std::string& { return pair->name(); });
  for (std::size_t i = 0; i < owned_.size(); ++i) {
    AnyPair& pair = *owned_[i];
    if (i > 0 && owned_[i - 1]->name() == pair.name()) {
      throw RegistryError(fmt::format("two pairs are named '{}'", pair.name()));
    }
    pair.expects_.clear();
    for (const std::string& name : pair.declared_expectations()) {
      vgpu::FindingKind kind{};
      if (!vgpu::find_kind(name, kind)) {
        throw RegistryError(
            fmt::format("pair '{}' expects '{}', which is no finding kind", pair.name(), name));
      }
      pair.expects_.push_back(kind);
    }
    std::ranges::sort(pair.expects_);
    check_required_classes(pair);
  }
  for (PendingProperty& pending : pending_) {
    const auto found =
        std::ranges::find(owned_, pending.pair, [](const auto& pair) { return pair->name(); });
    if (found == owned_.end()) {
      throw RegistryError(fmt::format("property '{}' is of pair '{}', which is not there",
                                      pending.property.name, pending.pair));
    }
    (*found)->properties_.push_back(std::move(pending.property));
  }
  pending_.clear();
  sorted_.clear();
  for (const auto& pair : owned_) {
    std::ranges::sort(pair->properties_, {}, &PropertyEntry::name);
    sorted_.push_back(pair.get());
  }
  resolved_ = true;
}

const std::vector<const AnyPair*>& Registry::pairs() {
  if (!resolved_) resolve();
  return sorted_;
}

const AnyPair* Registry::find(std::string_view name) {
  const auto& all = pairs();
  const auto found = std::ranges::find(
      all, name, [](const AnyPair* pair) -> std::string_view { return pair->name(); });
  return found == all.end() ? nullptr : *found;
}

std::string Registry::is_it(std::string_view name) {
  std::vector<std::string> names;
  for (const AnyPair* pair : pairs()) names.push_back(pair->name());
  return warpcheck::is_it(name, names);
}

}  // namespace warpcheck
