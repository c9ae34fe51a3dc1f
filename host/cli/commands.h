// The program's commands, a file each. They print to standard output and throw nearwarp::Error;
// the value returned is the exit code.
#pragma once

#include <string>

#include "host/cli/options.h"

namespace nearwarp::cli {

int run_command(const Words& words);
int check_command(const Words& words);
int record_command(const Words& words);
int sweep_command(const Words& words);
int experiment_command(const Words& words);
int compare_command(const Words& words);
int merge_command(const Words& words);
int analyze_command(const Words& words);
/// What analyze_command() does with --mappings, --sharing and --objects.
int analyze_mappings_command(const CommandLine& line);
int analyze_sharing_command(const CommandLine& line);
int analyze_objects_command(const CommandLine& line);
int noc_command(const Words& words);
int dram_command(const Words& words);
int probe_command(const Words& words);
int area_command(const Words& words);
int devices_command(const Words& words);
int list_command(const Words& words);
/// What it lists: "workloads", "machines" and so on.
Words list_kinds();
int show_command(const Words& words);
int restructure_command(const Words& words);

/// Version of nearwarp and 8 digits of its models' hash, e.g. "0.1.0+6fd52c3a".
std::string version();

/// `text` in lines of at most `width` columns; `indent` is put in front of all but the first, and
/// not counted. A list "a,b,c" that is too long for a line ends lines with its commas.
std::string wrapped(const std::string& text, size_t width, const std::string& indent);

/// `text` with those of its lines that are longer than `width` broken between words; what comes of
/// a line is further to the right than its beginning.
std::string fitted_lines(const std::string& text, size_t width);

/// Print to standard output; throws nearwarp::Error if it cannot take the text (a full disk).
void print(const std::string& text);

}  // namespace nearwarp::cli
