// Manual pages in the format of man(1), made from the table of commands.
#pragma once

#include <string>

#include "host/cli/command.h"

namespace nearwarp::cli {

/// nearwarp(1): all commands.
std::string manual_page();
/// nearwarp-NAME(1): a command and its options.
std::string manual_page(const Command& command);

}  // namespace nearwarp::cli
