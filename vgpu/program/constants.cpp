#include <cxxabi.h>

#include <algorithm>
#include <cstring>

#include <cstdlib>
#include <memory>

#include "vgpu/program/emit.hpp"

namespace warpcheck::vgpu {

Ref ConstantRows::append(std::uint64_t value, bool is_wide) {
  const Ref ref{Bank::constant, static_cast<std::uint32_t>(program_.constants.size())};
  const std::size_t width = is_wide ? 8 : 4;
  program_.constants.resize(program_.constants.size() + width * kWarpLanes);
  std::byte* row = program_.constants.data() + ref.offset;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    std::memcpy(row + lane * width, &value, width);
  }
  return ref;
}

Ref ConstantRows::word(std::uint32_t value) {
  const auto [row, is_new] = rows_.try_emplace({value, false});
  if (is_new) row->second = append(value, false);
  return row->second;
}

Ref ConstantRows::wide(std::uint64_t value) {
  const auto [row, is_new] = rows_.try_emplace({value, true});
  if (is_new) row->second = append(value, true);
  return row->second;
}

Ref ConstantRows::address(std::uint32_t variable, std::int64_t addend, bool is_wide) {
  const auto [row, is_new] = addresses_.try_emplace({variable, {addend, is_wide}});
  if (is_new) {
    row->second = append(0, is_wide);
    const auto patch = static_cast<std::uint32_t>(program_.patches.size());
    program_.patches.push_back({row->second.offset, variable, addend, is_wide});
    const std::uint32_t first = first_patch_.try_emplace(variable, patch).first->second;
    roots_[row->second.offset] = {Root::Kind::variable, first};
  }
  return row->second;
}

Ref ConstantRows::shared(std::uint32_t symbol, std::uint64_t value, bool is_wide) {
  const auto [row, is_new] = shared_.try_emplace({symbol, {value, is_wide}});
  if (is_new) {
    row->second = append(value, is_wide);
    roots_[row->second.offset] = {Root::Kind::shared, symbol};
  }
  return row->second;
}

const Root* ConstantRows::root_of(const Ref& row) const {
  if (row.bank != Bank::constant) return nullptr;
  const auto found = roots_.find(row.offset);
  return found == roots_.end() ? nullptr : &found->second;
}

ptx::SourceLocation Program::report_location(std::uint32_t pc) const {
  const auto in_toolkit = [&](const ptx::SourceLocation& place) {
    if (place.file >= files.size()) return true;
    const std::string& file = files[place.file];
    return file.find("/cuda") != std::string::npos && file.find("/include/") != std::string::npos;
  };
  const ptx::SourceLocation innermost = source_of(pc).location;
  ptx::SourceLocation place = innermost;
  while (in_toolkit(place) && place.inlined_at < locations.size()) {
    place = locations[place.inlined_at];
  }
  return in_toolkit(place) ? innermost : place;
}

std::uint32_t Program::function_of(std::uint32_t pc) const {
  const auto after = std::ranges::upper_bound(functions, pc, {}, &FunctionCode::entry);
  return static_cast<std::uint32_t>(after - functions.begin()) - 1;
}

std::string demangled_variable(const std::string& name) {
  if (!name.starts_with("_Z")) return name;  // `s` alone would read as the type short
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0 || demangled == nullptr) return name;
  const std::string_view full(demangled.get());
  const std::size_t scope = full.rfind("::");
  return std::string(scope == std::string_view::npos ? full : full.substr(scope + 2));
}

}  // namespace warpcheck::vgpu
