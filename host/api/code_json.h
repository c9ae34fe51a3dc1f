// Offloading candidates and refusals as a document.
#pragma once

#include <string>

#include "host/api/nearwarp/analysis.h"

namespace nearwarp {

/// The document, in the format nearwarp.analysis/1 (docs/json.md).
std::string code_document(const CodeAnalysis& analysis);

}  // namespace nearwarp
