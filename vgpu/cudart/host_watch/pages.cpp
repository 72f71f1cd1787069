#include "vgpu/cudart/host_watch/pages.hpp"

#include <sys/mman.h>

#include <algorithm>

namespace warpcheck::cudart {

bool Pages::is_in(const Ranges& ranges, std::uint64_t page) {
  const auto after = std::ranges::upper_bound(ranges, page, {}, &AddressRange::begin);
  return after != ranges.begin() && page < std::prev(after)->end;
}

// Adjacent ranges are merged.
void Pages::insert(Ranges& ranges, AddressRange range) {
  auto first = std::ranges::lower_bound(ranges, range.begin, {}, &AddressRange::end);
  auto last = first;
  for (; last != ranges.end() && last->begin <= range.end; ++last) {
    range.begin = std::min(range.begin, last->begin);
    range.end = std::max(range.end, last->end);
  }
  ranges.insert(ranges.erase(first, last), range);
}

// Every change may split a mapping of the kernel, and a process has a limited number of mappings.
void Pages::protect(const AddressRange& range, int protection) const {
  void* const begin = reinterpret_cast<void*>(range.begin);
  if (::mprotect(begin, range.end - range.begin, protection) != 0) has_failed_ = true;
}

void Pages::take(const AddressRange& range) {
  const AddressRange whole{page_of(range.begin), page_of(range.end + kBytes - 1)};
  const auto known = std::ranges::upper_bound(taken_, whole.begin, {}, &AddressRange::begin);
  if (known != taken_.begin() && whole.end <= std::prev(known)->end) return;
  insert(taken_, whole);
  protect(whole, PROT_NONE);
}

void Pages::take_freed(const AddressRange& range) {
  const AddressRange whole{page_of(range.begin), page_of(range.end + kBytes - 1)};
  insert(freed_, whole);
  protect(whole, PROT_NONE);
}

void Pages::take_again() {
  constexpr std::size_t kFew = 64;
  if (all_given_ || given_.size() > kFew) {
    for (const AddressRange& range : taken_) protect(range, PROT_NONE);
  } else {
    for (const auto& [page, sees_writes] : given_) {
      if (is_taken(page)) protect({page, page + kBytes}, PROT_NONE);
    }
  }
  all_given_ = false;
  given_.clear();
  counts_.clear();
}

void Pages::give_all_for_now() {
  for (const AddressRange& range : taken_) protect(range, PROT_READ | PROT_WRITE);
  all_given_ = true;
}

void Pages::give_all() {
  give_all_for_now();
  taken_.clear();
  take_again();
}

void Pages::forget_all() {
  taken_.clear();
  freed_.clear();
  take_again();
}

bool Pages::give_unknown(std::uint64_t page) {
  return ::mprotect(reinterpret_cast<void*>(page), kBytes, PROT_READ | PROT_WRITE) == 0;
}

void Pages::lend(std::uint64_t page) const {
  protect({page, page + kBytes}, PROT_READ | PROT_WRITE);
}

void Pages::give(std::uint64_t page) {
  lend(page);
  given_[page] = false;
}

void Pages::give_reads(std::uint64_t page) {
  protect({page, page + kBytes}, PROT_READ);
  given_[page] = true;
}

void Pages::take_back(std::uint64_t page) {
  if (all_given_ || !is_taken(page)) return;
  const auto given = given_.find(page);
  if (given != given_.end() && !given->second) return;
  protect({page, page + kBytes}, given == given_.end() ? PROT_NONE : PROT_READ);
}

}  // namespace warpcheck::cudart
