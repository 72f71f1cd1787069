// The command line as a user runs it: starts the built program.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "cli/shell_test_fixture.hpp"

namespace {

namespace fs = std::filesystem;

class Cli : public ShellTest {
 protected:
  // The only case under `cases`/<pair>/.
  std::string case_of(const std::string& cases, const std::string& pair) const {
    for (const auto& entry : fs::directory_iterator(directory_ / cases / pair)) {
      return cases + "/" + pair + "/" + entry.path().filename().string();
    }
    return "";
  }
};

constexpr const char* kPair = "scan_hillis_steele_published";

TEST_F(Cli, ListNamesEveryPair) {
  const Outcome outcome = run("list");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.out.find(kPair), std::string::npos);
  const auto json = nlohmann::json::parse(run("list --json").out);
  EXPECT_EQ(json["version"], 1);
  EXPECT_GT(json["pairs"].size(), 5u);
}

TEST_F(Cli, BadUsageIsOneLineAndStatus2) {
  expect_one_line_error(run(""), "no command given: list, hunt, kernel, check");
  expect_one_line_error(run("frobnicate"), "no such command: frobnicate; there are list, hunt");
  expect_one_line_error(run("frobnicate"), "new, completion (try warpcheck --help)");
  expect_one_line_error(run("chek scan_tree"), "no such command: chek (is it 'check'?); there");
  expect_one_line_error(run("failures"), "import, export (try warpcheck failures --help)");
  expect_one_line_error(run("export a.case b.case c.case -o a.cu"),
                        "not expected: b.case c.case (try warpcheck export --help)");
  expect_one_line_error(run("check --seconds -5"),
                        "--seconds: -5 is not 0 or a positive number (try warpcheck check --help)");
  expect_one_line_error(
      run("exec --memory lots -- /bin/true"),
      "--memory: lots is not a size, such as 512M or 16G (try warpcheck exec --help)");
  expect_one_line_error(run("check --trials many"), "--trials: many is not a positive number (try");
  for (const char* wrong : {"-1", "many", "0x10", "1.5", "18446744073709551616"}) {
    expect_one_line_error(
        run(std::string("check --seed=") + wrong),
        std::string("--seed: '") + wrong +
            "' is not a whole number from 0 to 2^64 - 1 (try warpcheck check --help)");
  }
  expect_one_line_error(run("check --seed ''"), "--seed: '' is not a whole number");
  expect_one_line_error(run("fuzz naive_sum --runs 99999999999999999999"),
                        "--runs: '99999999999999999999' is not a whole number");
  expect_one_line_error(run("check --build shipped"), "shipped");
  expect_one_line_error(run("check scan_tree --json -"),
                        "--json: name a file: - is not standard output here (try warpcheck check");
  expect_one_line_error(
      run("shrink a.case -o -"),
      "--output: name a file: - is not standard output here (try warpcheck shrink");
  // An unknown option is told rather than what is missing because of it.
  expect_one_line_error(
      run("shrink a.case --ouput b.case"),
      "no such option: --ouput (is it '--output'?) (try warpcheck shrink --help)");
  expect_one_line_error(run("replay --html"),
                        "--html: 1 required FILE missing (try warpcheck replay --help)");
  expect_one_line_error(run("fuzz"), "PAIR is required (try warpcheck fuzz --help)");
  expect_one_line_error(shell("(" WARPCHECK_PROGRAM " --version >/dev/full)"),
                        "cannot write to standard output: No space left on device");
  expect_one_line_error(run("check no_such_pair"), "no pair 'no_such_pair'");
  expect_one_line_error(run("check scan_tre"), "is it 'scan_tree'?");
  expect_one_line_error(run("fuzz no_such_pair"), "no pair 'no_such_pair'");
  expect_one_line_error(run("replay none.case"), "cannot read none.case: No such file");
  expect_one_line_error(run("shrink none.case -o x.case"), "cannot read none.case: No such file");
  expect_one_line_error(run("export none.case -o x.cu"), "cannot read none.case: No such file");
  expect_one_line_error(run("export none.case"), "--output");
  expect_one_line_error(run("check --engine cpu"), "cpu");
  expect_one_line_error(run("check --sanitizer memcheck"), "need --engine gpu");
  expect_one_line_error(run("replay --compile sometimes a.case"),
                        "--compile: sometimes not in {always,auto,never}");
  expect_one_line_error(run("check --engine gpu --compile never"), "need --engine vgpu");
  expect_one_line_error(run("replay --engine gpu --compile never a.case"), "need --engine vgpu");
  expect_one_line_error(
      shell("WARPCHECK_SIMD=baseline " WARPCHECK_PROGRAM " exec --compile always -- /bin/true"),
      "--compile always: there is no machine code here: it needs AVX2");
  expect_one_line_error(run("check --engine gpu --sanitizer valgrind"), "valgrind");
  expect_one_line_error(run("check histogram_shared --engine gpu --runtime /no/such.so"),
                        "the CUDA runtime library cannot be opened: /no/such.so");
  EXPECT_EQ(run("--help").status, 0);
}

