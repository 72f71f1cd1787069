#include "vgpu/check/weak/locations.hpp"

namespace warpcheck::vgpu {

std::uint32_t* Locations::head_of(std::uint32_t id, std::uint32_t offset) {
  if (id >= of_.size()) return nullptr;
  const std::uint32_t granule = offset / kGranuleBytes, page = granule / kPageGranules;
  std::vector<std::unique_ptr<Page>>& pages = of_[id].pages;
  if (page >= pages.size() || pages[page] == nullptr) return nullptr;
  return &(*pages[page])[granule % kPageGranules];
}

std::uint32_t Locations::take() {
  if (free_ != 0) {
    const std::uint32_t number = free_;
    free_ = at(number).next;
    return number;
  }
  const std::uint32_t number = ++taken_;
  if (number / kShelfLocations >= pool_.size()) pool_.push_back(std::make_unique<Shelf>());
  at(number).writes.reserve(2);  // the initial bytes, and the first write
  return number;
}

void Locations::release(std::uint32_t number) {
  Location& location = at(number);
  location.writes.clear();
  location.made = location.strong_made = 0;
  location.next = free_;
  free_ = number;
  --count_;
}

Locations::Location* Locations::find(std::uint32_t id, std::uint32_t offset, std::uint32_t bytes) {
  std::uint32_t* link = head_of(id, offset);
  if (link == nullptr) return nullptr;
  while (*link != 0) {
    const std::uint32_t number = *link;
    Location& location = at(number);
    // Locations overlap no others: before one is made, those that it would overlap are forgotten.
    if (location.offset == offset && location.bytes == bytes) return &location;
    if (location.offset < offset + bytes && offset < location.offset + location.bytes) {
      *link = location.next;
      release(number);
      continue;
    }
    link = &location.next;
  }
  return nullptr;
}

Locations::Location& Locations::make(std::uint32_t id, std::uint32_t offset, std::uint32_t bytes) {
  if (id >= of_.size()) of_.resize(id + 1);
  Pages& of = of_[id];
  const std::uint32_t granule = offset / kGranuleBytes, page = granule / kPageGranules;
  if (page >= of.pages.size()) {
    of.pages.resize(page + 1);
    of.is_used.resize(page + 1);
  }
  if (of.pages[page] == nullptr) of.pages[page] = std::make_unique<Page>();
  if (of.is_used[page] == 0) {
    of.is_used[page] = 1;
    of.used.push_back(page);
  }
  const std::uint32_t number = take();
  ++count_;
  std::uint32_t& head = (*of.pages[page])[granule % kPageGranules];
  Location& location = at(number);
  location.offset = offset;
  location.bytes = bytes;
  location.next = head;
  head = number;
  return location;
}

void Locations::drop(std::uint32_t id, const Location& location) {
  std::uint32_t* link = head_of(id, location.offset);
  while (&at(*link) != &location) link = &at(*link).next;
  const std::uint32_t number = *link;
  *link = location.next;
  release(number);
}

void Locations::forget(std::uint32_t id) {
  if (id >= of_.size()) return;
  Pages& of = of_[id];
  for (const std::uint32_t page : of.used) {
    for (std::uint32_t& head : *of.pages[page]) {
      while (head != 0) {
        const std::uint32_t number = head;
        head = at(number).next;
        release(number);
      }
    }
    of.is_used[page] = 0;
  }
  of.used.clear();
}

void Locations::clear() {
  for (std::uint32_t id = 0; id < of_.size(); ++id) forget(id);
}

}  // namespace warpcheck::vgpu
