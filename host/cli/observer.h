// What is executed or read for a command, on the terminal: notes and a progress bar on standard
// error, and Ctrl-C.
#pragma once

#include <string>

#include "host/cli/notes.h"
#include "host/programs/observer.h"

namespace nearwarp::cli {

class Terminal final : public programs::Observer {
 public:
  void tell(const std::string& message) override;
  bool go_on() override;
  bool progress(const std::string& what, uint64_t done, uint64_t total, const char* unit) override;

 private:
  Notes notes_;
};

}  // namespace nearwarp::cli
