// Edits of a parsed module: what its instructions and labels are afterwards.
#include "vgpu/ptx/edit/program_edit.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "vgpu/ptx/opcode.hpp"
#include "vgpu/ptx/parser_testing.hpp"

namespace warpcheck::ptx {
namespace {

// A loop: line 5 stores, line 6 loads; the loop's head is an instruction of line 5.
constexpr std::string_view kLoop =
    ".file 1 \"/src/kernels/a.cu\"\n"
    ".visible .entry k(.param .u64 p) { .reg .pred %p1; .reg .b32 %r<4>; .reg .b64 %rd<2>;\n"
    ".shared .u32 s[4];\n"
    ".loc 1 4 1\n mov.u32 %r1, 0;\n"
    "$L_head:\n"
    ".loc 1 5 1\n add.u32 %r1, %r1, 1;\n st.shared.u32 [s], %r1;\n"
    ".loc 1 6 1\n ld.shared.u32 %r2, [s+4];\n"
    ".loc 1 7 1\n setp.lt.u32 %p1, %r1, 9;\n @%p1 bra $L_head;\n"
    ".loc 1 8 1\n bar.sync 0;\n ret;\n}";

std::vector<std::string> texts_of(const Module& module) {
  std::vector<std::string> texts;
  for (const Instruction& instruction : module.functions.at(0).body) {
    texts.push_back(instruction.text);
  }
  return texts;
}

Module edited(const Edits& edits) {
  Module module = parse_text(kLoop);
  apply_edits(module, edits);
  return module;
}

ProgramEdit at(EditKind kind, std::uint32_t index, std::string text) {
  return {.kind = kind, .place = InstructionPlace{"k", index}, .text = std::move(text)};
}

ProgramEdit at_line(EditKind kind, std::uint32_t line, std::string text,
                    std::string mnemonic = {}) {
  return {.kind = kind,
          .place = LinePlace{.file = "kernels/a.cu",
                             .line = line,
                             .mnemonic = std::move(mnemonic),
                             .function = {}},
          .text = std::move(text)};
}

std::string error_of_edit(const ProgramEdit& edit) {
  try {
    edited({edit});
  } catch (const EditError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ProgramEdit, InsertedBeforeIsReachedByJumps) {
  const Module module = edited({at(EditKind::insert_before, 1, "bar.sync 0;")});
  EXPECT_EQ(texts_of(module)[1], "bar.sync");
  EXPECT_EQ(module.functions[0].labels.at(0).position, 1u);
  EXPECT_EQ(module.functions[0].body[1].location.line, 5u);
}

TEST(ProgramEdit, InsertedAfterIsPassedByJumps) {
  const Module module = edited({at(EditKind::insert_after, 0, "bar.sync 0;")});
  EXPECT_EQ(texts_of(module)[1], "bar.sync");
  EXPECT_EQ(module.functions[0].labels.at(0).position, 2u);
  EXPECT_EQ(module.functions[0].body[1].location.line, 4u);
}

TEST(ProgramEdit, SeveralEditsNameThePlacesOfTheOriginal) {
  const Module module = edited(
      {at(EditKind::remove, 6, ""), at(EditKind::insert_before, 1, "bar.sync 1;"),
       at(EditKind::insert_after, 2, "membar.cta;"), at(EditKind::replace, 3, "mov.u32 %r2, 7;")});
  EXPECT_EQ(texts_of(module),
            (std::vector<std::string>{"mov.u32", "bar.sync", "add.u32", "st.shared.u32",
                                      "membar.cta", "mov.u32", "setp.lt.u32", "bra", "ret"}));
  EXPECT_EQ(module.functions[0].labels.at(0).position, 1u);
}

TEST(ProgramEdit, NewStatementsUseNamesOfTheFunctionAndTheirOwn) {
  const Module module = edited(
      {at(EditKind::insert_before, 2,
          ".reg .pred %guard; setp.gt.u32 %guard, %r1, 3; @%guard bra $L_over; st.shared.u32 [s], "
          "%r1; $L_over:")});
  const Function& function = module.functions[0];
  ASSERT_EQ(function.labels.size(), 2u);
  EXPECT_EQ(function.labels[1].position, 5u);
  EXPECT_EQ(function.body[3].operands[0].index, 1u);  // $L_over
  EXPECT_EQ(function.registers.at(function.body[3].guard).name, "%guard");
  EXPECT_EQ(function.body[4].operands[0].variable.scope, VariableRef::Scope::local);
}

TEST(ProgramEdit, AStatementMayBranchToALabelOfTheFunction) {
  const Module module = edited({at(EditKind::insert_after, 6, "bra $L_head;")});
  EXPECT_EQ(module.functions[0].body[7].operands[0].index, 0u);
}

TEST(ProgramEdit, OfALineTheEndsOfEachStraightPieceAreMeant) {
  const Module after = edited({at_line(EditKind::insert_after, 5, "bar.sync 0;")});
  EXPECT_EQ(texts_of(after)[3], "bar.sync");
  EXPECT_EQ(texts_of(after).size(), 9u);
  const Module before = edited({at_line(EditKind::insert_before, 5, "bar.sync 0;")});
  EXPECT_EQ(texts_of(before)[1], "bar.sync");
  EXPECT_EQ(before.functions[0].labels[0].position, 1u);
}

TEST(ProgramEdit, RemovesByLineAndMnemonic) {
  EXPECT_EQ(texts_of(edited({at_line(EditKind::remove, 8, "", "bar.sync")})).back(), "ret");
  EXPECT_EQ(texts_of(edited({at_line(EditKind::remove, 8, "", "bar.sync")})).size(), 7u);
  EXPECT_EQ(texts_of(edited({at_line(EditKind::remove, 8, "", "membar")})).size(), 8u);
}

TEST(ProgramEdit, RespellsWithTheSameOperands) {
  const Module module = edited({at(EditKind::respell, 3, "ld.volatile.shared.u32")});
  const Instruction& load = module.functions[0].body[3];
  EXPECT_EQ(load.text, "ld.volatile.shared.u32");
  EXPECT_EQ(load.modifiers.order, Order::volatile_);
  EXPECT_EQ(load.operands.size(), 2u);
}

TEST(ProgramEdit, OfAnotherBuildOrFunctionOrFileChangesNothing) {
  Module module = parse_text(kLoop);
  ProgramEdit of_debug = at(EditKind::remove, 0, "");
  of_debug.build = EditedBuild::unoptimized;
  ProgramEdit of_other = at(EditKind::remove, 0, "");
  of_other.place = InstructionPlace{"other", 0};
  ProgramEdit of_file = at_line(EditKind::remove, 5, "");
  std::get<LinePlace>(of_file.place).file = "els/a.cu";  // no whole name
  EXPECT_EQ(apply_edits(module, {of_debug, of_other, of_file}), 0u);
  EXPECT_EQ(module.functions[0].body.size(), 8u);
}

TEST(ProgramEdit, SaysWhatCannotBeMade) {
  EXPECT_EQ(error_of_edit(at(EditKind::remove, 8, "")),
            "remove instruction 8 of k: the function has 8 instructions");
  EXPECT_EQ(error_of_edit(at(EditKind::insert_before, 0, "mov.u32 %no, 1;")),
            "insert 'mov.u32 %no, 1;' before instruction 0 of k: edit:1: undeclared name '%no'");
  EXPECT_EQ(error_of_edit(at(EditKind::insert_before, 0, "bra $L_no;")),
            "insert 'bra $L_no;' before instruction 0 of k: edit:1: undeclared label '$L_no'");
  EXPECT_EQ(error_of_edit(at(EditKind::insert_before, 0, "bar.sync 0; }")),
            "insert 'bar.sync 0; }' before instruction 0 of k: edit:1: expected the end of the "
            "text, found '}'");
  EXPECT_EQ(error_of_edit(at(EditKind::insert_before, 0, "nonsense %r1;")),
            "insert 'nonsense %r1;' before instruction 0 of k: unknown instruction 'nonsense'");
  EXPECT_EQ(error_of_edit(at(EditKind::insert_before, 0, "")),
            "insert '' before instruction 0 of k: there is no text");
}

}  // namespace
}  // namespace warpcheck::ptx
