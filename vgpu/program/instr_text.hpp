// The text of decoded instructions and of the values of their operands, for listings and traces.
//
// The text is that of PTX with the names of its registers, but of what the machine executes: one
// PTX instruction may be several decoded ones, whose mnemonics are all its own.  A row that the
// decoder has added, and the rows of parameters, have names of their own: %w3 (32 bits), %x3 (64
// bits), %q3 (predicates), by their place in the frame.
//
// The module of the program must still exist (FunctionCode::text).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

class InstrText {
 public:
  explicit InstrText(const Program& program) : program_(program) {}

  // Returns "@%p1 ld.shared.u32 %r4, [%r2+-4]".  The target of a branch is its pc: "bra -> 12".
  [[nodiscard]] std::string of(std::uint32_t pc);

  // A register that the instruction reads or writes, each once.
  struct Operand {
    Ref row;
    std::string name;
    bool is_written = false;
    bool is_address = false;
    ptx::Type type = ptx::Type::none;  // of its values; none: raw bits
    std::uint32_t bytes = 4;           // as declared: a row may be wider than its register
  };
  // In the order of the text; first a guard, last those that are written.  The registers of calls
  // and of matrices are left out.
  [[nodiscard]] std::vector<Operand> operands_of(std::uint32_t pc);

  // Returns the text of a lane's value: "-3", "1.5", "{1, 0.5}" of two halves,
  // "0x7f0000000100", "true".
  [[nodiscard]] static std::string value(const LaneBanks& registers, const Operand& operand,
                                         unsigned lane);

 private:
  struct Named {
    std::string name;
    std::uint32_t bytes = 0;
  };
  using Names = std::map<std::pair<Bank, std::uint32_t>, Named>;
  const Names& names_of(std::uint32_t function);
  std::string name_of(std::uint32_t pc, const Ref& row, ptx::Type type);
  std::uint32_t bytes_of(std::uint32_t pc, const Ref& row);
  std::string list(std::uint32_t pc, const std::vector<Ref>& rows, ptx::Type type);
  std::string constant(const Ref& row, ptx::Type type) const;
  std::string address(std::uint32_t pc, const Ref& row);
  std::string rest_of(std::uint32_t pc);
  std::string results_and_sources(std::uint32_t pc);
  std::string parameter(std::uint32_t pc) const;

  const Program& program_;
  std::map<std::uint32_t, Names> names_;  // by function
};

}  // namespace warpcheck::vgpu
