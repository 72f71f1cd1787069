// What the parser accepts, and its errors with their places.
#include "model/parser.hpp"

#include <gtest/gtest.h>

#include <string>

#include "model/enumerate.hpp"
#include "model/print.hpp"

namespace warpcheck::model {
namespace {

std::string error_of(const std::string& text) {
  try {
    enumerate(parse_test(text));
  } catch (const LitmusError& error) {
    return error.what();
  }
  return "no error";
}

// One thread's code, a line each.
std::string test_of(const std::string& code, const std::string& condition = "exists (0:r0=0)") {
  return "PTX t\n{ x=1; a[2]={3,4}; y aliases x; s @ surface aliases x; }\n P0@cta 0,gpu 0 ;\n" +
         code + "\n" + condition + "\n";
}

std::string outcome_of(const std::string& text) {
  const auto test = parse_test(text);
  return shown_outcome(test, enumerate(test));
}

TEST(LitmusParser, SaysWhereAndWhatIsWrong) {
  const std::pair<std::string, std::string> cases[] = {
      {"X86 SB\n{}\n", "1:1: a test of PTX, 'PTX NAME', was expected, found 'X86 SB'"},
      {"", "1:1: a test of PTX, 'PTX NAME', was expected, found ''"},
      {"PTX\n{}", "1:1: the test's name was expected behind 'PTX'"},
      {"PTX t\n{ x=0;", "2:7: '}' of the initial state was expected, found the end of the file"},
      {"PTX t\n(* never", "2:1: a comment that never ends"},
      {"PTX t\n{ x=#; }", "2:5: unexpected character '#'"},
      {"PTX t\n{ x=99999999999999999999; }", "2:5: '99999999999999999999' is no number of 64 bits"},
      {"PTX t\n{}\n P0 | P1 ;", "3:5: '@' was expected, found '|'"},
      {"PTX t\n{}\n P0@gpu 0 ;", "3:2: 'P0' is in no cta"},
      {"PTX t\n{}\n P0@cta 0 | P0@cta 1 ;", "3:13: a second thread 'P0'"},
      {test_of(" wgmma.fence ;"), "4:2: unknown instruction 'wgmma'"},
      {test_of(" ld.fast r0, x ;"), "4:5: '.fast' of ld is not known"},
      {test_of(" ld.v2.u32 r0, x ;"), "4:5: '.v2' of ld is not known"},
      {test_of(" ld.relaxed r0, x ;"),
       "4:4: a scope was expected: .cta, .cluster, .gpu or .sys of 'ld'"},
      {test_of(" ld.release.gpu r0, x ;"), "4:4: 'ld' has no such order of memory"},
      {test_of(" ld.weak.weak r0, x ;"), "4:10: '.weak' is one too many"},
      {test_of(" ld.weak x, r0 ;"), "4:10: a register was expected, 'x' is a location"},
      {test_of(" ld.weak r0 x ;"), "4:13: ',' was expected, found 'x'"},
      {test_of(" ld.weak r0, s ;"),
       "4:14: 's' is accessed through the surface proxy, not the generic proxy"},
      {test_of(" ld.weak r0, x r1 ;"), "4:16: the end of the instruction was expected, found 'r1'"},
      {test_of(" st.weak x, nobody ;"),
       "4:13: 'nobody' is neither a register of P0 nor a location"},
      {test_of(" atom.relaxed.gpu r0, x, 1 ;"),
       "4:6: an operation of 'atom' was expected: .add, .exch, .cas ..."},
      {test_of(" fence.sc ;"),
       "4:7: a scope of 'fence' was expected: .cta, .cluster, .gpu or .sys"},
      {test_of(" fence.proxy.async ;"), "4:7: '.async' of a proxy fence is not known"},
      {test_of(" bar.red.popc r0, 1 ;"), "4:5: '.red' of 'bar' is not known"},
      {test_of(" goto nowhere ;"), "4:7: there is no label 'nowhere' in P0"},
      {test_of(" nop | nop ;"), "4:12: a row has more than 1 columns"},
      {test_of(" nop "), "6:1: ';' at the end of a row was expected, found the end of the file"},
      {test_of(" nop ;", "exists (1:r0=0)"), "5:9: there is no thread '1'"},
      {test_of(" nop ;", "exists (z=0)"), "5:9: there is no location 'z'"},
      {test_of(" nop ;", "exists (a[2]=0)"), "5:9: there is no element 2, of 2"},
      {test_of(" nop ;", "exists (x=0"), "6:1: ')' was expected, found the end of the file"},
      {test_of(" nop ;", "exists (x 0)"), "5:11: a comparison was expected, found '0'"},
      {test_of(" nop ;", ""),
       "6:1: 'exists', '~exists' or 'forall' was expected, found the end of "
       "the file"},
      {test_of(" nop ;", "exists (x=0) exists (x=1)"),
       "5:14: the end of the file was expected, found 'exists'"},
      {test_of(" ld.weak r0, [x+2] ;"), "4:2: the access is to no location that was declared"},
      {test_of(" ld.weak r1, x ;\n ld.weak r0, [r1] ;"),
       "5:2: an execution accesses what is no location here"},
      {test_of(" bar.sync 0, 32 ;\n bar.sync 0, 64 ;"),
       "5:2: the barrier is used with different numbers of threads"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(error_of(text), error) << text;
}

TEST(LitmusParser, TakesTheSpellingsOfPublishedTests) {
  const std::string one =
      "ptx names\n\"a string\nof two lines\"\n(* Result: Always *)\n{\nint x = 0; .global .u32 y;\n"
      "[z]=2; P0:r9=5; 1:%r8=-1;\n}\n P0@cta 0, gpu 0|P1 @ cta 1, cluster 0, gpu 1| P2@cta 9;\n"
      " st.weak [x], r9||;\n LC00: ld.relaxed.sys.global.u32 %r0, [x] | @p1 bra.uni L2 | ;\n"
      " bne r0, 5, LC00 | mov r1, 7 ;\n | L2: ;\n membar.gl | ret ;\n"
      "locations [x; 1:r8;]\nfilter (0:r0 == 5)\nforall ((P0:r0 = 5 && [y]=0) \\/ ~(z<>2))\n";
  const auto test = parse_test(one);
  EXPECT_EQ(test.name, "names");
  EXPECT_EQ(test.expectation, "Always");
  EXPECT_EQ(shown_outcome(test, enumerate(test)),
            "Test names Required\nStates 1\n0:r0=5; 1:r8=-1; [x]=5; [y]=0; [z]=2;\nOk\nWitnesses\n"
            "Positive: 1 Negative: 0\nCondition forall ((0:r0=5 /\\ [y]=0) \\/ ~([z]!=2))\n"
            "Observation names Always 1 0\n\n");
}

// A truncated or damaged file is reported as such, or is still a test.
TEST(LitmusParser, DamagedFilesAreTold) {
  const std::string whole =
      "PTX whole\n\"s\"\n{ a[2]={1,2}; y aliases x; P0:r1=3; }\n P0@cta 0,gpu 0|P1@cta 1,gpu 0;\n"
      " L: atom.acq_rel.gpu.cas r0, [a+4], 1, r1 | bar.sync 1, 64 ;\n @p0 bra L | fence.sc.sys ;\n"
      "locations [x;]\nfilter (0:r0!=7)\n~exists (0:r0=1 /\\ ~(a[1]=2 \\/ 1:r9>0))\n";
  unsigned told = 0, taken = 0;
  const auto try_text = [&](const std::string& text) {
    error_of(text) == "no error" ? ++taken : ++told;
  };
  for (std::size_t at = 0; at < whole.size(); ++at) {
    try_text(whole.substr(0, at));
    for (const char byte : {'\0', ';', '|', '9', 'x', '\x80'}) {
      std::string damaged = whole;
      damaged[at] = byte;
      try_text(damaged);
    }
  }
  EXPECT_GT(told, 1000U);
  EXPECT_GT(taken, 50U);
}

TEST(LitmusParser, AFilterMayNameWhatIsNotShown) {
  const auto test =
      parse_test(test_of(" mov r0, 1 ;\n mov r1, 2 ;", "filter (0:r0=1)\nexists (0:r1=2)"));
  EXPECT_NE(shown_outcome(test, enumerate(test)).find("States 1\n0:r1=2;\nOk\n"),
            std::string::npos);
  const auto none =
      parse_test(test_of(" mov r0, 1 ;\n mov r1, 2 ;", "filter (0:r0=0)\nexists (0:r1=2)"));
  EXPECT_NE(shown_outcome(none, enumerate(none)).find("States 0\n"), std::string::npos);
}

TEST(LitmusParser, WarnsOfARegisterThatNothingSets) {
  const auto test = parse_test(test_of(" nop ;", "exists (0:r7=0)"));
  EXPECT_EQ(test.warnings, std::vector<std::string>{"P0 never uses r7, which therefore is 0"});
}

TEST(LitmusParser, InstructionsCalculate) {
  const std::pair<std::string, std::string> cases[] = {
      {"mov r0, 6 ;\n sub r0, r0, 8 ;", "-2"},
      {"mov r0, 6 ;\n mul.lo.u8 r0, r0, 50 ;", "44"},
      {"ld.weak r0, a[1] ;", "4"},
      {"mov r1, 1 ;\n ld.weak r0, a[r1] ;", "4"},
      {"mov r1, a ;\n ld.weak r0, [r1+4] ;", "4"},
      {"ld.weak r1, x ;\n ld.weak r0, a[r1] ;", "4"},
      {"atom.add r1, x, 5 ;\n ld.weak r0, x ;", "6"},
      {"atom.inc r1, x, 1 ;\n ld.weak r0, x ;", "0"},
      {"atom.inc r1, x, 2 ;\n ld.weak r0, x ;", "2"},
      {"atom.dec r1, x, 9 ;\n ld.weak r0, x ;", "0"},
      {"red.dec a[0], 2 ;\n ld.weak r0, a[0] ;", "2"},
      {"red.relaxed.gpu.min.s32 x, -4 ;\n ld.weak r0, x ;", "-4"},
      {"red.max x, 9 ;\n ld.weak r0, x ;", "9"},
      {"red.and a[0], 6 ;\n ld.weak r0, a[0] ;", "2"},
      {"red.or a[0], 4 ;\n ld.weak r0, a[0] ;", "7"},
      {"red.xor a[0], 1 ;\n ld.weak r0, a[0] ;", "2"},
      {"atom.exch r0, x, 9 ;\n ld.weak r1, x ;\n sub r0, r1, r0 ;", "8"},
      {"atom.cas r0, x, 1, 9 ;\n ld.weak r1, x ;\n add r0, r1, r0 ;", "10"},
      {"atom.cas r0, x, 2, 9 ;\n ld.weak r1, x ;\n add r0, r1, r0 ;", "2"},
      {"setp.lt.s32 p, -1, 0 ;\n @!p mov r0, 1 ;\n @p mov r0, 2 ;", "2"},
      {"setp.lt.u32 p, -1, 0 ;\n @!p mov r0, 1 ;\n @p mov r0, 2 ;", "1"},
      {"st.weak x, 300 ;\n ld.weak.u8 r0, x ;", "44"},
  };
  for (const auto& [code, value] : cases) {
    const std::string text = outcome_of(test_of(" " + code, "forall (0:r0=" + value + ")"));
    EXPECT_NE(text.find("Always 1 0"), std::string::npos) << code << "\n" << text;
  }
}

TEST(LitmusLoops, ARoundThatDidNothingIsNotCounted) {
  const std::string spin = outcome_of(
      test_of(" L: ld.relaxed.gpu r0, x ;\n beq r0, 2, L ;\n st.weak x, 5 ;", "forall (0:r0=1)"));
  EXPECT_EQ(spin.find("Cut"), std::string::npos) << spin;
  EXPECT_NE(spin.find("\nOk\n"), std::string::npos) << spin;
}

TEST(LitmusLoops, ASearchThatWasCutSaysSoAndNeverSaysNever) {
  const std::string text = outcome_of(
      test_of(" L: atom.relaxed.gpu.add r0, x, 1 ;\n bne r0, 99, L ;", "exists (0:r0=99)"));
  EXPECT_EQ(text,
            "Test t Allowed\nStates 0\n"
            "Cut: loops go on beyond --unroll, and those executions are missing\nUndecided\n"
            "Witnesses\nPositive: 0 Negative: 0\nCondition exists (0:r0=99)\n"
            "Observation t Unknown 0 0\n\n");
  const auto test = parse_test(
      test_of(" L: atom.relaxed.gpu.add r0, x, 1 ;\n bne r0, 4, L ;", "exists (0:r0=4)"));
  EXPECT_FALSE(enumerate(test, {.unroll = 3, .choices_max = 99}).choices_cut);
  const Outcome given_up = enumerate(test, {.unroll = 3, .choices_max = 2});
  EXPECT_TRUE(given_up.choices_cut);
  EXPECT_NE(shown_outcome(test, given_up).find("Cut: there are more executions than --limit"),
            std::string::npos);
  EXPECT_EQ(observation(given_up), Observation::unknown);
  EXPECT_EQ(validated(test, enumerate(test, {.unroll = 2})), std::nullopt);
  EXPECT_EQ(validated(test, enumerate(test, {.unroll = 3})), true);
}

}  // namespace
}  // namespace warpcheck::model
