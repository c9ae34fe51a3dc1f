// CODA (H. Kim et al., arXiv:1710.09517, 2017): pages that stay in a stack or are spread over all,
// and thread blocks that run where their pages are. The thread blocks are the dispatcher's
// ([dispatch] of a policy); this is the pages' side. It attaches to SMs only where these place
// pages by their first touch.
#pragma once

#include "host/mechanisms/mechanism.h"

namespace nearwarp::coda {

class CodaMechanism final : public sim::Mechanism {
 public:
  std::string_view name() const override { return "coda"; }
  std::unique_ptr<sim::MechanismRun> prepare(const sim::RunSubject& subject, uint32_t number,
                                             sim::ImageTables& image) const override;
};

}  // namespace nearwarp::coda
