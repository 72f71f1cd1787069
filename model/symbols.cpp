#include "model/symbols.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warpcheck::model {

const NamedLocation& Symbols::declare(const std::string& name, unsigned elements) {
  const auto [at, is_new] = locations_.try_emplace(name);
  NamedLocation& location = at->second;
  if (!is_new) return location;
  location = {reserve(), elements, Proxy::generic};
  for (unsigned element = 0; element < elements; ++element) {
    test_.addresses[location.address + element * kElementBytes] =
        static_cast<unsigned>(test_.cells.size());
    test_.cells.push_back({elements == 1 ? name : fmt::format("{}[{}]", name, element), 0});
  }
  return location;
}

// Two generic names are two virtual addresses of one memory location (PTX ISA 8.2.2); a texture,
// surface or constant is the same virtual address, accessed by another proxy.
const NamedLocation& Symbols::alias(const std::string& name, const std::string& of, Proxy proxy) {
  NamedLocation location = declare(of);
  location.proxy = proxy;
  if (proxy == Proxy::generic) {
    const std::int64_t base = reserve();
    for (unsigned element = 0; element < location.elements; ++element) {
      test_.addresses[base + element * kElementBytes] =
          test_.addresses.at(location.address + element * kElementBytes);
    }
    location.address = base;
  }
  return locations_[name] = location;
}

const NamedLocation* Symbols::find(const std::string& name) const {
  const auto at = locations_.find(name);
  return at == locations_.end() ? nullptr : &at->second;
}

unsigned Symbols::register_of(Thread& thread, const std::string& name) {
  const auto at = std::ranges::find(thread.registers, name);
  if (at != thread.registers.end()) return static_cast<unsigned>(at - thread.registers.begin());
  thread.registers.push_back(name);
  thread.initial.push_back(0);
  return static_cast<unsigned>(thread.registers.size() - 1);
}

bool Symbols::has_register(const Thread& thread, const std::string& name) {
  return std::ranges::find(thread.registers, name) != thread.registers.end();
}

}  // namespace warpcheck::model