TEST_F(Cli, AProgramIsWrittenOrItIsSaidWhyNot) {
  const std::string path = WARPCHECK_SOURCE_DIR "/fuzz/cases/naive_sum/c327.case";
  const Outcome written = run("export " + path + " -o sum.cu");
  EXPECT_EQ(written.status, 0);
  EXPECT_EQ(written.out, "");
  EXPECT_NE(read("sum.cu").find("int main("), std::string::npos);
  expect_one_line_error(run("export " + path + " -o /dev/full"), "No space left on device");
}

TEST_F(Cli, DamagedCasesAreOneLineAndStatus2) {
  std::ofstream(directory_ / "bad.case") << "{\"warpcheck_case\": 1, \"pair\": \"x\"}";
  expect_one_line_error(run("replay bad.case"), "bad.case: no pair 'x'");
  std::ofstream(directory_ / "bad.case") << "nonsense";
  expect_one_line_error(run("replay bad.case"), "bad.case: not valid JSON");
  std::ofstream(directory_ / "bad.case") << "{\"warpcheck_case\": 99}";
  expect_one_line_error(run("shrink bad.case -o x.case"), "case format version 99");
}

TEST_F(Cli, ACaseMayCarryChangesOfItsDeviceCode) {
  run(std::string("check ") + kPair);
  auto json = nlohmann::json::parse(read(case_of("fuzz/cases", kPair)));
  const auto replayed_with = [&](const nlohmann::json& edit, const std::string& build) {
    json["settings"]["edits"] = nlohmann::json::array({edit});
    json["settings"]["build"] = build;
    std::ofstream(directory_ / "edited.case") << json.dump();
    return run("replay edited.case");
  };
  const nlohmann::json barrier = {
      {"file", "kernels/specimens/scan_hillis_steele.cu"}, {"line", 13}, {"mnemonic", "bar.sync"}};
  nlohmann::json no_barrier = barrier;
  no_barrier["line"] = 11;
  for (const std::string build : {"optimized", "unoptimized"}) {
    // Without the barrier of each round, what line 11 writes races with line 14 as well.
    const Outcome removed = replayed_with({{"remove", barrier}}, build);
    EXPECT_EQ(removed.status, 1) << removed.out;
    EXPECT_NE(removed.out.find("scan_hillis_steele.cu:11"), std::string::npos) << removed.out;
    EXPECT_EQ(run("replay edited.case").out, removed.out);
    EXPECT_EQ(replayed_with({{"insert", "bar.sync 0;"}, {"before", barrier}}, build)
                  .out.find("scan_hillis_steele.cu:11"),
              std::string::npos);
    expect_one_line_error(replayed_with({{"remove", no_barrier}}, build),
                          "the edits change no instruction of the launched kernels");
  }
  expect_one_line_error(replayed_with({{"insert", "bar.sync 0;"}}, "optimized"),
                        "edited.case: case.settings.edits[0]: expected \"insert\" with");
}

TEST_F(Cli, AFailureIsWrittenReplayedAndShrunkAgain) {
  const std::string check = std::string("check ") + kPair + " --json found.json";
  const Outcome found = run(check);
  EXPECT_EQ(found.status, 1) << found.out;
  const std::string path = case_of("fuzz/cases", kPair);
  EXPECT_NE(found.out.find("replay: warpcheck replay " + path + "\n"), std::string::npos);
  const auto json = nlohmann::json::parse(read("found.json"));
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["findings"][0]["kind"], "data-race");

  const Outcome replayed = run("replay " + path);
  EXPECT_EQ(replayed.status, 1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run("replay " + path).out, replayed.out);
  EXPECT_EQ(run("replay --expect-recorded " + path).status, 0);

  const Outcome shrunk = run("shrink " + path + " -o again.case");
  EXPECT_EQ(shrunk.status, 1) << shrunk.out;
  EXPECT_EQ(read("again.case"), read(path));
}

