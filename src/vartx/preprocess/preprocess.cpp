// vart::PreProcess over vision::preprocess(): translates formats, regions and settings, maps the
// frames, and shares the rows among lanes (SharedRows).
#include "vart/vart_preprocess.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "base/float_environment.h"
#include "base/value_or_throw.h"
#include "vartx/buffers/frame_layout.h"
#include "vartx/buffers/mapped_frame.h"
#include "vartx/preprocess/picture_formats.h"
#include "vartx/preprocess/preprocess_config.h"
#include "vartx/preprocess/shared_rows.h"
#include "vision/preprocess/preprocess.h"

namespace vart {

namespace vision = millrace::vision;
using millrace::invalid_argument;
using millrace::Result;
using millrace::value_or_throw;
using millrace::vartx::MappedFrame;
using millrace::vartx::PreProcessConfig;

namespace {

class SoftwarePreProcess final : public PreProcessImplBase {
 public:
  SoftwarePreProcess(const PreProcessConfig& config, std::shared_ptr<Device> device)
      : config_(config), device_(std::move(device)) {}

  void process(std::vector<PreProcessOp>& ops) override;
  void process(std::vector<PreProcessOp>& ops, std::vector<PreProcessOpRes>& results) override;
  void get_input_vinfo(int32_t height, int32_t width, VideoFormat format,
                       VideoInfo& vinfo) override;
  const VideoInfo& get_output_vinfo() override;
  void set_preprocess_info(PreProcessInfo& info) override;
  const PreProcessInfo& get_preprocess_info() override { return config_.info; }

 private:
  Result<vision::Geometry> run(const PreProcessOp& op);

