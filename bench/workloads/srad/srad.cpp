#include <algorithm>

#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr int kBlock = 512;
constexpr float kLambda = 0.5f;

struct Shape {
  int rows = 0, columns = 0, iterations = 0;
};

/// Rodinia's default image has 502 x 458 pixels and 100 iterations.
Shape shape(Size size) {
  switch (size) {
    case Size::kSmall:
      return {126, 115, 2};
    case Size::kMedium:
      return {502, 458, 2};
    case Size::kLarge:
      return {1004, 916, 4};
    case Size::kPaper:
      return {502, 458, 100};
  }
  return {};
}

/// For each row (or column) the neighbouring one; at the edge, itself.
std::vector<int32_t> neighbours(int n, int step) {
  std::vector<int32_t> v(n);
  for (int i = 0; i < n; ++i) v[i] = std::clamp(i + step, 0, n - 1);
  return v;
}

/// The sum in the device's order: by halves, in blocks of 512.
float sum_of(std::vector<float> v) {
  while (v.size() > 1) {
    std::vector<float> next;
    for (size_t first = 0; first < v.size(); first += kBlock) {
      float s[kBlock] = {};
      for (size_t k = 0; k < kBlock && first + k < v.size(); ++k) s[k] = v[first + k];
      for (int half = kBlock / 2; half > 0; half /= 2)
        for (int k = 0; k < half; ++k) s[k] += s[k + half];
      next.push_back(s[0]);
    }
    v = std::move(next);
  }
  return v[0];
}

/// q0 squared: the variance over the square of the mean.
float speckle(float sum, float squares, int n) {
  const float mean = sum / static_cast<float>(n);
  const float variance = squares / static_cast<float>(n) - mean * mean;
  return variance / (mean * mean);
}

class Reference {
 public:
  Reference(const Shape& s, std::vector<float> image)
      : s_(s),
        n_(s.rows * s.columns),
        image_(std::move(image)),
        dn_(n_),
        ds_(n_),
        dw_(n_),
        de_(n_),
        c_(n_),
        north_(neighbours(s.rows, -1)),
        south_(neighbours(s.rows, 1)),
        west_(neighbours(s.columns, -1)),
        east_(neighbours(s.columns, 1)) {}

  void iterate() {
    std::vector<float> squares(n_);
    for (int i = 0; i < n_; ++i) squares[i] = image_[i] * image_[i];
    const float q0 = speckle(sum_of(image_), sum_of(std::move(squares)), n_);
    for (int i = 0; i < n_; ++i) coefficient(i, q0);
    for (int i = 0; i < n_; ++i) {
      const int row = i % s_.rows, column = i / s_.rows;
      const float d = c_[i] * dn_[i] + c_[south_[row] + s_.rows * column] * ds_[i] +
                      c_[i] * dw_[i] + c_[row + s_.rows * east_[column]] * de_[i];
      image_[i] = image_[i] + 0.25f * kLambda * d;
    }
  }
  const std::vector<float>& image() const { return image_; }

 private:
  void coefficient(int i, float q0) {
    const int row = i % s_.rows, column = i / s_.rows;
    const float here = image_[i];
    const float dn = image_[north_[row] + s_.rows * column] - here;
    const float ds = image_[south_[row] + s_.rows * column] - here;
    const float dw = image_[row + s_.rows * west_[column]] - here;
    const float de = image_[row + s_.rows * east_[column]] - here;
    const float g2 = (dn * dn + ds * ds + dw * dw + de * de) / (here * here);
    const float l = (dn + ds + dw + de) / here;
    const float numerator = 0.5f * g2 - 0.0625f * (l * l);
    float den = 1.0f + 0.25f * l;
    const float q = numerator / (den * den);
    den = (q - q0) / (q0 * (1.0f + q0));
    const float value = 1.0f / (1.0f + den);
    dn_[i] = dn;
    ds_[i] = ds;
    dw_[i] = dw;
    de_[i] = de;
    c_[i] = value < 0.0f ? 0.0f : value > 1.0f ? 1.0f : value;
  }

  const Shape s_;
  const int n_;
  std::vector<float> image_, dn_, ds_, dw_, de_, c_;
  const std::vector<int32_t> north_, south_, west_, east_;
};

class Srad final : public Workload {
 public:
  std::string name() const override { return "srad"; }
  std::string description() const override {
    return "speckle reducing anisotropic diffusion of an image";
  }
  std::string source() const override { return "Rodinia (srad_v1)"; }
  std::string ptx_name() const override { return "srad.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const Shape s = shape(size);
    const int n = s.rows * s.columns;
    std::vector<float> image(n);
    for (int i = 0; i < n; ++i) image[i] = 1.0f + random_unit(1, i);
    const auto north = device.upload(neighbours(s.rows, -1), "north"),
               south = device.upload(neighbours(s.rows, 1), "south"),
               west = device.upload(neighbours(s.columns, -1), "west"),
               east = device.upload(neighbours(s.columns, 1), "east");
    const auto d_image = device.upload(image, "image");
    const auto array = [&](const char* label) {
      return device.allocate(uint64_t(n) * sizeof(float), label);
    };
    const auto sums = array("sums"), squares = array("squares"), dn = array("d_north"),
               ds = array("d_south"), dw = array("d_west"), de = array("d_east"), c = array("c");
    const runtime::Dim3 grid = blocks_for(n, kBlock);
    Reference reference(s, std::move(image));
    for (int k = 0; k < s.iterations && !device.limit_reached(); ++k) {
      device.launch(module, "srad_prepare", grid, {kBlock}, 0,
                    runtime::KernelArgs(d_image, sums, squares, n));
      for (int left = n, apart = 1; left > 1; left = (left + kBlock - 1) / kBlock, apart *= kBlock)
        device.launch(module, "srad_reduce", blocks_for(left, kBlock), {kBlock}, 0,
                      runtime::KernelArgs(sums, squares, left, apart));
      if (device.limit_reached()) break;
      const float q0 =
          speckle(device.download<float>(sums, 1)[0], device.download<float>(squares, 1)[0], n);
      device.launch(
          module, "srad_coefficients", grid, {kBlock}, 0,
          runtime::KernelArgs(north, south, west, east, d_image, q0, dn, ds, dw, de, c, s.rows, n));
      device.launch(
          module, "srad_update", grid, {kBlock}, 0,
          runtime::KernelArgs(south, east, kLambda, dn, ds, dw, de, c, d_image, s.rows, n));
      reference.iterate();
    }
    if (device.limit_reached()) return skipped_by_limit();
    return check_bits("image", device.download<float>(d_image, n), reference.image());
  }
};

}  // namespace

std::unique_ptr<Workload> make_srad() { return std::make_unique<Srad>(); }

}  // namespace nearwarp::workloads
