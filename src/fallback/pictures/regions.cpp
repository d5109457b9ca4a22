// Pooling over regions of interest (RoI), which another tensor states. RoiAlign (Mask R-CNN, He et
// al., 2017) averages bilinear samples in each bin; with mode max it takes the maximum over the
// weighted neighbours of all samples. MaxRoiPool (Fast R-CNN, Girshick, 2015) takes the maximum of
// the elements in each bin. CropAndResize of com.microsoft resizes each region to one size, with
// its corners aligned.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"

namespace millrace::fallback {
namespace {

// Limits on the work that attributes can cause.
constexpr int64_t kMaxPooled = int64_t{1} << 16, kMaxSamples = 1024;

// The samples of a region in one dimension: `grid` evenly spaced samples in each bin.
struct Samples {
  double begin = 0, bin = 0;
  int64_t grid = 0;
  int64_t size = 0;  // size of the image

  double at(int64_t of_bin, int64_t index) const {
    return begin + static_cast<double>(of_bin) * bin +
           (static_cast<double>(index) + 0.5) * bin / static_cast<double>(grid);
  }
};

// The two neighbours of a sample with their weights (linear interpolation). Samples more than one
// element outside of the image have weights of 0.
struct Neighbours {
  size_t low = 0, high = 0;
  double low_weight = 0, high_weight = 0;
};

Neighbours neighbours_of(double x, int64_t size) {
  if (!(x >= -1 && x <= static_cast<double>(size))) return {};
  x = std::clamp(x, 0.0, static_cast<double>(size - 1));
  const auto low = static_cast<size_t>(x);
  const size_t high = std::min(low + 1, static_cast<size_t>(size - 1));
  const double ratio = x - static_cast<double>(low);
  return {low, high, 1 - ratio, ratio};
}

// Returns the neighbours of the samples of a bin, without those outside of the image. A region may
// be far larger than the image, so samples outside are skipped without a look.
std::vector<Neighbours> neighbours_in(const Samples& samples, int64_t bin) {
  std::vector<Neighbours> found;
  if (samples.grid <= 0) return found;
  const double step = samples.bin / static_cast<double>(samples.grid);
  const double start = samples.at(bin, 0), grid = static_cast<double>(samples.grid);
  double first = 0, last = grid;
  if (step > 0) {
    first = std::clamp(std::floor((-1 - start) / step), 0.0, grid);
    last = std::clamp(std::ceil((static_cast<double>(samples.size) - start) / step) + 1, 0.0, grid);
  }
  for (auto i = static_cast<int64_t>(first); i < static_cast<int64_t>(last); ++i) {
    const Neighbours neighbours = neighbours_of(samples.at(bin, i), samples.size);
    if (neighbours.low_weight != 0 || neighbours.high_weight != 0) found.push_back(neighbours);
  }
  return found;
}

struct RoiAlign {
  int64_t height = 1, width = 1, sampling_ratio = 0;
  double scale = 1;
  bool maximum = false, half_pixel = true;
};

Result<RoiAlign> roi_align_of(const NodeView& node) {
  RoiAlign align;
  const std::string mode = node.text("mode", "avg");
  const std::string coordinates = node.text("coordinate_transformation_mode", "half_pixel");
  if (mode != "avg" && mode != "max")
    return invalid_argument(fmt::format("unknown mode '{}'", mode));
  if (coordinates != "half_pixel" && coordinates != "output_half_pixel")
    return invalid_argument(
        fmt::format("unknown coordinate_transformation_mode '{}'", coordinates));
  align.maximum = mode == "max";
  align.half_pixel = coordinates == "half_pixel";
  align.height = node.integer("output_height", 1);
  align.width = node.integer("output_width", 1);
  align.sampling_ratio = node.integer("sampling_ratio");
  align.scale = node.real("spatial_scale", 1);
  const bool fits = align.height >= 1 && align.height <= kMaxPooled && align.width >= 1 &&
                    align.width <= kMaxPooled && align.sampling_ratio >= 0 &&
                    align.sampling_ratio <= kMaxSamples && std::isfinite(align.scale);
  if (!fits)
    return invalid_argument("output_height, output_width or sampling_ratio is out of range");
  return align;
}

Status shape_of_roi_align(Inference& node) {
  MILLRACE_ASSIGN_OR_RETURN(const RoiAlign align, roi_align_of(node));
  const TensorView &x = node.in(0), &rois = node.in(1), &batches = node.in(2);
  const bool fits = x.rank() == 4 && rois.rank() == 2 && rois.dims[1] == 4 && batches.rank() == 1 &&
                    batches.dims[0] == rois.dims[0] && rois.type == x.type &&
                    kIndexTypes.contains(batches.type) && element_count(x.dims) > 0;
  if (!fits)
    return invalid_argument(
        "the input [N, C, H, W], the regions [number, 4] and their batch indices do not fit");
  node.set(0, x.type, {rois.dims[0], x.dims[1], align.height, align.width});
  return {};
}

// Returns the samples of a region in one dimension, in which it extends from `from` to `to`.
Result<Samples> samples_of(const RoiAlign& align, double from, double to, int64_t bins,
                           int64_t size) {
  const double offset = align.half_pixel ? 0.5 : 0;
  const double begin = from * align.scale - offset;
  double extent = (to - from) * align.scale;
  if (!std::isfinite(begin) || !std::isfinite(extent))
    return invalid_argument("the coordinates of a region must be finite");
  if (!align.half_pixel) extent = std::max(extent, 1.0);
  const double bin = extent / static_cast<double>(bins);
  const double grid =
      align.sampling_ratio > 0 ? static_cast<double>(align.sampling_ratio) : std::ceil(bin);
  // Beyond this number, the samples of a region cannot be distinguished in double.
  constexpr double kMaxGrid = 1e15;
  if (grid > kMaxGrid) return invalid_argument("a region is too large");
  return Samples{begin, bin, static_cast<int64_t>(grid), size};
}

template <class T>
class BinPooling {
 public:
  BinPooling(const RoiAlign& align, const Samples& rows, const Samples& columns)
      : maximum_(align.maximum), width_(static_cast<size_t>(columns.size)) {
    count_ = std::max(1.0, static_cast<double>(rows.grid) * static_cast<double>(columns.grid));
  }

