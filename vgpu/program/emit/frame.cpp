#include "vgpu/program/emit/frame.hpp"

#include <algorithm>

namespace warpcheck::vgpu {

Frame::Frame(const ptx::Function& function, std::uint32_t param_rows) : words_(param_rows) {
  for (const ptx::Register& reg : function.registers) {
    const std::uint32_t bytes = ptx::bytes_of(reg.type);
    if (reg.type == ptx::Type::pred) {
      rows_.push_back(rows(Bank::predicate, 1));
    } else if (bytes <= 4) {
      rows_.push_back(rows(Bank::word, 1));
    } else {
      rows_.push_back(rows(Bank::wide, bytes == 8 ? 1 : 2));
    }
  }
  for (std::uint32_t i = 0; i < function.locals.size(); ++i) {
    const ptx::Variable& local = function.locals[i];
    if (local.space != ptx::Space::local) continue;
    local_offset_[i] = take_local(local.bytes, local.alignment);
  }
}

Ref Frame::rows(Bank bank, std::uint32_t count) {
  const auto take = [&](std::uint32_t& rows, std::uint32_t row_bytes) {
    const std::uint32_t first = rows;
    rows += count;
    return first * row_bytes;
  };
  switch (bank) {
    case Bank::wide: return {bank, take(wides_, kWideRowBytes)};
    case Bank::predicate: return {bank, take(predicates_, 4)};
    default: return {Bank::word, take(words_, kWordRowBytes)};
  }
}

Ref Frame::carry() {
  if (carry_.bank == Bank::none) carry_ = temporary(Bank::predicate);
  return carry_;
}

std::uint32_t Frame::take_local(std::uint64_t bytes, std::uint32_t alignment) {
  alignment = std::max(alignment, 1u);
  const std::uint32_t begin = (local_bytes_ + alignment - 1) / alignment * alignment;
  local_bytes_ = begin + static_cast<std::uint32_t>(bytes);
  return begin;
}

void Frame::describe(FunctionCode& code) const {
  code.words = words_max();
  code.wides = wides_;
  code.predicates = predicates_;
  code.variable_bytes = local_bytes_;
  code.local_bytes = (local_bytes_ + 15) / 16 * 16;
}

}  // namespace warpcheck::vgpu
