// Rodinia's heartwall as it is launched: 51 points, blocks of 512 threads, frames of 590 x 609 with
// templates of 51 x 51 and windows of 81 x 81 pixels at size paper. Frames are generated. A
// template's pixels times a correlation's are what a frame takes, so the smaller sizes have smaller
// ones.
#include "bench/workloads/common/check.h"
#include "bench/workloads/heartwall/reference_original.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kBlockThreads = 512;  // kThreads in heartwall_original.cu

struct Shape {
  HeartFilm film;
  HeartSizes sizes;
  int first = 1;  ///< number of the frame after frame 0; every tenth moves templates and windows
};

Shape shape_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return {{128, 128, 11}, {.t = 3, .s = 5}, 10};
    case Size::kMedium:
      return {{256, 256, 2}, {.t = 6, .s = 10}};
    case Size::kLarge:
      return {{590, 609, 2}, {.t = 12, .s = 20}};
    case Size::kPaper:
      return {{590, 609, 104}, {.t = 25, .s = 40}};
  }
  return {};
}

/// HeartParameters and HeartBuffers of heartwall_original.cu.
struct Parameters {
  int32_t rows, columns, t, s;
};
struct Buffers {
  uint64_t templates, turned, window, squares, convolution, padded, down, columns, along, sums,
      square_sums, was, mask, partial, best;
};

class HeartwallOriginal final : public Workload {
 public:
  std::string name() const override { return "heartwall-original"; }
  std::string variant_of() const override { return "heartwall"; }
  std::string description() const override {
    return "heartwall with the original's buffers, steps and launch: 51 points, blocks of 512";
  }
  std::string source() const override { return "Rodinia, heartwall; on generated frames"; }
  std::string ptx_name() const override { return "heartwall_original.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const auto [film, sizes, first] = shape_of(size);
    const HeartWalls start = heart_walls_start(film, sizes);
    const Parameters parameters = {film.width, film.height, sizes.t, sizes.s};
    const Buffers buffers = allocate(device, sizes);
    device.copy_to_device(device.symbol(module, "heart"), &parameters, sizeof(parameters));
    device.copy_to_device(device.symbol(module, "heart_buffers"), &buffers, sizeof(buffers));
    const auto d_points = device.upload(start.points, "points");
    const auto d_places = device.upload(start.places, "places");
    for (int t = 0; t < film.num_frames; t = t == 0 ? first : t + 1) {
      const auto d_frame = device.upload(heart_frame(film, t), "frame");
      device.launch(module, "heartwall_original_track", {kHeartPoints}, {kBlockThreads}, 0,
                    runtime::KernelArgs(d_frame, t, d_points, d_places));
      if (device.limit_reached()) return skipped_by_limit();
    }

    HeartWalls walls = start;
    for (int t = 0; t < film.num_frames; t = t == 0 ? first : t + 1)
      heart_walls_track(film, sizes, heart_frame(film, t), t, walls);
    return both(
        check_equal("places", device.download<int32_t>(d_places, walls.places.size()),
                    walls.places),
        check_bits("templates", device.download<float>(buffers.templates, walls.templates.size()),
                   walls.templates));
  }

 private:
  static Buffers allocate(runtime::VirtualDevice& device, const HeartSizes& sizes) {
    const uint64_t in = 2 * sizes.t + 1, window = 2 * sizes.s + 1;
    const uint64_t c = in + window - 1, p = window + 2 * in;
    const auto buffer = [&](uint64_t values, const char* what) -> uint64_t {
      return device.allocate(kHeartPoints * values * sizeof(float), what);
    };
    Buffers b = {};
    b.templates = buffer(in * in, "templates");
    b.turned = buffer(in * in, "turned templates");
    b.window = buffer(window * window, "windows");
    b.squares = buffer(window * window, "squares");
    b.convolution = buffer(c * c, "convolutions");
    b.padded = buffer(p * p, "padded windows");
    b.down = buffer(p * p, "cumulative sums down");
    b.columns = buffer(c * p, "sums of columns");
    b.along = buffer(c * p, "cumulative sums along");
    b.sums = buffer(c * c, "sums");
    b.square_sums = buffer(c * c, "sums of squares");
    b.was = buffer(c * c, "last places");
    b.mask = buffer(c * c, "masks");
    b.partial = buffer(2 * c, "partial results");
    b.best = buffer(c, "maxima of rows");
    return b;
  }
};

}  // namespace

std::unique_ptr<Workload> make_heartwall_original() {
  return std::make_unique<HeartwallOriginal>();
}

}  // namespace nearwarp::workloads