TEST_F(Cli, TheSameSeedFindsTheSame) {
  const std::string check = std::string("check ") + kPair + " --seed 5";
  EXPECT_EQ(run(check).out, run(check).out);
}

TEST_F(Cli, StatisticsSayWhatWasDrawnAndWhatWasNot) {
  const Outcome enough = run("check histogram_shared --trials 1000 --statistics --json found.json");
  EXPECT_EQ(enough.status, 0) << enough.out;
  EXPECT_NE(enough.out.find("STATISTICS histogram_shared   1000 cases\n"), std::string::npos);
  EXPECT_EQ(enough.out.find("REQUIRED"), std::string::npos) << enough.out;
  const auto json = nlohmann::json::parse(read("found.json"));
  EXPECT_EQ(json["statistics"][0]["pair"], "histogram_shared");
  EXPECT_EQ(json["statistics"][0]["cases"], 1000);
  EXPECT_GT(json["statistics"][0]["classes"]["in.size: zero"], 10);
  EXPECT_EQ(json["statistics"][0]["required_never_drawn"].size(), 0U);

  const Outcome few = run("check histogram_shared --trials 1 --statistics --json found.json");
  EXPECT_EQ(few.status, 1) << few.out;
  EXPECT_NE(few.out.find("  REQUIRED AND NEVER DRAWN:  "), std::string::npos) << few.out;
  EXPECT_GT(
      nlohmann::json::parse(read("found.json"))["statistics"][0]["required_never_drawn"].size(),
      0U);
  EXPECT_EQ(run("check histogram_shared --trials 1").status, 0);
}

TEST_F(Cli, WhatCannotBeWrittenIsSaidAndTheReportIsStillPrinted) {
  std::ofstream(directory_ / "file") << "x";
  const Outcome outcome = run(std::string("check ") + kPair + " --cases file/cases");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.out.find("warpcheck: cannot make the directory"), std::string::npos);
  EXPECT_NE(outcome.out.find("FAIL scan_hillis_steele_published"), std::string::npos);
  EXPECT_EQ(run("list > /dev/full").status, 2);
}

// The words of a text that look like options.
std::set<std::string> options_in(const std::string& text) {
  std::set<std::string> options;
  const std::regex option("--[a-z][a-z-]*");
  for (std::sregex_iterator at(text.begin(), text.end(), option), end; at != end; ++at) {
    options.insert(at->str());
  }
  return options;
}

// The row of a command in the first table of docs/use/command-line.md.
std::string documented(const std::string& command) {
  std::ifstream page(WARPCHECK_SOURCE_DIR "/docs/use/command-line.md");
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("| `" + command)) return line;
  }
  return "";
}

TEST_F(Cli, EveryCommandTeachesAndIsDocumented) {
  std::istringstream offered(run("__complete ''").out);
  std::set<std::string> commands;
  for (std::string word; offered >> word;) {
    if (!word.starts_with("-")) commands.insert(word);
  }
  EXPECT_TRUE(commands.contains("list") && commands.contains("completion"));
  for (const std::string& command : commands) {
    const Outcome help = run(command + " --help");
    EXPECT_EQ(help.status, 0);
    EXPECT_NE(help.out.find("Examples:\n  "), std::string::npos) << help.out;
    EXPECT_NE(help.out.find("Exit status: "), std::string::npos) << help.out;
    std::set<std::string> in_page = options_in(documented(command));
    if (documented(command).find(", reports |") != std::string::npos) {
      in_page.insert({"--json", "--html", "--junit", "--sarif", "--lcov"});
    }
    std::set<std::string> in_help = options_in(help.out.substr(0, help.out.find("Examples:")));
    in_help.erase("--help");
    EXPECT_EQ(in_help, in_page) << command;
  }
  EXPECT_NE(run("--help").out.find("NO_COLOR"), std::string::npos);
}

