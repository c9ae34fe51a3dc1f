// nearwarp show: a machine, policy or energy file with the values in effect, as a TOML file that
// can be loaded.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "host/api/nearwarp/catalogue.h"
#include "host/cli/command.h"
#include "host/cli/commands.h"
#include "host/cli/completion/values.h"
#include "host/cli/expected.h"
#include "host/config/nearest.h"
#include "host/core/error.h"
#include "host/timing/report/file.h"

namespace nearwarp::cli {
namespace {

/// 'nearwarp show WORD' without a second word: lists a kind that only 'nearwarp list' knows. Else
/// throws UsageError, which says what is missing.
int show_one_word(const std::string& word) {
  const Words kinds = file_kinds(), listed = catalogue_kinds();
  const bool is_kind = std::ranges::find(kinds, word) != kinds.end();
  if (!is_kind && std::ranges::find(listed, word) != listed.end())
    return execute(*find_command("list"), {word});
  if (is_kind)
    throw UsageError(fmt::format("'nearwarp show {}' needs a NAME|FILE.toml - one of {}", word,
                                 fmt::join(file_names(word), ", ")));
  std::string meant;
  for (const std::string& kind : kinds) {
    const Words names = file_names(kind);
    if (std::find(names.begin(), names.end(), word) != names.end())
      meant += fmt::format("{}'nearwarp show {} {}'", meant.empty() ? "" : " or ", kind, word);
  }
  if (!meant.empty())
    throw UsageError(fmt::format("'nearwarp show' needs KIND NAME - did you mean {}?", meant));
  throw UsageError(fmt::format("cannot show '{}'{}", word, config::suggestion(word, kinds)));
}

CommandLine declare_show() {
  CommandLine line("show", "KIND NAME|FILE.toml",
                   "Print a file with the values in effect: every key with its meaning, the\n"
                   "value's source, and what --set changed. What is printed can be loaded.\n" +
                       fmt::format("KIND: {}", fmt::join(file_kinds(), ", ")));
  line.list("set", "override a key", "KEY=VALUE");
  line.value("json", "write keys, values, units and meanings to this file (docs/json.md)", "FILE");
  line.offer("", [](const Typed& typed) {
    return candidates(typed.positional().empty() ? file_kinds()
                                                 : file_names(typed.positional()[0]));
  });
  line.offer("set", shown_key_values);
  return line;
}

int run_show(const CommandLine& line, const Words& /*application*/) {
  const std::string& kind = line.positional()[0];
  if (line.positional().size() == 1) return show_one_word(kind);
  const std::string& name = line.positional()[1];
  const ShownFile file = taken(show(kind, name, line.texts("set")));
  if (line.given("json")) report::write_file(line.text("json"), file.document);
  print(file.text);
  return 0;
}

}  // namespace

Command show_command() {
  return {.name = "show",
          .uses = {{"KIND NAME", "all keys, values and meanings"}},
          .declare = declare_show,
          .least = 1,
          .most = 2,
          .run = run_show};
}

}  // namespace nearwarp::cli
