// The study of placement rules for a program's memory objects, as text and as JSON.
#include "host/mechanisms/coda/report/object_places.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "host/core/json_as_text.h"
#include "host/timing/report/columns.h"

namespace nearwarp::coda {

using namespace report;

double ObjectPlaces::local_share(bool ObjectPlace::*rule) const {
  double local = 0, all = 0;
  for (const ObjectPlace& o : objects) {
    all += static_cast<double>(o.accesses);
    local += o.*rule ? static_cast<double>(o.local) : static_cast<double>(o.accesses) / stacks;
  }
  return all == 0 ? 0 : local / all;
}

std::string format_object_places(const ObjectPlaces& p, size_t width) {
  std::string text = fmt::format("{}, size {}, on machine {} ({} stacks)\n", p.workload, p.size,
                                 p.machine, p.stacks);
  if (p.objects.empty()) return text + "No kernel touches device memory.\n";
  uint64_t all = 0;
  for (const ObjectPlace& o : p.objects) all += o.accesses;
  std::vector<std::string> names;
  Column bytes{"bytes", {}}, accesses{"accesses %", {}}, block{"B", {}}, local{"local %", {}},
      distance{"by B", {}}, share{"by share", {}};
  for (const ObjectPlace& o : p.objects) {
    names.push_back(o.name.empty() ? fmt::format("{:#x}", o.address) : o.name);
    bytes.cells.push_back(grouped(o.bytes));
    accesses.cells.push_back(percent(o.accesses, all));
    block.cells.push_back(o.block_bytes == 0 ? "-"
                                             : (o.constant ? "" : "~") + grouped(o.block_bytes) +
                                                   (o.from_code ? " code" : ""));
    local.cells.push_back(o.block_bytes == 0 ? "-" : percent(o.local, o.accesses));
    distance.cells.push_back(o.by_distance ? "cgp" : "fgp");
    share.cells.push_back(o.by_share ? "cgp" : "fgp");
  }
  text += columns_text(names, {bytes, accesses, block, local, distance, share}, width);
  return text + "\n" +
         wrapped(
             fmt::format(
                 "Of all accesses of lanes are to the stack of their thread block: spread {:.1f} "
                 "%, by B {:.1f} %, by share {:.1f} %.",
                 100.0 / p.stacks, 100 * p.local_share(&ObjectPlace::by_distance),
                 100 * p.local_share(&ObjectPlace::by_share)),
             width) +
         wrapped(
             fmt::format(
                 "B: bytes from one thread block's part to the next one's (~: in the mean; code: "
                 "by "
                 "the kernel's code); local: accesses to the block's own stack, blocks running by "
                 "Eq. (1), were the object put in stacks by Eq. (2) and (3); by B: it is put there "
                 "if there is a B; by share: if {} % of the accesses of the kernel that touches it "
                 "first are then local (pages.local_percent); fgp: spread over all stacks.",
                 p.local_percent),
             width);
}

std::string object_places_json(const ObjectPlaces& p) {
  nlohmann::ordered_json json;
  json["schema"] = "nearwarp.objects/1";
  json["nearwarp_version"] = p.version;
  json["workload"] = p.workload;
  json["size"] = p.size;
  json["machine"] = p.machine;
  json["policy"] = p.policy;
  json["stacks"] = p.stacks;
  json["local_percent"] = p.local_percent;
  json["local_share_by_distance"] = p.local_share(&ObjectPlace::by_distance);
  json["local_share_by_share"] = p.local_share(&ObjectPlace::by_share);
  json["objects"] = nlohmann::ordered_json::array();
  for (const ObjectPlace& o : p.objects)
    json["objects"].push_back({{"name", o.name},
                               {"address", o.address},
                               {"bytes", o.bytes},
                               {"accesses", o.accesses},
                               {"block_bytes", o.block_bytes},
                               {"constant", o.constant},
                               {"from_code", o.from_code},
                               {"local", o.local},
                               {"by_distance", o.by_distance},
                               {"by_share", o.by_share}});
  return json_as_text(json, 2) + "\n";
}

}  // namespace nearwarp::coda
