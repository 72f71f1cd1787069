// A call of a library function (library_interface.hpp) as an operation of a stream or a node of a
// graph.
#pragma once

#include <memory>
#include <vector>

#include "vgpu/check/operand.hpp"
#include "vgpu/cudart/libraries/library_interface.hpp"

namespace warpcheck::cudart {

class LibraryCall {
 public:
  // Takes ownership of the request's state.
  explicit LibraryCall(const LibraryRequest& request);
  ~LibraryCall();
  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;

  [[nodiscard]] const char* function() const { return request_.function; }
  // An operand with its own copy of its name.
  struct Operand {
    LibraryRegion region;  // its name is the other's
    std::shared_ptr<const vgpu::LibraryOperand> reported_as;
  };
  [[nodiscard]] const std::vector<Operand>& operands() const { return operands_; }
  // Returns the operands that the contents of operands() lead to.
  [[nodiscard]] std::vector<Operand> expand(const LibraryView* views) const;
  void compute(const LibraryView* views) const { request_.compute(request_.state, views); }

 private:
  [[nodiscard]] Operand operand_of(const LibraryRegion& region, std::size_t number) const;

  LibraryRequest request_;
  std::shared_ptr<const std::vector<const void*>> callers_;
  std::vector<Operand> operands_;
};

}  // namespace warpcheck::cudart
