#include "vgpu/cudart/parallel/reduced_pages.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "vgpu/machine/access.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::cudart {
namespace {

using ptx::AtomOp;
using ptx::Type;

static_assert(vgpu::ReductionPages::kPageBytes == kParallelPageBytes);
constexpr std::size_t kPagesKept = 4096;
constexpr std::size_t kKindsMax = 255;

// Calls use(T{}) with the type of a reduction's elements.
template <typename Use>
void with_elements(Type type, Use use) {
  switch (type) {
    case Type::s32: return use(std::int32_t{});
    case Type::s64: return use(std::int64_t{});
    case Type::u64:
    case Type::b64: return use(std::uint64_t{});
    default: return use(std::uint32_t{});
  }
}

// Returns the neutral element of the operation.
template <typename T>
T neutral(AtomOp operation) {
  switch (operation) {
    case AtomOp::min: return std::numeric_limits<T>::max();
    case AtomOp::max: return std::numeric_limits<T>::min();
    case AtomOp::and_: return static_cast<T>(-1);
    default: return 0;
  }
}

template <typename T>
T combined(AtomOp operation, T a, T b) {
  using Unsigned = std::make_unsigned_t<T>;
  switch (operation) {
    case AtomOp::min: return std::min(a, b);
    case AtomOp::max: return std::max(a, b);
    case AtomOp::and_: return a & b;
    case AtomOp::or_: return a | b;
    case AtomOp::xor_: return a ^ b;
    default: return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
  }
}

// Returns whether the scope includes all blocks.  A narrower scope covers only accesses of threads
// in the same block.
bool is_of_all_blocks(const vgpu::Instr& instr) {
  const ptx::Scope scope = vgpu::scope_of(instr);
  return scope == ptx::Scope::gpu || scope == ptx::Scope::sys;
}

}  // namespace

Reductions::Reductions(const vgpu::Program& program) : kind_of_pc_(program.code.size()) {
  std::vector<bool> unused;
  for (std::uint32_t pc = 0; pc < program.code.size(); ++pc) {
    const vgpu::Instr& instr = program.code[pc];
    const std::optional<vgpu::Reduction> reduction = vgpu::reduction_of(instr);
    if (!reduction || !is_of_all_blocks(instr) || vgpu::orders_memory(instr)) continue;
    if (unused.empty()) unused = vgpu::unused_old_values(program);
    if (!unused[pc]) continue;
    const auto known = std::ranges::find(kinds_, *reduction);
    if (known == kinds_.end() && kinds_.size() == kKindsMax) continue;
    kind_of_pc_[pc] = static_cast<std::uint8_t>(known - kinds_.begin() + 1);
    if (known == kinds_.end()) kinds_.push_back(*reduction);
  }
}

void ReducedPages::begin(const Reductions& reductions, vgpu::SharedGrid& grid) {
  reductions_ = &reductions;
  grid_ = &grid;
}

std::byte* ReducedPages::page_of(const vgpu::Allocation& allocation, std::uint32_t page,
                                 std::uint32_t pc) {
  const std::uint8_t kind = reductions_->kind_at(pc);
  if (kind == 0) return nullptr;  // on_access() has given the launch up
  if (allocation.id >= page_numbers_.size()) page_numbers_.resize(allocation.id + 1);
  std::vector<std::uint32_t>& numbers = page_numbers_[allocation.id];
  const std::uint64_t pages = (allocation.bytes + kPageBytes - 1) / kPageBytes;
  if (numbers.size() != pages) numbers.assign(pages, kNoPage);
  std::uint32_t& number = numbers[page];
  if (number != kNoPage) {
    if (pages_[number].kind == kind) return pages_[number].bytes;
    grid_->give_up();
    return nullptr;
  }
  if (!saved_.count_bytes(kPageBytes)) {
    grid_->give_up();
    return nullptr;
  }
  number = static_cast<std::uint32_t>(pages_.size());
  if (number == memory_.size()) memory_.push_back(std::make_unique_for_overwrite<Bytes>());
  std::byte* const bytes = memory_[number]->data();
  pages_.push_back({&allocation, page, kind, bytes});
  const vgpu::Reduction& reduction = (*reductions_)[kind];
  with_elements(reduction.type, [&](auto element) {
    element = neutral<decltype(element)>(reduction.operation);
    for (std::size_t at = 0; at < kPageBytes; at += sizeof element) {
      std::memcpy(bytes + at, &element, sizeof element);
    }
  });
  return bytes;
}

std::uint8_t ReducedPages::kind_of(std::uint32_t allocation_id, std::uint32_t page) const {
  if (allocation_id >= page_numbers_.size()) return 0;
  const std::vector<std::uint32_t>& numbers = page_numbers_[allocation_id];
  if (page >= numbers.size()) return 0;
  const std::uint32_t number = numbers[page];
  return number == kNoPage ? 0 : pages_[number].kind;
}

void ReducedPages::combine() const {
  for (const Page& page : pages_) {
    const vgpu::Reduction& reduction = (*reductions_)[page.kind];
    const std::uint64_t begin = std::uint64_t{page.number} * kPageBytes;
    const std::uint64_t bytes = std::min<std::uint64_t>(kPageBytes, page.allocation->bytes - begin);
    with_elements(reduction.type, [&](auto element) {
      using T = decltype(element);
      for (std::size_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
        std::byte* const place = page.allocation->data + begin + at;
        T found, own;
        std::memcpy(&found, place, sizeof(T));
        std::memcpy(&own, page.bytes + at, sizeof(T));
        found = combined(reduction.operation, found, own);
        std::memcpy(place, &found, sizeof(T));
      }
    });
  }
}

void ReducedPages::clear() {
  for (const Page& page : pages_) page_numbers_[page.allocation->id][page.number] = kNoPage;
  pages_.clear();
  if (memory_.size() > kPagesKept) memory_.resize(kPagesKept);
}

}  // namespace warpcheck::cudart
