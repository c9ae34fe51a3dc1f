// nearwarp completion: prints the scripts by which shells complete the command line.
#include <fmt/format.h>

#include "host/cli/command.h"
#include "host/cli/commands.h"
#include "host/cli/completion/complete.h"
#include "host/config/nearest.h"
#include "host/core/error.h"

namespace nearwarp::cli {

// The texts of the files in completion/.
namespace scripts {
extern const char* const bash;
extern const char* const zsh;
extern const char* const fish;
}  // namespace scripts

namespace {

const char* script_of(const std::string& shell) {
  if (shell == "bash") return scripts::bash;
  if (shell == "zsh") return scripts::zsh;
  return shell == "fish" ? scripts::fish : nullptr;
}

CommandLine declare_completion() {
  CommandLine line("completion", "bash|zsh|fish",
                   "Print the script that completes nearwarp's command line in a shell. For bash:\n"
                   "  eval \"$(nearwarp completion bash)\"\n"
                   "'nearwarp completion -- WORD...' is what the scripts ask: it prints what\n"
                   "the last WORD could become, a line each with its meaning behind a tab, and\n"
                   ":files where names of files may stand, behind what follows the tab");
  line.offer("", [](const Typed&) { return std::vector<Candidate>{{"bash"}, {"zsh"}, {"fish"}}; });
  return line;
}

int run_completion(const CommandLine& line, const Words& application) {
  if (!application.empty()) {
    std::string text;
    const Completion found = complete(application);
    for (const Candidate& one : found.candidates)
      text += one.word + (one.meaning.empty() ? "" : "\t" + one.meaning) + "\n";
    if (found.files)
      text += ":files" + (found.before_files.empty() ? "" : "\t" + found.before_files) + "\n";
    print(text);
    return 0;
  }
  const std::string& shell = line.positional()[0];
  const char* const script = script_of(shell);
  if (script == nullptr)
    throw UsageError(fmt::format("there is no completion for '{}'{}", shell,
                                 config::suggestion(shell, {"bash", "zsh", "fish"})));
  print(script);
  return 0;
}

}  // namespace

Command completion_command() {
  return {.name = "completion",
          .uses = {{"bash|zsh|fish", "a script that completes commands"}},
          .declare = declare_completion,
          .least = 1,
          .most = 1,
          .application = true,
          .run = run_completion};
}

}  // namespace nearwarp::cli
