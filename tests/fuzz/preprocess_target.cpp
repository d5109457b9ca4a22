// Any picture, regions and options are refused with a reason, or fill the target alone and the same
// however the rows are split.
#include "vision/preprocess/preprocess.h"

#include <fuzzer/FuzzedDataProvider.h>

#include <cmath>
#include <vector>

#include "tests/fuzz/target.h"

namespace millrace::fuzz {
namespace {

using namespace vision;

constexpr uint32_t kMostSide = 40;

// Memory that ends where the picture does.
struct Planes {
  std::array<std::vector<uint8_t>, 3> bytes;
};

uint32_t side(FuzzedDataProvider& data) {
  return data.ConsumeIntegralInRange<uint32_t>(0, kMostSide);
}

Region region(FuzzedDataProvider& data, uint32_t width, uint32_t height) {
  if (data.ConsumeBool()) return {0, 0, width, height};
  return {side(data), side(data), side(data), side(data)};
}

SourcePicture source(FuzzedDataProvider& data, Planes& planes) {
  SourcePicture picture;
  picture.format =
      data.PickValueInArray({SourceFormat::kBgr, SourceFormat::kRgb, SourceFormat::kBgrx,
                             SourceFormat::kRgbx, SourceFormat::kGrey, SourceFormat::kNv12});
  picture.width = side(data);
  picture.height = side(data);
  for (size_t plane = 0; plane < 2; ++plane) {
    const size_t rows = plane == 0 ? picture.height : picture.height / 2;
    picture.strides[plane] = data.ConsumeIntegralInRange<size_t>(0, size_t{5} * kMostSide);
    planes.bytes[plane].resize(picture.strides[plane] * rows);
    for (uint8_t& byte : planes.bytes[plane]) byte = data.ConsumeIntegral<uint8_t>();
    picture.planes[plane] = planes.bytes[plane].data();
  }
  return picture;
}

TargetPicture target(FuzzedDataProvider& data) {
  TargetPicture picture;
  picture.format.arrangement = data.PickValueInArray(
      {Arrangement::kPacked, Arrangement::kPadded, Arrangement::kPlanar, Arrangement::kGrey});
  picture.format.order = data.PickValueInArray({ChannelOrder::kRgb, ChannelOrder::kBgr});
  using tensor::DataType;
  picture.format.type =
      data.PickValueInArray({DataType::kInt8, DataType::kUint8, DataType::kBf16, DataType::kFp16,
                             DataType::kFloat32, DataType::kInt32});
  picture.width = side(data);
  picture.height = side(data);
  for (size_t& stride : picture.strides)
    stride = data.ConsumeIntegralInRange<size_t>(0, size_t{17} * kMostSide);
  return picture;
}

PreprocessOptions options(FuzzedDataProvider& data) {
  PreprocessOptions options;
  options.fit.fit =
      data.PickValueInArray({Fit::kStretch, Fit::kLetterbox, Fit::kPanscan, Fit::kCrop});
  options.fit.symmetric_padding = data.ConsumeBool();
  options.fit.short_side = data.ConsumeIntegral<uint32_t>();
  options.filter = data.PickValueInArray({Filter::kAuto, Filter::kBilinear, Filter::kArea});
  for (float& mean : options.normalisation.mean) mean = data.ConsumeFloatingPoint<float>();
  for (float& scale : options.normalisation.scale) scale = data.ConsumeFloatingPoint<float>();
  options.normalisation.factor = data.ConsumeFloatingPoint<float>();
  return options;
}

// The planes of `picture`, filled by `run`.
Planes filled(TargetPicture picture, const SourcePicture& from, const Region& in, const Region& out,
              const PreprocessOptions& options, const RowRunner& run) {
  Planes planes;
  for (size_t plane = 0; plane < planes.bytes.size(); ++plane) {
    planes.bytes[plane].resize(picture.strides[plane] * picture.height);
    picture.planes[plane] = planes.bytes[plane].data();
  }
  const Result<Geometry> made = preprocess(from, in, picture, out, options, run);
  if (made.ok())
    expect(std::isfinite(made->scale_x) && made->scale_x > 0, "a scale");
  else
    expect_refusal(made.status(), {StatusCode::kInvalidArgument});
  return planes;
}

void one_by_one(const RowWork& work) {
  for (uint32_t y = work.rows; y > 0; --y) work.task(y - 1, y);
}

}  // namespace

void fuzz_one(Input input) {
  FuzzedDataProvider data(reinterpret_cast<const uint8_t*>(input.data()), input.size());
  const TargetPicture to = target(data);
  const PreprocessOptions how = options(data);
  Planes pixels;
  const SourcePicture from = source(data, pixels);
  const Region in = region(data, from.width, from.height), out = region(data, to.width, to.height);
  const Planes whole = filled(to, from, in, out, how, run_serially);
  const Planes split = filled(to, from, in, out, how, one_by_one);
  expect(whole.bytes == split.bytes, "the same bytes");
}

}  // namespace millrace::fuzz
