// Every declaration of the VART-X headers of results and overlays.
#include <vart/vart_inferresult.hpp>
#include <vart/vart_metaconvert.hpp>
#include <vart/vart_overlay.hpp>

#include "declared.h"

namespace vart {

using DevicePtr = std::shared_ptr<Device>;
using ResultPtr = std::shared_ptr<InferResult>;

static_assert(counts_from_zero({TraversalOrder::PREORDER, TraversalOrder::INORDER,
                                TraversalOrder::POSTORDER}));
static_assert(counts_from_zero({InferResultType::ROOT, InferResultType::CLASSIFICATION,
                                InferResultType::DETECTION, InferResultType::SEGMENTATION}));
static_assert(static_cast<int>(InferResultType::CUSTOM_RESULT_1) == 100);
static_assert(static_cast<int>(InferResultType::CUSTOM_RESULT_3) == 102);

static_assert(same<decltype(InferResScaleInfo::input_frame_width), uint32_t>);
static_assert(same<decltype(InferResScaleInfo::input_frame_height), uint32_t>);
static_assert(same<decltype(InferResScaleInfo::model_input_width), uint32_t>);
static_assert(same<decltype(InferResScaleInfo::model_input_height), uint32_t>);
static_assert(same<decltype(InferResScaleInfo::width_scale_factor), float>);
static_assert(same<decltype(InferResScaleInfo::height_scale_factor), float>);

static_assert(!std::is_polymorphic_v<InferResultData>);
static_assert(same<decltype(InferResultData::result_type), InferResultType>);
static_assert(std::is_base_of_v<InferResultData, ClassificationResData>);
static_assert(same<decltype(ClassificationResData::label), std::vector<std::string>>);
static_assert(same<decltype(ClassificationResData::confidence), std::vector<double>>);
static_assert(same<decltype(ClassificationResData::index), std::vector<uint32_t>>);
static_assert(std::is_base_of_v<InferResultData, DetectionResData>);
static_assert(same<decltype(DetectionResData::x), int32_t>);
static_assert(same<decltype(DetectionResData::y), int32_t>);
static_assert(same<decltype(DetectionResData::width), uint32_t>);
static_assert(same<decltype(DetectionResData::height), uint32_t>);
static_assert(same<decltype(DetectionResData::label), std::string>);
static_assert(same<decltype(DetectionResData::confidence), double>);
static_assert(same<decltype(DetectionResData::obj_track_label), std::string>);
static_assert(same<decltype(DetectionResData::class_id), int>);
static_assert(std::is_base_of_v<InferResultData, SegmentationResData>);
static_assert(same<decltype(SegmentationResData::numOutputs), size_t>);
static_assert(same<decltype(SegmentationResData::width), std::vector<uint32_t>>);
static_assert(same<decltype(SegmentationResData::height), std::vector<uint32_t>>);

static_assert(std::is_base_of_v<std::enable_shared_from_this<InferResult>, InferResult>);
static_assert(!std::is_default_constructible_v<InferResult>);
static_assert(std::is_constructible_v<InferResult, InferResultType>);
static_assert(std::is_constructible_v<InferResult, std::shared_ptr<InferResultImplBase>>);
static_assert(same<decltype(&InferResult::transform), void (InferResult::*)(InferResScaleInfo&)>);
static_assert(same<decltype(&InferResult::get_infer_result), InferResultData* (InferResult::*)()>);
static_assert(same<decltype(&InferResult::add_child), void (InferResult::*)(ResultPtr)>);
static_assert(
    same<decltype(&InferResult::add_children), void (InferResult::*)(std::vector<ResultPtr>)>);
static_assert(
    same<decltype(&InferResult::get_children), std::vector<ResultPtr> (InferResult::*)()>);
static_assert(same<decltype(&InferResult::get_parent), ResultPtr (InferResult::*)()>);
static_assert(same<decltype(&InferResult::get_root), ResultPtr (InferResult::*)()>);
static_assert(same<decltype(&InferResult::traverse),
                   void (InferResult::*)(const std::function<void(ResultPtr, void*)>&,
                                         TraversalOrder, void*)>);
static_assert(same<decltype(&InferResult::get_depth), size_t (InferResult::*)()>);

static_assert(std::is_constructible_v<MetaConvert, InferResultType, std::string&, DevicePtr>);
static_assert(same<decltype(&MetaConvert::prepare_overlay_meta),
                   std::shared_ptr<OverlayShapeInfo> (MetaConvert::*)(ResultPtr)>);

static_assert(counts_from_zero({OverlayImplType::OPENCV}));
static_assert(std::is_constructible_v<Overlay, OverlayImplType, DevicePtr>);
static_assert(
    same<decltype(&Overlay::draw_overlay), void (Overlay::*)(VideoFrame&, OverlayShapeInfo&)>);
static_assert(same<decltype(OverlayShapeInfo::rect_params), std::vector<OverlayRectParams>>);
static_assert(same<decltype(OverlayShapeInfo::text_params), std::vector<OverlayTextParams>>);
static_assert(same<decltype(OverlayShapeInfo::line_params), std::vector<OverlayLineParams>>);
static_assert(same<decltype(OverlayShapeInfo::arrow_params), std::vector<OverlayArrowParams>>);
static_assert(same<decltype(OverlayShapeInfo::circle_params), std::vector<OverlayCircleParams>>);
static_assert(same<decltype(OverlayShapeInfo::polygn_params), std::vector<OverlayPolygonParams>>);
static_assert(same<decltype(OverlayTextParams::disp_text), char*>);
static_assert(same<decltype(OverlayTextParams::text_font.font_color), OverlayColorData>);
static_assert(same<decltype(OverlayRectParams::points), OverlayCoordinates>);
static_assert(same<decltype(OverlayCoordinates::x), int32_t>);
static_assert(same<decltype(OverlayColorData::alpha), uint8_t>);

}  // namespace vart
