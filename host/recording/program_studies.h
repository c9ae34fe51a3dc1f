// Studies of programs, kept for recordings of them that come and go.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "host/recording/studies.h"

namespace nearwarp::runtime {

/// Recording::studies by a key that names all of a recording's contents, so that a
/// recording that is made again has the results of the last one. Not for several threads.
class ProgramStudies {
 public:
  std::shared_ptr<Studies> of(const std::string& key) {
    std::shared_ptr<Studies>& studies = by_key_[key];
    if (studies == nullptr) studies = std::make_shared<Studies>();
    return studies;
  }

 private:
  std::map<std::string, std::shared_ptr<Studies>> by_key_;
};

}  // namespace nearwarp::runtime