  T pool(const T* plane, const std::vector<Neighbours>& rows,
         const std::vector<Neighbours>& columns) const {
    double sum = 0, most = -std::numeric_limits<double>::infinity();
    for (const Neighbours& y : rows) {
      for (const Neighbours& x : columns) {
        const double corners[] = {y.low_weight * x.low_weight * plane[y.low * width_ + x.low],
                                  y.low_weight * x.high_weight * plane[y.low * width_ + x.high],
                                  y.high_weight * x.low_weight * plane[y.high * width_ + x.low],
                                  y.high_weight * x.high_weight * plane[y.high * width_ + x.high]};
        for (const double corner : corners) {
          sum += corner;
          if (corner > most || std::isnan(corner)) most = corner;  // NaN counts as the largest
        }
      }
    }
    if (!maximum_) return static_cast<T>(sum / count_);
    // Samples outside of the image count as 0.
    const bool some_outside =
        static_cast<double>(rows.size()) * static_cast<double>(columns.size()) < count_;
    return static_cast<T>(some_outside ? std::max(most, 0.0) : most);
  }

 private:
  bool maximum_;
  size_t width_;
  double count_;
};

Result<size_t> batch_of(const TensorView& batches, size_t region, int64_t count) {
  const int64_t batch = index_at(batches, region);
  if (batch >= 0 && batch < count) return static_cast<size_t>(batch);
  return invalid_argument(
      fmt::format("region {} refers to image {}, but there are {}", region, batch, count));
}

template <class T>
Status align_region(const Call& call, const RoiAlign& align, size_t region) {
  const TensorView& x = call.in(0);
  const auto corners = call.in(1).as<T>().subspan(region * 4, 4);
  MILLRACE_ASSIGN_OR_RETURN(const size_t batch, batch_of(call.in(2), region, x.dims[0]));
  MILLRACE_ASSIGN_OR_RETURN(const Samples rows,
                            samples_of(align, corners[1], corners[3], align.height, x.dims[2]));
  MILLRACE_ASSIGN_OR_RETURN(const Samples columns,
                            samples_of(align, corners[0], corners[2], align.width, x.dims[3]));
  const BinPooling<T> pooling(align, rows, columns);
  std::vector<std::vector<Neighbours>> of_row, of_column;
  for (int64_t i = 0; i < align.height; ++i) of_row.push_back(neighbours_in(rows, i));
  for (int64_t i = 0; i < align.width; ++i) of_column.push_back(neighbours_in(columns, i));
  const auto channels = static_cast<size_t>(x.dims[1]);
  const size_t plane = element_count(x.dims.subspan(2));
  T* to = call.out(0).as<T>().data() + region * channels * of_row.size() * of_column.size();
  for (size_t c = 0; c < channels; ++c)
    for (const auto& row : of_row)
      for (const auto& column : of_column)
        *to++ = pooling.pool(x.as<T>().data() + (batch * channels + c) * plane, row, column);
  return {};
}

Status roi_align(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const RoiAlign align, roi_align_of(call));
  const auto regions = static_cast<size_t>(call.in(1).dims[0]);
  return visit_floating(call.in(0).type, [&](auto zero) -> Status {
    for (size_t region = 0; region < regions; ++region)
      MILLRACE_RETURN_IF_ERROR(align_region<decltype(zero)>(call, align, region));
    return {};
  });
}

Status shape_of_max_roi_pool(Inference& node) {
  const TensorView &x = node.in(0), &rois = node.in(1);
  const Dims* pooled = node.integers("pooled_shape");
  const bool stated =
      pooled != nullptr && pooled->size() == 2 &&
      std::ranges::all_of(*pooled, [](int64_t size) { return size >= 1 && size <= kMaxPooled; });
  if (!stated) return invalid_argument("pooled_shape must have two positive sizes");
  const bool fits = x.rank() == 4 && rois.rank() == 2 && rois.dims[1] == 5 && rois.type == x.type &&
                    element_count(x.dims) > 0;
  if (!fits)
    return invalid_argument("the input [N, C, H, W] and the regions [number, 5] do not fit");
  node.set(0, x.type, {rois.dims[0], x.dims[1], (*pooled)[0], (*pooled)[1]});
  return {};
}

struct Bin {
  int64_t begin, end;
};

// Returns the range of elements of each bin of a region, which includes both of its ends.
std::vector<Bin> bins_of(double from, double to, int64_t bins, int64_t size) {
  // Far outside of any image, and within the range of int64_t.
  constexpr double kFar = 1e12;
  const double begin = std::clamp(std::round(from), -kFar, kFar);
  const double end = std::clamp(std::round(to), -kFar, kFar);
  const double extent = std::max(end - begin + 1, 1.0) / static_cast<double>(bins);
  const auto edge = [&](double x) {
    return std::clamp<int64_t>(static_cast<int64_t>(x + begin), 0, size);
  };
  std::vector<Bin> result;
  for (int64_t i = 0; i < bins; ++i)
    result.push_back({edge(std::floor(static_cast<double>(i) * extent)),
                      edge(std::ceil(static_cast<double>(i + 1) * extent))});
  return result;
}

// The maximum of an empty bin is 0.
template <class T>
T largest_in(const T* plane, int64_t width, const Bin& rows, const Bin& columns) {
  if (rows.begin >= rows.end || columns.begin >= columns.end) return 0;
  T most = std::numeric_limits<T>::lowest();
  for (int64_t row = rows.begin; row < rows.end; ++row)
    for (int64_t column = columns.begin; column < columns.end; ++column)
      if (const T x = plane[row * width + column]; x > most || std::isnan(x)) most = x;
  return most;
}

template <class T>
Status pool_region(const Call& call, size_t region) {
  const TensorView& x = call.in(0);
  const auto numbers = call.in(1).as<T>().subspan(region * 5, 5);
  const Dims& pooled = *call.integers("pooled_shape");
  const double scale = call.real("spatial_scale", 1);
  // Written so that NaN is refused.
  if (!(numbers[0] >= 0 && numbers[0] < static_cast<T>(x.dims[0])))
    return invalid_argument(fmt::format("region {} refers to image {}, but there are {}", region,
                                        numbers[0], x.dims[0]));
  for (size_t i = 1; i < 5; ++i)
    if (std::isnan(numbers[i] * scale))
      return invalid_argument("the coordinates of a region must be finite");
  const auto rows = bins_of(numbers[2] * scale, numbers[4] * scale, pooled[0], x.dims[2]);
  const auto columns = bins_of(numbers[1] * scale, numbers[3] * scale, pooled[1], x.dims[3]);
  const auto channels = static_cast<size_t>(x.dims[1]);
  const size_t plane = element_count(x.dims.subspan(2));
  const T* const from = x.as<T>().data() + static_cast<size_t>(numbers[0]) * channels * plane;
  T* to = call.out(0).as<T>().data() + region * channels * rows.size() * columns.size();
  for (size_t c = 0; c < channels; ++c)
    for (const Bin& row : rows)
      for (const Bin& column : columns)
        *to++ = largest_in(from + c * plane, x.dims[3], row, column);
  return {};
}

Status max_roi_pool(const Call& call) {
  const auto regions = static_cast<size_t>(call.in(1).dims[0]);
  return visit_floating(call.in(0).type, [&](auto zero) -> Status {
    for (size_t region = 0; region < regions; ++region)
      MILLRACE_RETURN_IF_ERROR(pool_region<decltype(zero)>(call, region));
    return {};
  });
}

// Returns the size of the crops, [height, width], which an operand states.
Result<Dims> crop_size_of(const NodeView& node) {
  const Dims size = integers_of(node.in(3));
  const bool fits = size.size() == 2 && std::ranges::all_of(size, [](int64_t extent) {
                      return extent >= 1 && extent <= kMaxPooled;
                    });
  if (fits) return size;
  return invalid_argument("crop_size must be two positive sizes");
}

Status shape_of_crop_and_resize(Inference& node) {
  const TensorView &x = node.in(0), &regions = node.in(1), &batches = node.in(2);
  const std::string mode = node.text("mode", "bilinear");
  if (mode != "bilinear" && mode != "nearest")
    return invalid_argument(fmt::format("unknown mode '{}'", mode));
  const bool fits = x.rank() == 4 && regions.rank() == 2 && regions.dims[1] == 4 &&
                    batches.rank() == 1 && batches.dims[0] == regions.dims[0] &&
                    regions.type == x.type && kIndexTypes.contains(batches.type) &&
                    element_count(x.dims) > 0;
  if (!fits)
    return invalid_argument(
        "the input [N, C, H, W], the regions [number, 4] and their batch indices do not fit");
  MILLRACE_RETURN_IF_ERROR(node.known_integers(3).status());
  MILLRACE_ASSIGN_OR_RETURN(const Dims size, crop_size_of(node));
  node.set(0, x.type, {regions.dims[0], x.dims[1], size[0], size[1]});
  return {};
}

// An element of a crop in one dimension: the position in the image that it has, and its neighbours.
// `inside` is false if the position is outside of the image.
struct CropPosition {
  bool inside = false;
  size_t nearest = 0;
  Neighbours neighbours;
};

// Returns the positions of a crop of `count` elements in one dimension, from `begin` to `end`, both
// as fractions of the image. A crop of one element is in the middle.
std::vector<CropPosition> crop_positions(double begin, double end, int64_t count, int64_t size) {
  const auto last = static_cast<double>(size - 1);
  std::vector<CropPosition> positions(static_cast<size_t>(count));
  for (size_t i = 0; i < positions.size(); ++i) {
    const double share = count == 1 ? 0.5 : static_cast<double>(i) / static_cast<double>(count - 1);
    // At the end it is exactly `end`, which is often the edge of the image.
    const double at = (share == 1 ? end : begin + (end - begin) * share) * last;
    if (at >= 0 && at <= last)
      positions[i] = {true, static_cast<size_t>(std::round(at)), neighbours_of(at, size)};
  }
  return positions;
}

template <class T>
T bilinear(const T* plane, size_t width, const Neighbours& y, const Neighbours& x) {
  const auto row = [&](size_t index) {
    return x.low_weight * plane[index * width + x.low] +
           x.high_weight * plane[index * width + x.high];
  };
  return static_cast<T>(y.low_weight * row(y.low) + y.high_weight * row(y.high));
}

template <class T>
Status crop_region(const Call& call, const Dims& size, size_t region) {
  const TensorView& x = call.in(0);
  const auto corners = call.in(1).as<T>().subspan(region * 4, 4);
  MILLRACE_ASSIGN_OR_RETURN(const size_t batch, batch_of(call.in(2), region, x.dims[0]));
  const auto rows = crop_positions(corners[0], corners[2], size[0], x.dims[2]);
  const auto columns = crop_positions(corners[1], corners[3], size[1], x.dims[3]);
  const bool nearest = call.text("mode", "bilinear") == "nearest";
  const auto outside = static_cast<T>(call.real("extrapolation_value"));
  const auto channels = static_cast<size_t>(x.dims[1]), width = static_cast<size_t>(x.dims[3]);
  const size_t area = element_count(x.dims.subspan(2));
  T* to = call.out(0).as<T>().data() + region * channels * rows.size() * columns.size();
  for (size_t c = 0; c < channels; ++c) {
    const T* const plane = x.as<T>().data() + (batch * channels + c) * area;
    for (const CropPosition& row : rows)
      for (const CropPosition& column : columns) {
        if (!row.inside || !column.inside)
          *to++ = outside;
        else if (nearest)
          *to++ = plane[row.nearest * width + column.nearest];
        else
          *to++ = bilinear(plane, width, row.neighbours, column.neighbours);
      }
  }
  return {};
}

Status crop_and_resize(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const Dims size, crop_size_of(call));
  const auto regions = static_cast<size_t>(call.in(1).dims[0]);
  return visit_floating(call.in(0).type, [&](auto zero) -> Status {
    for (size_t region = 0; region < regions; ++region)
      MILLRACE_RETURN_IF_ERROR(crop_region<decltype(zero)>(call, size, region));
    return {};
  });
}

