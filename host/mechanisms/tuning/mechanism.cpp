#include "host/mechanisms/tuning/mechanism.h"

#include "host/mechanisms/tuning/setup.h"

namespace nearwarp::tuning {

std::unique_ptr<sim::MechanismRun> TuningMechanism::prepare(const sim::RunSubject& subject,
                                                            uint32_t number,
                                                            sim::ImageTables& image) const {
  return tom::prepare_offloading(
      subject, number, image, [&](uint8_t mark, tom::OffloadTables& tables) {
        return set_up(subject.recording, subject.policy, mark, tables, image);
      });
}

const sim::Mechanism& mechanism() {
  static const TuningMechanism it;
  return it;
}

}  // namespace nearwarp::tuning