TEST_F(Cli, LitmusSaysWhatTheMemoryModelAllows) {
  const std::string tests = WARPCHECK_SOURCE_DIR "/model/tests/store_buffering";
  const Outcome decided = run("litmus " + tests + "/SB+acq_rel.litmus --json found.json");
  EXPECT_EQ(decided.status, 0) << decided.out;
  EXPECT_NE(decided.out.find("Observation SB+acq_rel Sometimes 1 3\n"), std::string::npos);
  const auto json = nlohmann::json::parse(read("found.json"));
  EXPECT_EQ(json["schema"], "warpcheck-litmus/1");
  EXPECT_EQ(json["tests"][0]["states"].size(), 4U);
  EXPECT_EQ(json["tests"][0]["validated"], true);

  EXPECT_EQ(shell("(" WARPCHECK_PROGRAM " litmus " + tests + " > /dev/full)").out,
            "warpcheck: cannot write to standard output: No space left on device\n");

  const Outcome all = run("litmus --expect " + tests);
  EXPECT_EQ(all.status, 0) << all.out;
  EXPECT_NE(all.out.find("\n21 of 21 as expected\n"), std::string::npos) << all.out;

  std::ofstream(directory_ / "odd.litmus") << "PTX odd\n(* Result: Never *)\n{ x=0; }\n"
                                              "P0@cta 0,gpu 0 ;\nst.weak x, 1 ;\nexists (x=1)\n";
  EXPECT_EQ(run("litmus odd.litmus").status, 0);
  const Outcome odd = run("litmus --expect odd.litmus");
  EXPECT_EQ(odd.status, 1);
  EXPECT_NE(odd.out.find("NOT AS EXPECTED odd.litmus: Result: Never\n"), std::string::npos);

  std::ofstream(directory_ / "spin.litmus")
      << "PTX spin\n{}\nP0@cta 0,gpu 0 ;\nL: atom.add r0, x, 1 ;\ngoto L ;\nexists (x=0)\n";
  const Outcome cut = run("litmus spin.litmus");
  EXPECT_EQ(cut.status, 1);
  EXPECT_NE(cut.out.find("Observation spin Unknown 0 0\n"), std::string::npos) << cut.out;

  std::ofstream(directory_ / "bad.litmus") << "PTX bad\n{}\nP0@cta 0,gpu 0 ;\n jmp x ;\n";
  expect_one_line_error(run("litmus bad.litmus"), "bad.litmus:4:2: unknown instruction 'jmp'");
  expect_one_line_error(run("litmus none.litmus"), "cannot read none.litmus: No such file");
}

TEST_F(Cli, NewWritesAPairAndNeverOverTheOldOne) {
  const Outcome made = run("new row_sum");
  EXPECT_EQ(made.status, 0) << made.out;
  EXPECT_NE(made.out.find("wrote row_sum.cu\n"), std::string::npos) << made.out;
  EXPECT_TRUE(fs::exists(directory_ / "CMakeLists.txt"));
  expect_one_line_error(run("new row_sum"), "row_sum.cu is there already");
  expect_one_line_error(run("new row-sum"), "'row-sum' cannot name a pair");
}

TEST_F(Cli, CompletesCommandsOptionsValuesAndPairs) {
  EXPECT_EQ(run("__complete re").out, "replay\n");
  EXPECT_EQ(run("__complete g").out, "");  // users do not call gpu-worker
  EXPECT_EQ(run("__complete check --wa").out, "--warp-model\n");
  EXPECT_EQ(run("__complete check --build o").out, "optimized\n");
  EXPECT_EQ(run("__complete check scan_hillis_steele_p").out, std::string(kPair) + "\n");
  EXPECT_EQ(run("__complete hunt --pairs scan_tree,scan_hillis_steele_p").out,
            std::string("scan_tree,") + kPair + "\n");
  EXPECT_EQ(run("__complete completion ''").out, "bash\nfish\nzsh\n");
  // The shell completes files.
  EXPECT_EQ(run("__complete replay ''").out, "");
  EXPECT_EQ(run("__complete check --json ''").out, "");
  EXPECT_EQ(run("__complete no_such_command ''").out, "");
  EXPECT_EQ(run("__complete").out, run("__complete ''").out);
}

