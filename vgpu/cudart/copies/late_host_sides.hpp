// Copies that use memory of the program when they run in their stream, and not at their call: the
// program may change or free a source before it is read, and a target before it is written.
//
// CUDA Runtime API, "API synchronization behavior": an asynchronous copy takes bytes of pageable
// memory at its call, and one to pageable memory waits.  What is left are registered memory,
// batches of copies (cudaMemcpySrcAccessOrderStream and Any), and the copy nodes of graphs.  At the
// call a checksum of the source is taken, and when the copy runs, it is compared.  Where an
// operation that ran between the two may have written the source (a copy to the host, a host
// function, a kernel) or may have been the signal after which the program wrote it (a stream that
// waited for a value, a kernel that polled), nothing is known, and nothing is reported.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vgpu/cudart/copies/copy_sides.hpp"
#include "vgpu/cudart/copies/host_side_findings.hpp"
#include "vgpu/cudart/streams/work.hpp"

namespace warpcheck::cudart {

// What is known of a side at the call.
struct LateHostSide {
  std::uint64_t sum = 0;    // of the source
  std::uint64_t asked = 0;  // the number of writes to the host before
  // The stack of the calling thread, if the side is a local variable there; null: it is not.
  const std::byte *stack_begin = nullptr, *stack_end = nullptr;
  std::uintptr_t thread = 0;
};

class LateHostSides {
 public:
  // Nothing is owned.
  explicit LateHostSides(const CopySides& sides) : sides_(sides) {}

  // A call of a program requests the copy.
  void asked_for(CopyWork& work) const;
  // An operation has written these bytes of the host's memory; or it may have written any.
  void written(const std::byte* begin, std::size_t bytes);
  void anything_written() { written(nullptr, SIZE_MAX); }
  // All operations have run.
  void forget() { writes_.clear(); }

  // Returns whether a side is in the frame of a function that has returned.
  [[nodiscard]] bool frame_is_gone(const CopyWork& work, const Place& place) const;
  // Returns whether the program has changed the source since the call.
  //   from: the source now
  [[nodiscard]] bool has_changed(const CopyWork& work, const CopySide& from) const;

 private:
  struct Write {
    std::uint64_t number = 0;
    const std::byte* begin = nullptr;  // null: anything
    std::size_t bytes = 0;
  };

  const CopySides& sides_;
  std::vector<Write> writes_;
  std::uint64_t number_ = 0;
};

}  // namespace warpcheck::cudart
