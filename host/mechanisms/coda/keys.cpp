// CODA's keys: the table [pages] of a policy.
#include <fmt/format.h>

#include <array>
#include <bit>

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
    {"cgp", "consecutive pages in consecutive stacks", false, {}, true},
    {"coda", "each object's pages spread, or where the thread blocks run that use them"},
    {"fta", "each page in the stack whose SM touches it first", false,
     "its pages lie where they are touched first, in the program and not in each part - cgp-only "
     "has pages whose places are known beforehand"},
};

using M = config::MachineConfig;

/// The parts that the memory is divided into, in words.
std::string_view parts_of(const config::Shape& shape) {
  return shape.in_stacks() ? "stacks" : shape.in_banks() ? "cores with banks" : "partitions";
}

constexpr config::Need kNeeds[] = {
    {"memory in parts, a power of two of them, for pages to lie in",
     [](const M& m, const P&) {
       const uint32_t parts = config::memory_parts(m);
       if (std::has_single_bit(parts)) return std::string();
       return fmt::format("it has {} {} - groups of pages have a page for each", parts,
                          parts_of(config::shape_of(m)));
     }},
    {"SMs in the memory stacks, whose first touches place pages",
     [](const M& m, const P& p) -> std::string {
       if (p.mapping != "fta") return "";
       const std::string lack =
           config::lack_of_shape(m, [](const config::Shape& s) { return s.sms_in_stacks(); });
       return lack.empty() ? "" : lack + ", or policy.mapping \"coda\" or \"cgp\"";
     }},
    {"a group of thread blocks for each part of the memory that has SMs",
     [](const M& m, const P& p) {
       const config::Shape& shape = config::shape_of(m);
       // In front of the memory, objects lie as they would for SMs in it; thread blocks do not.
       const uint32_t wanted = shape.one_gpu ? 1 : config::memory_parts(m);
       if (p.mapping != "coda" || p.dispatch.groups == wanted) return std::string();
       if (shape.one_gpu)
         return fmt::format(
             "dispatch.groups is {}, where kernels run in front of the memory and thread blocks "
             "have no affinity - with dispatch.groups=1 it shows what pages in {} cost there",
             p.dispatch.groups, parts_of(shape));
       return fmt::format(
           "dispatch.groups is {} - objects lie where their thread blocks run only if there is a "
           "group for each of the {} {}",
           p.dispatch.groups, wanted, parts_of(shape));
     }},
};

constexpr config::Claim kClaims[] = {
    {config::claims::kPages, "spreads or puts into parts of the memory"},
};

}  // namespace

const config::MechanismDeclaration& declaration() {
  static constexpr config::MechanismDeclaration kDeclaration = {
      .name = "coda",
      .doc = "pages are spread over stacks or stay in one, after the CODA paper",
      .mappings = kMappings,
      .own_mapping = true,
      .keys = kKeys,
      .needs = kNeeds,
      .claims = kClaims,
  };
  return kDeclaration;
}

}  // namespace nearwarp::coda