constexpr AttributeSpec kCropAndResize[] = {{"extrapolation_value", AttributeKind::kFloat},
                                            {"mode", AttributeKind::kText}};
constexpr AttributeSpec kMaxRoiPool[] = {{"pooled_shape", AttributeKind::kIntegers},
                                         {"spatial_scale", AttributeKind::kFloat}};
constexpr AttributeSpec kRoiAlign[] = {{"coordinate_transformation_mode", AttributeKind::kText},
                                       {"mode", AttributeKind::kText},
                                       {"output_height", AttributeKind::kInteger},
                                       {"output_width", AttributeKind::kInteger},
                                       {"sampling_ratio", AttributeKind::kInteger},
                                       {"spatial_scale", AttributeKind::kFloat}};

}  // namespace

std::span<const OperatorSpec> region_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"MaxRoiPool", 1, {2, 2}, {}, kReals, shape_of_max_roi_pool, max_roi_pool, kMaxRoiPool},
      {"RoiAlign", 10, {3, 3}, {}, kReals, shape_of_roi_align, roi_align, kRoiAlign},
      {"com.microsoft.CropAndResize",
       1,
       {4, 4},
       {},
       kReals,
       shape_of_crop_and_resize,
       crop_and_resize,
       kCropAndResize},
  };
  return kOperators;
}

}  // namespace millrace::fallback
