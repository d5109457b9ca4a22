// Every declaration of the VART-X headers of pre- and postprocessing.
#include <vart/vart_postprocess.hpp>
#include <vart/vart_preprocess.hpp>

#include "declared.h"

namespace vart {

using DevicePtr = std::shared_ptr<Device>;
using Results = std::vector<std::vector<std::shared_ptr<InferResult>>>;

static_assert(counts_from_zero({PreProcessImplType::IMAGE_PROCESSING_HLS,
                                PreProcessImplType::IMAGE_PROCESSING_SW}));
static_assert(counts_from_zero({PreProcessType::DEFAULT, PreProcessType::LETTERBOX,
                                PreProcessType::PANSCAN}));
static_assert(same<decltype(PreProcessInfo::qt_fctr), float>);
static_assert(same<decltype(PreProcessInfo::scale_b), float>);
static_assert(same<decltype(PreProcessInfo::height), uint32_t>);
static_assert(same<decltype(PreProcessInfo::width), uint32_t>);
static_assert(same<decltype(PreProcessInfo::colour_format), VideoFormat>);
static_assert(same<decltype(PreProcessInfo::preprocess_type), PreProcessType>);
static_assert(same<decltype(PreProcessInfo::symmetric_padding), bool>);
static_assert(ascending({offsetof(PreProcessInfo, qt_fctr), offsetof(PreProcessInfo, mean_r),
                         offsetof(PreProcessInfo, mean_g), offsetof(PreProcessInfo, mean_b),
                         offsetof(PreProcessInfo, scale_r), offsetof(PreProcessInfo, scale_g),
                         offsetof(PreProcessInfo, scale_b), offsetof(PreProcessInfo, height),
                         offsetof(PreProcessInfo, width), offsetof(PreProcessInfo, colour_format),
                         offsetof(PreProcessInfo, preprocess_type),
                         offsetof(PreProcessInfo, symmetric_padding)}));
static_assert(same<decltype(RegionOfInterest::x), uint16_t>);
static_assert(sizeof(RegionOfInterest) == 8);
static_assert(ascending({offsetof(RegionOfInterest, x), offsetof(RegionOfInterest, y),
                         offsetof(RegionOfInterest, height), offsetof(RegionOfInterest, width)}));
static_assert(ascending({offsetof(PreProcessOp, in_roi), offsetof(PreProcessOp, out_roi),
                         offsetof(PreProcessOp, in_frame), offsetof(PreProcessOp, out_frame)}));
static_assert(PreProcessOp{}.in_frame == nullptr && PreProcessOp{}.out_frame == nullptr);
static_assert(same<decltype(PreProcessOp::in_frame), VideoFrame*>);

static_assert(!std::is_default_constructible_v<PreProcess>);
static_assert(std::is_constructible_v<PreProcess, PreProcessImplType, std::string&, DevicePtr>);
static_assert(std::is_constructible_v<PreProcess, std::shared_ptr<PreProcessImplBase>>);
static_assert(
    same<decltype(std::declval<PreProcess&>().process(std::declval<std::vector<PreProcessOp>&>())),
         void>);
static_assert(same<decltype(std::declval<PreProcess&>().process(
                       std::declval<std::vector<PreProcessOp>&>(),
                       std::declval<std::vector<PreProcessOpRes>&>())),
                   void>);
static_assert(same<decltype(PreProcessOpRes{}.type_meta.scale_x), float>);
static_assert(same<decltype(&PreProcess::get_input_vinfo),
                   void (PreProcess::*)(int32_t, int32_t, VideoFormat, VideoInfo&)>);
static_assert(same<decltype(&PreProcess::get_output_vinfo), const VideoInfo& (PreProcess::*)()>);
static_assert(
    same<decltype(&PreProcess::set_preprocess_info), void (PreProcess::*)(PreProcessInfo&)>);
static_assert(
    same<decltype(&PreProcess::get_preprocess_info), const PreProcessInfo& (PreProcess::*)()>);
static_assert(same<decltype(&PreProcess::get_pimpl_handle),
                   const std::shared_ptr<PreProcessImplBase>& (PreProcess::*)() const>);

static_assert(counts_from_zero({TensorDataType::INT8, TensorDataType::FLOAT32, TensorDataType::BF16,
                                TensorDataType::FP16, TensorDataType::UNKNOWN}));
static_assert(counts_from_zero({TensorDataDirection::INPUT, TensorDataDirection::OUTPUT}));
static_assert(same<decltype(TensorInfo::size), uint32_t>);
static_assert(same<decltype(TensorInfo::scale_coeff), float>);
static_assert(same<decltype(TensorInfo::shape), std::vector<uint32_t>>);
static_assert(same<decltype(TensorInfo::name), std::string>);
static_assert(same<decltype(TensorInfo::data_type), TensorDataType>);
static_assert(same<decltype(TensorInfo::direction), TensorDataDirection>);
static_assert(same<decltype(TensorInfo::memory_layout), std::string>);
static_assert(ascending({offsetof(TensorInfo, size), offsetof(TensorInfo, scale_coeff),
                         offsetof(TensorInfo, shape), offsetof(TensorInfo, name),
                         offsetof(TensorInfo, data_type), offsetof(TensorInfo, direction),
                         offsetof(TensorInfo, memory_layout)}));
static_assert(counts_from_zero({PostProcessType::RESNET50,
                                PostProcessType::YOLOV2,
                                PostProcessType::SSDRESNET34,
                                PostProcessType::ARGMAX,
                                PostProcessType::BIAS_CORRECTION,
                                PostProcessType::CALIBRATION_PLATT,
                                PostProcessType::CALIBRATION_TEMPERATURE,
                                PostProcessType::LABEL_MAPPING,
                                PostProcessType::NORMALIZATION,
                                PostProcessType::OUTLIER_DETECTION,
                                PostProcessType::SOFTMAX,
                                PostProcessType::THRESHOLD,
                                PostProcessType::TOPK,
                                PostProcessType::UNCERTAINTY_ESTIMATION,
                                PostProcessType::DISTANCE_IOU_NMS,
                                PostProcessType::SOFT_NMS,
                                PostProcessType::CLASSWISE_NMS,
                                PostProcessType::OBJECT_COUNT,
                                PostProcessType::NMS,
                                PostProcessType::ANCHOR_ADJUSTMENT,
                                PostProcessType::SOFTMAXSEG,
                                PostProcessType::SIGMOIDSEG,
                                PostProcessType::ARGMAXSEG,
                                PostProcessType::UNKNOWN}));

static_assert(!std::is_default_constructible_v<PostProcess>);
static_assert(std::is_constructible_v<PostProcess, PostProcessType, std::string&, DevicePtr>);
static_assert(std::is_constructible_v<PostProcess, std::shared_ptr<PostProcessImplBase>>);
static_assert(same<decltype(&PostProcess::set_config),
                   void (PostProcess::*)(std::vector<TensorInfo>&, uint32_t)>);
static_assert(has<Results (PostProcess::*)(std::vector<int8_t*>, uint32_t)>(&PostProcess::process));
static_assert(has<Results (PostProcess::*)(std::vector<std::vector<std::shared_ptr<Memory>>>,
                                           uint32_t)>(&PostProcess::process));

}  // namespace vart
