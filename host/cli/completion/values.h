// Values that options and words of several commands can have, for completion.
#pragma once

#include "host/cli/options.h"

namespace nearwarp::cli {

/// Names, without a meaning.
std::vector<Candidate> candidates(const Words& names);

std::vector<Candidate> machine_values(const Typed& typed);
std::vector<Candidate> policy_values(const Typed& typed);
std::vector<Candidate> workload_values(const Typed& typed);
std::vector<Candidate> size_values(const Typed& typed);
std::vector<Candidate> dram_values(const Typed& typed);
std::vector<Candidate> area_values(const Typed& typed);
std::vector<Candidate> experiment_values(const Typed& typed);
std::vector<Candidate> command_values(const Typed& typed);
/// Figures of the experiment that is typed.
std::vector<Candidate> figure_values(const Typed& typed);

/// Keys of the machine and of the policies that are typed, "links.gpu_to_memory_mbps=", and where
/// one key's values are known, "sm.scheduler_policy=gto".
std::vector<Candidate> key_values(const Typed& typed);
/// Keys of machines alone, of memory standards, and of machines, policies and areas.
std::vector<Candidate> machine_key_values(const Typed& typed);
std::vector<Candidate> dram_key_values(const Typed& typed);
std::vector<Candidate> area_key_values(const Typed& typed);
/// Keys of the file that `nearwarp show KIND NAME` is to print.
std::vector<Candidate> shown_key_values(const Typed& typed);

/// Offers what --machine, --policy, --size and --set are in most commands, of those that are
/// declared.
void offer_usual(CommandLine& line);

}  // namespace nearwarp::cli