  PreProcessConfig config_;
  const std::shared_ptr<Device> device_;  // kept open as long as this object exists
  VideoInfo output_{};
  millrace::vartx::SharedRows rows_;
};

constexpr const char* kWhat = "PreProcess";

std::shared_ptr<PreProcessImplBase> make(PreProcessImplType type, const std::string& json,
                                         std::shared_ptr<Device> device) {
  if (type != PreProcessImplType::IMAGE_PROCESSING_HLS &&
      type != PreProcessImplType::IMAGE_PROCESSING_SW)
    throw std::invalid_argument(
        "PreProcess: the type is neither IMAGE_PROCESSING_HLS nor IMAGE_PROCESSING_SW");
  return std::make_shared<SoftwarePreProcess>(millrace::vartx::parse_preprocess_config(json),
                                              std::move(device));
}

Result<vision::Fit> fit_of(PreProcessType type) {
  switch (type) {
    case PreProcessType::DEFAULT:
      return vision::Fit::kStretch;
    case PreProcessType::LETTERBOX:
      return vision::Fit::kLetterbox;
    case PreProcessType::PANSCAN:
      return vision::Fit::kPanscan;
  }
  return invalid_argument(fmt::format("{} is not a known preprocess type", static_cast<int>(type)));
}

Result<vision::PreprocessOptions> options_of(const PreProcessConfig& config) {
  const PreProcessInfo& info = config.info;
  MILLRACE_ASSIGN_OR_RETURN(const vision::Fit fit, fit_of(info.preprocess_type));
  return vision::PreprocessOptions{
      .fit = {.fit = fit, .symmetric_padding = info.symmetric_padding},
      .filter = config.filter,
      .normalisation = {.mean = {info.mean_r, info.mean_g, info.mean_b},
                        .scale = {info.scale_r, info.scale_g, info.scale_b},
                        .factor = info.qt_fctr}};
}

// Returns the format to write, from the format of the output frame, which must be the configured
// one if there is one.
Result<vision::TargetFormat> target_format(const PreProcessConfig& config, VideoFormat format) {
  const VideoFormat wanted = config.info.colour_format;
  if (wanted != VideoFormat::UNKNOWN && wanted != format)
    return invalid_argument(
        fmt::format("the output frame has the format {}, but colour_format is {}",
                    millrace::vartx::format_name(format), millrace::vartx::format_name(wanted)));
  MILLRACE_ASSIGN_OR_RETURN(vision::TargetFormat target, millrace::vartx::target_format(format));
  if (target.type == millrace::tensor::DataType::kInt8) target.type = config.byte_type;
  return target;
}

vision::Region region_of(const RegionOfInterest& roi, const VideoFrameMapInfo& frame) {
  if (roi.x == 0 && roi.y == 0 && roi.width == 0 && roi.height == 0)
    return {0, 0, static_cast<uint32_t>(frame.width), static_cast<uint32_t>(frame.height)};
  return {roi.x, roi.y, roi.width, roi.height};
}

template <class Picture>
void set_planes(Picture& picture, const VideoFrameMapInfo& frame) {
  picture.width = static_cast<uint32_t>(frame.width);
  picture.height = static_cast<uint32_t>(frame.height);
  for (size_t i = 0; i < frame.nplanes && i < picture.planes.size(); ++i) {
    picture.planes[i] = frame.planes[i].data;
    picture.strides[i] = static_cast<size_t>(frame.planes[i].stride);
  }
}

Result<vision::Geometry> SoftwarePreProcess::run(const PreProcessOp& op) {
  if (op.in_frame == nullptr) return invalid_argument("the input frame is null");
  if (op.out_frame == nullptr) return invalid_argument("the output frame is null");
  if (op.in_frame == op.out_frame) return invalid_argument("input and output frame are the same");
  const MappedFrame in(*op.in_frame, DataMapFlags::READ);
  const MappedFrame out(*op.out_frame, DataMapFlags::WRITE);
  vision::SourcePicture source;
  MILLRACE_ASSIGN_OR_RETURN(source.format, millrace::vartx::source_format(in.info().fmt));
  set_planes(source, in.info());
  vision::TargetPicture target;
  MILLRACE_ASSIGN_OR_RETURN(target.format, target_format(config_, out.info().fmt));
  set_planes(target, out.info());
  MILLRACE_ASSIGN_OR_RETURN(const vision::PreprocessOptions options, options_of(config_));
  return vision::preprocess(source, region_of(op.in_roi, in.info()), target,
                            region_of(op.out_roi, out.info()), options,
                            [&](const vision::RowWork& work) { rows_.run(work); });
}

PreProcessTypeMeta meta_of(const vision::Geometry& geometry) {
  PreProcessTypeMeta meta;
  meta.scale_x = static_cast<float>(geometry.scale_x);
  meta.scale_y = static_cast<float>(geometry.scale_y);
  meta.crop_x = static_cast<float>(geometry.crop_x);
  meta.crop_y = static_cast<float>(geometry.crop_y);
  meta.pad_x = static_cast<float>(geometry.pad_x);
  meta.pad_y = static_cast<float>(geometry.pad_y);
  return meta;
}

void SoftwarePreProcess::process(std::vector<PreProcessOp>& ops) {
  std::vector<PreProcessOpRes> results;
  process(ops, results);
}

void SoftwarePreProcess::process(std::vector<PreProcessOp>& ops,
                                 std::vector<PreProcessOpRes>& results) {
  const millrace::DefaultFloatEnvironment floats;
  results.assign(ops.size(), {});
  for (size_t i = 0; i < ops.size(); ++i)
    results[i].type_meta =
        meta_of(value_or_throw(run(ops[i]), fmt::format("PreProcess: operation {}", i)));
}

void SoftwarePreProcess::get_input_vinfo(int32_t height, int32_t width, VideoFormat format,
                                         VideoInfo& vinfo) {
  vinfo = value_or_throw(millrace::vartx::tight_video_info(format, width, height), kWhat);
}

const VideoInfo& SoftwarePreProcess::get_output_vinfo() {
  const PreProcessInfo& info = config_.info;
  output_ = value_or_throw(
      millrace::vartx::tight_video_info(info.colour_format, static_cast<int32_t>(info.width),
                                        static_cast<int32_t>(info.height)),
      kWhat);
  return output_;
}

void SoftwarePreProcess::set_preprocess_info(PreProcessInfo& info) {
  config_.info = info;
  config_.info.qt_fctr = config_.quant_scale_factor.value_or(info.qt_fctr);
}

}  // namespace

PreProcessImplBase::~PreProcessImplBase() = default;

void PreProcessImplBase::process(std::vector<PreProcessOp>& ops,
                                 std::vector<PreProcessOpRes>& results) {
  results.assign(ops.size(), {});
  process(ops);
}

PreProcess::PreProcess(PreProcessImplType type, std::string& json_data,
                       std::shared_ptr<Device> device)
    : impl_(make(type, json_data, std::move(device))) {}

PreProcess::PreProcess(std::shared_ptr<PreProcessImplBase> impl) : impl_(std::move(impl)) {
  if (impl_ == nullptr) throw std::invalid_argument("PreProcess: the handle is null");
}

void PreProcess::process(std::vector<PreProcessOp>& ops) {
  impl_->process(ops);
}

void PreProcess::process(std::vector<PreProcessOp>& ops, std::vector<PreProcessOpRes>& results) {
  impl_->process(ops, results);
}

void PreProcess::get_input_vinfo(int32_t height, int32_t width, VideoFormat format,
                                 VideoInfo& vinfo) {
  impl_->get_input_vinfo(height, width, format, vinfo);
}

const VideoInfo& PreProcess::get_output_vinfo() {
  return impl_->get_output_vinfo();
}

void PreProcess::set_preprocess_info(PreProcessInfo& info) {
  impl_->set_preprocess_info(info);
}

const PreProcessInfo& PreProcess::get_preprocess_info() {
  return impl_->get_preprocess_info();
}

const std::shared_ptr<PreProcessImplBase>& PreProcess::get_pimpl_handle() const {
  return impl_;
}

}  // namespace vart
