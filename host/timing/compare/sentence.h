// Says in one sentence how a policy changes a program's run.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace nearwarp::compare {

/// "kmeans: 118,976 cycles lost under tom (+61.3 %), 70,487 of them in kmeans_transpose, whose
/// offloaded warps wait for remote lines". Of runs (nearwarp.run/1) of one program on machines that
/// may be told apart by anything; without a kernel where those are not the same. `under` names the
/// second run.
std::string sentence(const nlohmann::ordered_json& before, const nlohmann::ordered_json& after,
                     const std::string& program, const std::string& under);

}  // namespace nearwarp::compare
