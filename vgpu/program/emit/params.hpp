// The places of `.param` variables: those of a function, and those of the calls that it makes.
//
// They are word rows from the start of a function's frame, with the results first.  A caller writes
// them directly after its own frame, where the callee's frame begins.  PTX ISA 7.1.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "vgpu/program/emit/context.hpp"
#include "vgpu/program/emit/frame.hpp"

namespace warpcheck::vgpu {

// Until the frame's size is known, word rows after it are marked: kOutgoingRow in row numbers,
// kOutgoing in offsets.
inline constexpr std::uint32_t kOutgoingRow = 0x4000'0000u;
inline constexpr std::uint32_t kOutgoing = 0x8000'0000u;

struct ParamRows {
  std::vector<std::uint32_t> result_row, parameter_row;
  std::uint32_t rows = 0;
};
// variadic_bytes: the size of a parameter whose declaration does not give it.
ParamRows lay_out_param_rows(const CallShape& shape, std::uint64_t variadic_bytes);
// Returns the rows of a device function; a kernel's parameters are not rows.
ParamRows param_rows_of(const ptx::Function& function, const Layout& layout);

class ParamPlaces {
 public:
  // Reserves rows and local memory of the frame for the arguments of builtins, and for parameters
  // whose address is taken.
  ParamPlaces(const FunctionContext& context, Frame& frame);

  // Returns the word row at which a variable begins; none: no call uses it.
  [[nodiscard]] std::optional<std::uint32_t> row_of(const ptx::VariableRef& ref) const;
  // The place of a result or an argument of a call.
  struct Passed {
    std::uint32_t row = 0, words = 0;
    ptx::Type type{};  // of a constant that is given
  };
  // list: the operand of the call, 0 (results) or 2 (arguments); part: the position in it
  [[nodiscard]] const Passed& passed(const ptx::Instruction& call, std::size_t list,
                                     std::size_t part) const {
    return passed_.at({context_.position_of(call), list, part});
  }
  // Returns the offset in local memory of a parameter whose address is taken.
  [[nodiscard]] std::optional<std::uint32_t> local_offset(const ptx::VariableRef& ref) const;
  struct InMemory {
    std::uint32_t local_offset = 0, row = 0, words = 0;
  };
  // Returns the parameters that are copied to local memory when the function is entered.
  [[nodiscard]] std::vector<InMemory> in_memory() const;
  // Returns the number of rows after the frame that calls write.
  [[nodiscard]] std::uint32_t outgoing_words() const { return outgoing_words_; }

 private:
  void place_calls(Frame& frame);
  void place_parameters_with_address(Frame& frame);
  void bind_outgoing(const ptx::Instruction& call, const CallShape& shape,
                     const std::string& callee);
  void place_builtin(const ptx::Instruction& call, const Builtin& builtin, Frame& frame);
  void place_variables(Frame& frame);
  [[nodiscard]] std::vector<std::uint32_t> count_interruptions() const;
  [[nodiscard]] std::uint64_t bytes_given(const ptx::Instruction& call, std::size_t list,
                                          std::size_t at) const;
  [[nodiscard]] std::uint64_t bytes_of(const ptx::Variable& parameter) const;

  FunctionContext context_;
  ParamRows own_;
  // Local index -> row of a call's `.param` variable: in the callee's frame (marked), or in this
  // frame.
  std::map<std::uint32_t, std::uint32_t> outgoing_row_;
  // Of each result and argument of a call, by the call's position, its list, and the position in
  // that.
  std::map<std::tuple<std::uint32_t, std::size_t, std::size_t>, Passed> passed_;
  std::map<std::uint32_t, std::uint32_t> parameter_offset_;  // by parameter, in local memory
  std::uint32_t outgoing_words_ = 0;
};

}  // namespace warpcheck::vgpu
