// Do help, pages, man pages and completion know all commands and options?
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <regex>
#include <set>
#include <sstream>

#include "tests/cli/program.h"

namespace nearwarp::testing {
namespace {

/// The words that the last one could become, without meanings.
Words completed(const Words& words) {
  const Outcome outcome = run_program(Words{"completion", "--"} + words);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  std::istringstream lines(outcome.out);
  Words all;
  for (std::string line; std::getline(lines, line);) all.push_back(line.substr(0, line.find('\t')));
  return all;
}

Words command_names() {
  Words names;
  for (const std::string& name : completed({""}))
    if (!name.starts_with("-") && name != "help") names.push_back(name);
  return names;
}

bool has(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

TEST(Commands, AreInTheHelpAndOnThePage) {
  const Words names = command_names();
  ASSERT_GE(names.size(), 16u);
  const std::string help = run_program({"--help"}).out;
  const std::string page = read_text(NW_SOURCE_DIR "/docs/commands.md");
  for (const std::string& name : names) {
    EXPECT_TRUE(contains(help, "  nearwarp " + name)) << name;
    EXPECT_TRUE(contains(page, "nearwarp " + name)) << name << " is not in docs/commands.md";
    const Outcome outcome = run_program({name, "--help"});
    EXPECT_EQ(outcome.exit_code, 0) << name;
    EXPECT_LE(longest_line(outcome.out), 80u) << name;
    EXPECT_TRUE(contains(outcome.out, "nearwarp " + name)) << name;
  }
}

TEST(Commands, HaveManualPagesWithAllOptions) {
  const std::regex option("\n  (?:-.,|   ) (--[a-z-]+)");
  for (const std::string& name : command_names()) {
    const std::string help = run_program({name, "--help"}).out;
    std::string page = run_program({"manual", name}).out;
    EXPECT_TRUE(page.starts_with(".TH NEARWARP-")) << page;
    page = std::regex_replace(page, std::regex(R"(\\-)"), "-");
    size_t options = 0;
    for (auto at = std::sregex_iterator(help.begin(), help.end(), option);
         at != std::sregex_iterator(); ++at, ++options)
      EXPECT_TRUE(contains(page, "\\fB" + (*at)[1].str() + "\\fR")) << name << " " << at->str();
    EXPECT_GE(options, 1u) << name;
    const auto offered = completed({name, "--"});
    EXPECT_EQ(options, offered.size() - (has(offered, "--") ? 1 : 0)) << name;
  }
  TemporaryFolder folder;
  EXPECT_EQ(run_program({"manual", "--out", folder.path().string()}).exit_code, 0);
  EXPECT_EQ(folder.size(), command_names().size() + 1);
}

TEST(Commands, ManualPagesAreWellFormed) {
  if (std::system("command -v man groff > /dev/null 2>&1") != 0) GTEST_SKIP() << "no man";
  TemporaryFolder folder;
  ASSERT_EQ(run_program({"manual", "--out", folder.path().string()}).exit_code, 0);
  for (const auto& page : std::filesystem::directory_iterator(folder.path())) {
    const std::string said = folder.file("said.txt");
    const std::string command = "MANWIDTH=80 LC_ALL=C.UTF-8 man --warnings -l '" +
                                page.path().string() + "' 2> '" + said + "' | grep -q NAME";
    if (page.path().extension() != ".1") continue;
    EXPECT_EQ(std::system(command.c_str()), 0) << page.path();
    EXPECT_EQ(read_text(said), "") << page.path();
  }
}

TEST(Completion, OffersCommandsOptionsAndValues) {
  EXPECT_EQ(completed({"ru"}), Words{"run"});
  EXPECT_EQ(completed({"help", "swe"}), Words{"sweep"});
  EXPECT_EQ(completed({"run", "--pol"}), Words{"--policy"});
  EXPECT_EQ(completed({"run", "kmeans-819"}), (Words{"kmeans-819200", ":files"}));
  EXPECT_EQ(completed({"run", "kmeans", "--policy", "baseline,tom-o"}),
            (Words{"baseline,tom-oracle", ":files"}));
  EXPECT_EQ(completed({"run", "--machine=gtx"}), (Words{"--machine=gtx480", ":files"}));
  EXPECT_EQ(completed({"sweep", "axpy", "--size", "s"}), Words{"small"});
  EXPECT_EQ(completed({"run", "--backend", "c"}), (Words{"cpu", "cuda"}));
  EXPECT_EQ(completed({"experiment", "mpu-"}), completed({"experiment", "--only", "x", "mpu-"}));
  EXPECT_EQ(completed({"show", "pol"}), Words{"policy"});
  EXPECT_EQ(completed({"show", "policy", "tom-o"}), (Words{"tom-oracle", ":files"}));
  EXPECT_EQ(completed({"list", "mach"}), Words{"machines"});
  EXPECT_EQ(completed({"run", "--json", "x"}), Words{":files"});
  EXPECT_EQ(completed({"run", "--", "./app", ""}), Words{":files"});
  EXPECT_EQ(completed({"merge", ""}), Words{":files"});
  EXPECT_EQ(completed({"noc", ""}), Words{});
  EXPECT_EQ(completed({"rum", ""}), Words{});
}

TEST(Completion, KnowsTheKeysOfMachineAndPolicies) {
  EXPECT_EQ(completed({"run", "--set", "links.gpu_to_mem"}), Words{"links.gpu_to_memory_mbps="});
  EXPECT_EQ(completed({"run", "--set", "sm.scheduler_policy="}),
            (Words{"sm.scheduler_policy=gto", "sm.scheduler_policy=lrr"}));
  EXPECT_EQ(completed({"sweep", "axpy", "--set", "sm.scheduler_policy=gto,l"}),
            Words{"sm.scheduler_policy=gto,lrr"});
  // Keys are those of the machine and the policies that are typed.
  EXPECT_TRUE(has(completed({"run", "--set", "links."}), "links.gpu_to_memory_mbps="));
  EXPECT_FALSE(has(completed({"run", "--machine", "gtx480", "--set", "links."}),
                   "links.gpu_to_memory_mbps="));
  EXPECT_FALSE(has(completed({"run", "--set", "pages."}), "pages.chunk="));
  EXPECT_TRUE(has(completed({"run", "--policy", "coda", "--set", "pages."}), "pages.chunk="));
  EXPECT_EQ(completed({"run", "--policy", "no-such", "--set", "gpu.sms"}).front(), "gpu.sms=");
}

TEST(Completion, OffersWhatOptionsCanBe) {
  EXPECT_EQ(completed({"noc", "--topology", ""}), (Words{"mesh", "crossbar", "butterfly", "full"}));
  EXPECT_EQ(completed({"dram", "--traffic=s"}), (Words{"--traffic=stream", "--traffic=strided"}));
  EXPECT_EQ(completed({"dram", "--standard", "ddr3-1600k,ddr4-2400r"}).back(), ":files");
  EXPECT_EQ(completed({"area", "--areas", "mpu-20"}), (Words{"mpu-20nm", ":files"}));
  EXPECT_TRUE(has(completed({"experiment", "coda", "--only", "speedup,e"}), "speedup,energy"));
  // All options have values to offer, or files, but for numbers, patterns and names of the user's
  // own.
  const std::regex option("\n  (?:-.,|   ) --([a-z-]+) ([^ \n]+)");
  const std::set<std::string> free = {"N",           "X",
                                      "N,N...",      "CYCLE",
                                      "CYCLES",      "BYTES",
                                      "SHARE",       "SHARES",
                                      "REGEX",       "NUMBERS",
                                      "RATES",       "MIB",
                                      "PORT",        "i/n",
                                      "TIME",        "LIST",
                                      "STREAM",      "SECONDS",
                                      "WHAT",        "POINTS",
                                      "I..J[:K]",    "ERROR[:[K][:SEED]]",
                                      "'OPTION...'", "PARAMETER:all|block"};
  const std::set<std::string> own = {"kernel", "slurm-partition", "slurm-account"};
  size_t options = 0;
  for (const std::string& command : command_names()) {
    const std::string help = run_program({command, "--help"}).out;
    for (auto at = std::sregex_iterator(help.begin(), help.end(), option);
         at != std::sregex_iterator(); ++at) {
      const std::string name = (*at)[1], value = (*at)[2];
      if (free.contains(value) || own.contains(name) || (command == "noc" && name == "size"))
        continue;
      Words words = {command};
      if (command == "show") words = words + Words{"machine", "tom"};
      if (name == "only") words.push_back("coda");
      EXPECT_FALSE(completed(words + Words{"--" + name, ""}).empty())
          << command << " --" << name << " " << value;
      options += 1;
    }
  }
  EXPECT_GE(options, 60u);
}

/// A shell's answer to a script, with the program first on the PATH, in a folder with two files.
std::string in_shell(const std::string& shell, const std::string& script) {
  TemporaryFolder folder;
  write_text(folder.file("mine.toml"), "");
  write_text(folder.file("my machine.toml"), "");
  TemporaryFolder outside;
  const std::string out = outside.file("out.txt"), file = outside.file("script");
  write_text(file, script);
  const std::string program = NW_PROGRAM;
  const std::string command = "cd '" + folder.path().string() + "' && HOME='" +
                              outside.path().string() + "' PATH='" +
                              program.substr(0, program.rfind('/')) + "':\"$PATH\" " + shell +
                              " '" + file + "' > '" + out + "' 2>&1";
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 0) << read_text(out);
  return read_text(out);
}

/// The words that bash makes of a line that ends with a tab.
std::string in_bash(const std::string& line) {
  return in_shell("bash", "eval \"$(nearwarp completion bash)\"\ncompopt() { :; }\nCOMP_LINE='" +
                              line + "' COMP_POINT=" + std::to_string(line.size()) +
                              "\n_nearwarp\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n");
}

TEST(Completion, WorksInBash) {
  if (std::system("command -v bash > /dev/null 2>&1") != 0) GTEST_SKIP() << "no bash";
  EXPECT_EQ(in_bash("nearwarp swe"), "sweep\n");
  EXPECT_EQ(in_bash("nearwarp run kmeans --explai"), "--explain\n");
  EXPECT_EQ(in_bash("nearwarp run --policy baseline,tom-o"), "baseline,tom-oracle\n");
  // Bash takes "=" for the end of a word: only what comes behind it is replaced.
  EXPECT_EQ(in_bash("nearwarp run --machine=gtx"), "gtx480\n");
  EXPECT_EQ(in_bash("nearwarp run --set sm.scheduler_policy="), "gto\nlrr\n");
  EXPECT_EQ(in_bash("nearwarp run --set links.gpu_to_mem"), "links.gpu_to_memory_mbps=\n");
  EXPECT_TRUE(contains(in_bash("nearwarp "), "experiment\n"));
  // Words may be in quotes, and paths behind "=" and commas.
  EXPECT_EQ(in_bash("nearwarp run --machine \"gtx"), "gtx480\n");
  EXPECT_EQ(in_bash("nearwarp run --machine my\\ own.toml --explai"), "--explain\n");
  EXPECT_EQ(in_bash("nearwarp run --machine=mi"), "mine.toml\n");
  EXPECT_EQ(in_bash("nearwarp run --policy baseline,mi"), "baseline,mine.toml\n");
  EXPECT_EQ(in_bash("nearwarp run --machine ./my\\ ma"), "./my machine.toml\n");
}

TEST(Completion, WorksInFish) {
  if (std::system("command -v fish > /dev/null 2>&1") != 0) GTEST_SKIP() << "no fish";
  const auto in_fish = [](const std::string& line) {
    return in_shell("fish", "nearwarp completion fish | source\ncomplete -C '" + line + "'\n");
  };
  EXPECT_EQ(in_fish("nearwarp swe"), "sweep\tmany configurations, resumable\n");
  EXPECT_EQ(in_fish("nearwarp run --policy baseline,tom-o"), "baseline,tom-oracle\n");
  EXPECT_EQ(in_fish("nearwarp run --machine=gtx"), "--machine=gtx480\n");
  EXPECT_EQ(in_fish("nearwarp run --machine ./mi"), "./mine.toml\n");
  EXPECT_EQ(in_fish("nearwarp run --machine=mi"), "--machine=mine.toml\n");
  EXPECT_EQ(in_fish("nearwarp run --policy baseline,mi"), "baseline,mine.toml\n");
  EXPECT_EQ(in_fish("nearwarp run --machine ./my\\ ma"), "./my machine.toml\n");
}

/// The line that a zsh in a terminal of its own has after a tab.
std::string in_zsh(const std::string& line) {
  return in_shell("zsh -f", R"zsh(zmodload zsh/zpty
zpty inner zsh -f -i
zpty -w inner 'PS1= TERM=dumb; autoload -Uz compinit; compinit -u -D; eval "$(nearwarp completion zsh)"'
zpty -w inner 'told() { print -r -- "$BUFFER" > ~/line.part; mv ~/line.part ~/line }; zle -N told'
zpty -w inner 'bindkey "^X" told; : > ~/ready'
for file in ~/ready ~/line; do
  for i in {1..300}; do [[ -e $file ]] && break; sleep 0.1; done
  [[ $file == */ready ]] && sleep 0.3 && zpty -w -n inner ')zsh" +
                                line + R"zsh('$'\t\x18'
done
cat ~/line
)zsh");
}

TEST(Completion, WorksInZsh) {
  if (std::system("command -v zsh > /dev/null 2>&1") != 0) GTEST_SKIP() << "no zsh";
  EXPECT_EQ(in_zsh("nearwarp swe"), "nearwarp sweep \n");
  EXPECT_EQ(in_zsh("nearwarp run --policy baseline,tom-o"),
            "nearwarp run --policy baseline,tom-oracle \n");
  EXPECT_EQ(in_zsh("nearwarp run --set links.gpu_to_mem"),
            "nearwarp run --set links.gpu_to_memory_mbps=\n");
  EXPECT_EQ(in_zsh("nearwarp run --machine=mi"), "nearwarp run --machine=mine.toml \n");
  EXPECT_EQ(in_zsh("nearwarp run --policy baseline,mi"),
            "nearwarp run --policy baseline,mine.toml \n");
  EXPECT_EQ(in_zsh("nearwarp run --machine ./my\\ ma"),
            "nearwarp run --machine ./my\\ machine.toml \n");
}

TEST(Completion, ScriptsOfOtherShellsAreRead) {
  for (const std::string shell : {"zsh", "fish"}) {
    if (std::system(("command -v " + shell + " > /dev/null 2>&1").c_str()) != 0) continue;
    TemporaryFolder folder;
    const std::string script = folder.file("script");
    write_text(script, run_program({"completion", shell}).out);
    EXPECT_EQ(std::system((shell + " -n '" + script + "'").c_str()), 0) << shell;
  }
  const Outcome outcome = run_program({"completion", "csh"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_TRUE(contains(outcome.err, "no completion for 'csh'")) << outcome.err;
}

}  // namespace
}  // namespace nearwarp::testing
