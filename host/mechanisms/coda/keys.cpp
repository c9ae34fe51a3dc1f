// CODA's keys: the table [pages] of a policy.
#include <array>

#include "host/config/mechanism.h"
#include "host/mechanisms/coda/settings.h"

namespace nearwarp::coda {
namespace {

using config::Member;
using P = config::PolicyConfig;

constexpr bool kOptional = true;

#define NW_PAGES(member) \
  "pages." #member, [](P& p) -> Member { return &p.table<PageSettings>().member; }

constexpr std::array<config::Key<P>, 5> kKeys = {{
    {NW_PAGES(chunk), "", 0, 0, false, "blocks rounded page",
     "coda: consecutive bytes of an object in one stack (Eq. 2). blocks: those of the thread "
     "blocks "
     "that run in a stack at a time, and pages at the ends are shared; rounded: as many, rounded "
     "up "
     "to whole pages; page: a page.",
     kOptional},
    {NW_PAGES(strides), "", 0, 0, false, "both code traces",
     "coda: where the distance between thread blocks in an object comes from. both: the code "
     "where it is regular, else the traces; code: the code alone, and what it uses regularly "
     "stays in stacks; traces: the traces alone.",
     kOptional},
    {NW_PAGES(before_touch), "", 0, 0, false, "known cgp fgp",
     "fta: where a page lies before its first touch. known: where it belongs, as if its first "
     "touch had been known (an idealisation); cgp: consecutive pages in consecutive stacks; fgp: "
     "spread over all. From there, the SM that touches it first moves it.",
     kOptional},
    {NW_PAGES(units), "", 0, 0, false, "machine objects",
     "coda, with near-bank units: how the lines of an object in a core are dealt to its units. "
     "machine: as near_bank.unit_interleave_bytes says; objects: for each object by the runs of "
     "lines, or page by page, with which most of its accesses are behind the unit of their warp.",
     kOptional},
    {NW_PAGES(local_percent), "%", 0, 100, false, "",
     "coda: an object's pages stay in stacks if at least so many of its accesses are then local.",
     kOptional},
}};

constexpr config::MappingChoice kMappings[] = {
    {"cgp", "consecutive pages in consecutive stacks"},
    {"coda", "each object's pages spread, or where the thread blocks run that use them"},
    {"fta", "each page in the stack whose SM touches it first"},
};

}  // namespace

const config::MechanismDeclaration& declaration() {
  static constexpr config::MechanismDeclaration kDeclaration = {
      .name = "coda",
      .doc = "pages are spread over stacks or stay in one, after the CODA paper",
      .mappings = kMappings,
      .own_mapping = true,
      .keys = kKeys,
  };
  return kDeclaration;
}

}  // namespace nearwarp::coda