TEST_F(Cli, BashCompletes) {
  std::ofstream(directory_ / "try.bash") << "source <(" WARPCHECK_PROGRAM
                                            " completion bash)\n"
                                            "COMP_WORDS=(" WARPCHECK_PROGRAM
                                            " fuzz --cor)\n"
                                            "COMP_CWORD=2\n_warpcheck\necho \"${COMPREPLY[*]}\"\n"
                                            "complete -p warpcheck\n";
  const Outcome outcome = run("list > /dev/null; bash try.bash");
  EXPECT_EQ(outcome.out, "--corpus\ncomplete -o bashdefault -o default -F _warpcheck warpcheck\n");
}

TEST_F(Cli, ColourIsForTerminalsWithoutNoColor) {
  const std::string check = WARPCHECK_PROGRAM " check scan_tree --trials 1";
  // script(1) gives the command a terminal.
  const std::string in_terminal =
      "list > /dev/null; TERM=xterm script -qec '" + check + "' /dev/null";
  EXPECT_NE(run(in_terminal).out.find("\x1b[32mPASS\x1b[0m scan_tree"), std::string::npos);
  const Outcome plain =
      run("list > /dev/null; NO_COLOR=1 TERM=xterm script -qec '" + check + "' /dev/null");
  EXPECT_EQ(plain.out.find('\x1b'), std::string::npos) << plain.out;
  EXPECT_EQ(run("check scan_tree --trials 1").out.find('\x1b'), std::string::npos);
}

