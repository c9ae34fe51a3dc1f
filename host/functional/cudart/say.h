// Messages to who runs the application.
#pragma once

#include <string>

namespace nearwarp::cudart {

/// Print "nearwarp: MESSAGE" to standard error.
void say(const std::string& message);
/// Says each text only once.
void say_once(const std::string& message);

}  // namespace nearwarp::cudart
