// Batches whose matrices are given by arrays of pointers on the device.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "vgpu/libraries/cublas/call.hpp"

namespace warpcheck::libraries::cublas {

enum class Use : std::uint8_t { none, read, write, update };

struct BatchOf {
  std::string name;  // "Aarray"
  const void* pointers = nullptr;
  Use use = Use::read;
  // Returns the region of one element of the batch, by its name and address.
  std::function<Region(const char*, void*)> region;
};

class Batch {
 public:
  // Must be created after all other regions of the operation.
  Batch(Operation& operation, std::int64_t count, std::vector<BatchOf> all)
      : each_(all.size()), first_(operation.regions() + all.size()) {
    const std::size_t arrays = operation.regions();
    for (const BatchOf& one : all) {
      Region region = array(one.name, one.pointers, sizeof(void*), count);
      region.addresses = true;
      if (one.use == Use::none) region.height = 0;
      operation.read(std::move(region));
    }
    operation.expands([=](const Views& views, Operation::More& more) {
      for (std::int64_t i = 0; i < count; ++i) {
        for (std::size_t which = 0; which < all.size(); ++which) {
          const BatchOf& one = all[which];
          void** const pointers = views.data<void*>(arrays + which);
          const std::string name = fmt::format("{}[{}]", one.name, i);
          Region region = one.region(name.c_str(), pointers == nullptr ? nullptr : pointers[i]);
          switch (one.use) {
            case Use::none: region.height = 0; [[fallthrough]];
            case Use::read: more.read(std::move(region)); break;
            case Use::write: more.write(std::move(region)); break;
            case Use::update: more.update(std::move(region)); break;
          }
        }
      }
    });
  }
  // Returns the region number of element i in the array number `which`.
  [[nodiscard]] std::size_t region(std::int64_t i, std::size_t which) const {
    return first_ + static_cast<std::size_t>(i) * each_ + which;
  }

 private:
  std::size_t each_, first_;
};

}  // namespace warpcheck::libraries::cublas