// Rounds of trials follow each other until the time is over: no number of trials is an end.
TEST_F(Cli, TheProgressOfACheckBySecondsNamesNoEndInTrials) {
  const Outcome outcome = run("list > /dev/null; TERM=xterm script -qec '" WARPCHECK_PROGRAM
                              " check scan_tree --seconds 3' /dev/null");
  EXPECT_NE(outcome.out.find("checking scan_tree"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find(" of 1000 trials"), std::string::npos) << outcome.out;
}

TEST_F(Cli, AReportThatCannotBeWrittenDoesNotKeepTheOthers) {
  const std::string check = std::string("check ") + kPair + " --trials 20";
  const Outcome full =
      run(check + " --html /proc/self/fd/9 --json found.json --junit found.xml 9>/dev/full");
  EXPECT_EQ(full.status, 2) << full.out;
  EXPECT_NE(full.out.find("warpcheck: cannot write /proc/self/fd/9: No space left"),
            std::string::npos);
  EXPECT_NE(full.out.find("FAIL scan_hillis_steele_published"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(read("found.json"))["schema"], "warpcheck-report/1");
  EXPECT_NE(read("found.xml").find("</testsuites>"), std::string::npos);

  std::ofstream(directory_ / "file") << "x";
  EXPECT_EQ(run(check + " --sarif file/found.sarif").status, 2);
  EXPECT_EQ(read("file"), "x");
}

TEST_F(Cli, AReportThatNamesNoFileOfItsOwnIsRefusedBeforeAnythingRuns) {
  fs::create_directory(directory_ / "reports");
  for (const std::string command : {"check", "hunt", "replay x.case", "shrink x.case -o y.case",
                                    "fuzz scan_tree --runs 1", "campaign night"}) {
    expect_one_line_error(run(command + " --html reports"), "--html reports: a directory");
    expect_one_line_error(run(command + " --json a --lcov ./a"),
                          "--lcov ./a: another report is written to this file");
  }
}

TEST_F(Cli, CtrlCKeepsWhatWasFoundAndIsStatus130) {
  // Interrupted long before its end, and long after its start.
  const Outcome outcome =
      shell(std::string("timeout --foreground --preserve-status -s INT -k 60 4 " WARPCHECK_PROGRAM
                        " hunt --pairs ") +
            kPair + ",scan_hillis_steele --seconds 600 --jobs 2 --json found.json");
  EXPECT_EQ(outcome.status, 130) << outcome.out;
  const auto json = nlohmann::json::parse(read("found.json"));
  ASSERT_EQ(json["claims"].size(), 2U);
  EXPECT_EQ(json["claims"][0]["pair"], "scan_hillis_steele");
  EXPECT_EQ(json["claims"][0]["status"], "cannot-run") << "its time was not over";
  EXPECT_NE(outcome.out.find(" hunted in part, "), std::string::npos) << outcome.out;
}

// As `timeout` and CI services end a job.
TEST_F(Cli, SigtermKeepsWhatWasFoundAsCtrlCDoes) {
  const Outcome outcome =
      shell("timeout --foreground --preserve-status -s TERM -k 60 4 " WARPCHECK_PROGRAM
            " fuzz scan_tree --seconds 600 --jobs 2 --json found.json");
  EXPECT_EQ(outcome.status, 130) << outcome.out;
  EXPECT_NE(outcome.out.find("scan_tree: "), std::string::npos) << outcome.out;
  EXPECT_TRUE(outcome.out.ends_with("\nwarpcheck: fuzz scan_tree: interrupted\n")) << outcome.out;
  const auto json = nlohmann::json::parse(read("found.json"));
  EXPECT_EQ(json["claims"][0]["verdict"], "interrupted");
}

TEST_F(Cli, AnInterruptedCheckHasNotPassed) {
  const Outcome outcome =
      shell("(timeout --foreground --preserve-status -s INT -k 60 4 " WARPCHECK_PROGRAM
            " check scan_tree --trials 1000000000 --json found.json)");
  EXPECT_EQ(outcome.status, 130) << outcome.out;
  EXPECT_TRUE(outcome.out.starts_with("warpcheck: scan_tree: interrupted after ")) << outcome.out;
  EXPECT_TRUE(outcome.out.ends_with(" of 1000000000 trials\n")) << outcome.out;
  const auto json = nlohmann::json::parse(read("found.json"));
  EXPECT_EQ(json["claims"][0]["status"], "cannot-run");
}

TEST_F(Cli, ReportsGoToAPipe) {
  const Outcome outcome = run(std::string(
      "check scan_hillis_steele --trials 5 --junit /proc/self/fd/1 | grep -c '</testsuites>'"));
  EXPECT_EQ(outcome.out, "1\n");
}

TEST_F(Cli, ACampaignGoesOnAndItsFailuresAreReplayedFirst) {
  const std::string campaign =
      "campaign night --pairs histogram_shared_published --jobs 2 --runs 2000";
  const Outcome first = run(campaign);
  EXPECT_EQ(first.status, 1) << first.out;
  EXPECT_NE(first.out.find("reproducible\n"), std::string::npos) << first.out;
  EXPECT_EQ(first.out.find("not found yet"), std::string::npos) << first.out;
  const Outcome again = run(campaign + " --json night.json 2>/dev/null; exit $?");
  EXPECT_EQ(again.status, 1);
  EXPECT_TRUE(first.out.ends_with(again.out)) << again.out;
  EXPECT_EQ(nlohmann::json::parse(read("night.json"))["failures"][0]["pair"],
            "histogram_shared_published");

  EXPECT_EQ(run("failures export night.zip --failures night").status, 0);
  const std::string check = "check histogram_shared_published --trials 1 ";
  EXPECT_EQ(run(check).out.find("stored cases"), std::string::npos);
  EXPECT_EQ(run("failures import night.zip").status, 0);
  const Outcome replayed = run(check);
  EXPECT_EQ(replayed.status, 1);
  EXPECT_NE(replayed.out.find("stored cases and inputs replayed"), std::string::npos);
  EXPECT_NE(
      replayed.out.find("replay: warpcheck replay .warpcheck/cases/histogram_shared_published/"),
      std::string::npos);
  EXPECT_EQ(run(check + "--no-failures").out.find("stored cases"), std::string::npos);
  const auto listed = nlohmann::json::parse(run("failures list --json").out);
  EXPECT_GE(listed["failures"].size(), 3u);
}

TEST_F(Cli, WithoutAFailureDatabaseCasesAreSavedOnlyWhereTheyAreWanted) {
  const std::string check = "check scan_hillis_steele_published --trials 300 --no-failures";
  const Outcome outcome = run(check);
  EXPECT_EQ(outcome.status, 1) << outcome.out;
  EXPECT_EQ(outcome.out.find("replay: "), std::string::npos) << outcome.out;
  EXPECT_FALSE(fs::exists(directory_ / "fuzz"));
  EXPECT_EQ(run(check + " --cases kept").status, 1);
  EXPECT_TRUE(fs::exists(directory_ / "kept/scan_hillis_steele_published"));
}

TEST_F(Cli, BadCampaignsAreOneLineAndStatus2) {
  std::ofstream(directory_ / "file") << "x";
  expect_one_line_error(run("campaign file"), "cannot make the directory file");
  expect_one_line_error(run("campaign night --pairs scan_tre"), "is it 'scan_tree'?");
  expect_one_line_error(run("campaign night --pairs scan_tree --stop-when-found"),
                        "declares an expected finding");
  expect_one_line_error(run("campaign night --jobs 0"), "--jobs");
  expect_one_line_error(run("campaign"), "DIR is required");
  expect_one_line_error(run("failures list"), "there is no failure database");
  expect_one_line_error(run("failures export x.zip --failures none"), "no failure database");
  expect_one_line_error(run("failures"), "no command given: list, import, export");
  expect_one_line_error(run("failures lst"),
                        "no such command: lst (is it 'list'?); there are list, import, export");
}

TEST_F(Cli, WhatIsStoredAndCannotBeReadIsNamed) {
  fs::create_directories(directory_ / "night" / "corpus");
  std::ofstream(directory_ / "night/corpus/histogram_shared") << "x";
  const Outcome checked = run("check histogram_shared --trials 1 --failures night");
  EXPECT_EQ(checked.status, 2) << checked.out;
  const std::string error = "cannot read night/corpus/histogram_shared: Not a directory\n";
  EXPECT_NE(checked.out.find(error), std::string::npos) << checked.out;
  expect_one_line_error(run("campaign night --pairs histogram_shared --runs 10"), error);
}

// The search does not use what a pair expects.
TEST_F(Cli, ASpecimenGetsTheTrialsOfACleanPair) {
  const Outcome outcome =
      run("hunt --pairs kahan_sum_contracted,naive_sum --trials 50 2>/dev/null; exit $?");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(std::regex_search(
      outcome.out,
      std::regex("kahan_sum_contracted  clean     -  +200  ok, 100 trials for every schedule, "
                 "proved for all data and schedules at 4 of its sizes "
                 "\\(n = 7, 63, 416, 1633\\), equal to its reference there "
                 "\\(exact arithmetic\\)\n")))
      << outcome.out;
  EXPECT_TRUE(std::regex_search(
      outcome.out, std::regex("naive_sum  +mismatch  mismatch  +200  ok, 94 trials for every "
                              "schedule\n")))
      << outcome.out;
}

TEST_F(Cli, HuntIsTheSameWithOneProcessAndWithThree) {
  const std::string hunt = std::string("hunt --pairs scan_hillis_steele,") + kPair +
                           " --trials 50 --json hunt.json --jobs ";
  const Outcome one = run(hunt + "1 2>/dev/null; exit $?");
  EXPECT_EQ(one.status, 0) << one.out;
  EXPECT_NE(one.out.find("2 of 2 pairs as expected"), std::string::npos);
  const std::string json = read("hunt.json");
  EXPECT_EQ(run(hunt + "3 2>/dev/null; exit $?").out, one.out);
  EXPECT_EQ(read("hunt.json"), json);
}

// With a proof, a failure and its case, and the state file.
TEST_F(Cli, ProveIsTheSameWithOneProcessAndWithThree) {
  const std::string prove =
      std::string("prove histogram_shared scan_tree ") + kPair +
      " --max-size 40 --blocks 32,64 --json proofs.json --html proofs.html --state ";
  const Outcome one = run(prove + "one.jsonl --jobs 1 2>/dev/null; exit $?");
  EXPECT_EQ(one.status, 1) << one.out;
  EXPECT_NE(one.out.find("PROVED scan_tree"), std::string::npos) << one.out;
  EXPECT_NE(one.out.find(std::string("FAIL ") + kPair), std::string::npos) << one.out;
  const std::string json = read("proofs.json"), html = read("proofs.html");
  EXPECT_EQ(run(prove + "three.jsonl --jobs 3 2>/dev/null; exit $?").out, one.out);
  EXPECT_EQ(read("proofs.json"), json);
  EXPECT_EQ(read("proofs.html"), html);
  EXPECT_EQ(read("three.jsonl"), read("one.jsonl"));
  EXPECT_EQ(run(prove + "one.jsonl --jobs 2 2>/dev/null; exit $?").out, one.out);
  EXPECT_EQ(read("one.jsonl"), read("three.jsonl"));
}

}  // namespace
