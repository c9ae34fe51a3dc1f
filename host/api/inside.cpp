// The way from objects of the public interface to what they are made of.
#include "host/api/inside.h"

#include "host/api/state.h"
#include "host/core/error.h"

namespace nearwarp {

const report::RunResult& run_of(const Result& result) {
  if (result.whole == nullptr)
    throw UsageError("a result that no run has made was used - take one of a run");
  return result.whole->run;
}

}  // namespace nearwarp
