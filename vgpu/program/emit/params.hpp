// Where `.param` variables lie: those of a function, and those of the calls that it makes.
//
// They are rows of words from the start of a function's frame, results first.  A caller writes them
// just beyond its own frame, where its callee's begins.  PTX ISA 7.1.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "vgpu/program/emit/context.hpp"
#include "vgpu/program/emit/frame.hpp"

namespace warpcheck::vgpu {

// Until the frame's size is known, rows of words beyond it are marked: kOutgoingRow in row numbers,
// kOutgoing in offsets.
inline constexpr std::uint32_t kOutgoingRow = 0x4000'0000u;
inline constexpr std::uint32_t kOutgoing = 0x8000'0000u;

struct ParamRows {
  std::vector<std::uint32_t> result_row, parameter_row;
  std::uint32_t rows = 0;
};
// variadic_bytes: of a parameter of which the declaration does not say the size.
ParamRows lay_out_param_rows(const CallShape& shape, std::uint64_t variadic_bytes);
// Of a device function; a kernel's parameters are no rows.
ParamRows param_rows_of(const ptx::Function& function, const Layout& layout);

class ParamPlaces {
 public:
  // Takes rows and local memory of the frame for what builtins are given, and for parameters whose
  // address is taken.
  ParamPlaces(const FunctionContext& context, Frame& frame);

  // The row of words at which a variable begins; none: no call uses it.
  [[nodiscard]] std::optional<std::uint32_t> row_of(const ptx::VariableRef& ref) const;
  // Where the frame's local memory has a parameter whose address is taken.
  [[nodiscard]] std::optional<std::uint32_t> local_offset(const ptx::VariableRef& ref) const;
  struct InMemory {
    std::uint32_t local_offset = 0, row = 0, words = 0;
  };
  // Parameters that are copied to local memory when the function is entered.
  [[nodiscard]] std::vector<InMemory> in_memory() const;
  // Rows beyond the frame that calls write.
  [[nodiscard]] std::uint32_t outgoing_words() const { return outgoing_words_; }

 private:
  void place_calls(Frame& frame);
  void place_parameters_with_address(Frame& frame);
  void bind_outgoing(const ptx::Instruction& call, const CallShape& shape,
                     const std::string& callee);
  void place_builtin(const ptx::Instruction& call, const Builtin& builtin, Frame& frame);
  [[nodiscard]] std::uint32_t param_local(const ptx::Instruction& call,
                                          const ptx::Operand& part) const;
  [[nodiscard]] std::uint64_t bytes_of(const ptx::Variable& parameter) const;

  FunctionContext context_;
  ParamRows own_;
  // Local index -> row of a call's `.param` variable: in the callee (marked), or, of a builtin, in
  // this frame.
  std::map<std::uint32_t, std::uint32_t> outgoing_row_;
  std::map<std::uint32_t, std::uint32_t> parameter_offset_;  // by parameter, in local memory
  std::uint32_t outgoing_words_ = 0;
};

}  // namespace warpcheck::vgpu
