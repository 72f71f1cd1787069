// A kernel without host code as a pair without a reference: inputs are drawn from its description,
// and trials look for findings.
#pragma once

#include <vector>

#include "harness/kernel/kernel_description.hpp"
#include "harness/kernel/kernel_input.hpp"
#include "harness/pair/pair_without_reference.hpp"

namespace warpcheck {

class KernelPair final : public PairWithoutReference {
 public:
  explicit KernelPair(KernelDescription kernel);

  [[nodiscard]] const KernelDescription& kernel() const { return kernel_; }

  [[nodiscard]] std::string_view family() const override { return "kernels"; }
  [[nodiscard]] std::string_view origin() const override { return kernel_.file; }
  [[nodiscard]] AnyInput draw(Draw& draw) const override;
  [[nodiscard]] bool in_domain(const AnyInput& input) const override;
  [[nodiscard]] bool identical(const AnyInput& a, const AnyInput& b) const override;
  [[nodiscard]] InputSize size_of(const AnyInput& input) const override;
  [[nodiscard]] AnyInput from_json(const Json& json) const override;
  [[nodiscard]] AnyInput edited(const AnyInput& input, const InputEdit& edit) const override;
  std::optional<std::size_t> for_each_shrink_from(
      std::size_t first, const AnyInput& input, FunctionRef<bool(AnyInput)> accept) const override;
  [[nodiscard]] AnyOutput run_kernel(const AnyInput& input) const override;
  bool write_definition(Json& json, bool unoptimized) const override;

  // Launches the kernel on arrays that exist already.  Throws CudaError.
  void launch(const KernelInput& input, const std::vector<void*>& arrays) const;

 private:
  void write(Json& json, const AnyInput& input) const override;
  [[nodiscard]] AnyOutput run_sparsely(const KernelInput& input) const;

  KernelDescription kernel_;
  std::vector<bool> is_given_;  // of each scalar: by an equation
  const void* function_ = nullptr;
};

// The pair of a description; the same object for equal descriptions, for as long as the process
// lives.  Throws FieldError.
[[nodiscard]] const AnyPair& kernel_pair_of(const Json& description);

// Whether an input is one of a kernel's pair, and too large to run whole.
[[nodiscard]] bool is_sparse(const AnyPair& pair, const AnyInput& input);

// Bytes of device memory for an array of that length: more than its elements if it is open.
[[nodiscard]] std::uint64_t bytes_with_rest(const ArrayParameter& array, std::uint64_t length);

// Whether drawn blocks take an item each, and so cover small numbers alone.
[[nodiscard]] bool has_drawn_items(const LaunchRule& rule);
// Of a number, those that such blocks cover; all, if there are none.
[[nodiscard]] ValueRange coverable(const ValueRange& range);

// Draws scalars and a launch that satisfy the description, with arrays that are empty; lengths and
// contents follow.  False: what was drawn is outside the domain.
//   any_size: integers are drawn from the whole of their range, whatever the size of the draw
bool draw_shape(const KernelDescription& kernel, Draw& draw, KernelInput& input, bool any_size);
// Draws the contents of all arrays, which have their lengths.
void draw_contents(const KernelDescription& kernel, Draw& draw, KernelInput& input);
// Of one array.
void draw_contents_of(const KernelDescription& kernel, std::size_t array, Draw& draw,
                      KernelInput& input);

}  // namespace warpcheck
