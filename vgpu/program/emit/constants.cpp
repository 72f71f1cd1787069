#include "vgpu/program/emit/constants.hpp"

#include <cstring>

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

}  // namespace warpcheck::vgpu
