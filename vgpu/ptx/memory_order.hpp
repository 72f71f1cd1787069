// What a memory order does to other memory (PTX ISA 8.4, 8.8).
#pragma once

#include "vgpu/ptx/vocabulary.hpp"

namespace warpcheck::ptx {

constexpr bool acquires(Order order) {
  return order == Order::acquire || order == Order::acq_rel || order == Order::sc;
}
constexpr bool releases(Order order) {
  return order == Order::release || order == Order::acq_rel || order == Order::sc;
}

}  // namespace warpcheck::ptx
