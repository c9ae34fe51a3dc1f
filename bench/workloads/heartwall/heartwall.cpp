#include "bench/workloads/common/check.h"
#include "bench/workloads/heartwall/reference.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

struct Shape {
  HeartFilm film;
  int columns, rows;  ///< points
};

Shape shape_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return {{192, 128, 4}, 6, 3};
    case Size::kMedium:
      return {{512, 384, 8}, 12, 9};
    case Size::kLarge:
      return {{1536, 1024, 8}, 32, 24};
    case Size::kPaper:
      return {{1536, 1024, 20}, 32, 24};
  }
  return {};
}

class Heartwall final : public Workload {
 public:
  std::string name() const override { return "heartwall"; }
  std::string description() const override {
    return "tracking of points by normalised cross-correlation of templates, one launch per frame";
  }
  std::string source() const override { return "Rodinia, heartwall; its correlation step only"; }
  std::string ptx_name() const override { return "heartwall.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const auto [film, columns, rows] = shape_of(size);
    const auto num_points = static_cast<uint32_t>(columns * rows);
    std::vector<std::vector<float>> frames;
    for (int t = 0; t < film.num_frames; ++t) frames.push_back(heart_frame(film, t));
    HeartTracks tracks = heart_start(film, frames[0], columns, rows);

    const auto d_templates = device.upload(tracks.templates, "templates");
    const auto d_points = device.upload(tracks.points, "points");
    const auto d_buffers =
        device.allocate(uint64_t{num_points} * kHeartBuffer * sizeof(float), "buffers");
    for (int t = 1; t < film.num_frames; ++t) {
      const auto d_frame = device.upload(frames[t], "frame");
      device.launch(module, "heartwall_track", {num_points}, {kHeartSearch * kHeartSearch}, 0,
                    runtime::KernelArgs(d_frame, d_templates, d_points, d_buffers, film.width,
                                        film.height, kHeartKeep));
      if (device.limit_reached()) return skipped_by_limit();
    }

    for (int t = 1; t < film.num_frames; ++t) heart_track(film, frames[t], tracks);
    return both(
        check_equal("points", device.download<int32_t>(d_points, tracks.points.size()),
                    tracks.points),
        check_bits("templates", device.download<float>(d_templates, tracks.templates.size()),
                   tracks.templates));
  }
};

}  // namespace

std::unique_ptr<Workload> make_heartwall() { return std::make_unique<Heartwall>(); }

}  // namespace nearwarp::workloads
