// Code of the kinds that programs with VART-X contain.

// Names that programs use for themselves.
enum { ERROR, INFO, DEBUG, SUCCESS, DEFAULT };
struct InferTensorInfo {};
namespace utils {}

// Before any header: what the names are must be a matter of the program's own.
namespace vart {
class Device;
class PreProcess;
class PostProcess;
class VideoFrame;
class Memory;
class InferResult;
class MetaConvert;
class Overlay;
class Runner;
class NpuTensor;
}  // namespace vart

#include <vart/vart_device.hpp>
#include <vart/vart_inferresult.hpp>
#include <vart/vart_memory.hpp>
#include <vart/vart_metaconvert.hpp>
#include <vart/vart_npu_tensor.hpp>
#include <vart/vart_overlay.hpp>
#include <vart/vart_postprocess.hpp>
#include <vart/vart_preprocess.hpp>
#include <vart/vart_runner_factory.hpp>
#include <vart/vart_videoframe.hpp>

#include <cstring>
#include <type_traits>

const char* to_string(vart::MemoryLayout) {
  return "mine";
}
const char* to_string(vart::DataType) {
  return "mine";
}
const char* to_string(vart::VideoFormat) {
  return "mine";
}
const char* to_string(vart::PostProcessType) {
  return "mine";
}

using namespace std;
using namespace vart;

static_assert(is_same_v<decltype(to_string(VideoFormat::RGBx)), const char*>);
static_assert(is_same_v<decltype(to_string(PostProcessType::TOPK)), const char*>);
static_assert(is_same_v<decltype(to_string(vart::DataType::BF16)), const char*>);
static_assert(is_same_v<decltype(to_string(vart::MemoryLayout::NHWC)), const char*>);
static_assert(is_same_v<decltype(vart::to_string(MemoryLayout::NHWC)), string_view>);

shared_ptr<Device> open(Device* plain) {
  shared_ptr<Device> opened = Device::get_device_hdl(1, "x_plus_ml.xclbin");
  return opened ? opened : shared_ptr<Device>(plain, [](Device*) {});
}

void frames(const shared_ptr<Device>& device, const NpuTensor& tensor) {
  VideoInfo vinfo{};
  memset(&vinfo, 0, sizeof vinfo);
  vinfo.alignment.stride_align[0] = 255;
  VideoFrame frame(VideoFrameImplType::XRT, 4 * 224 * 224, 2, vinfo, device);
  const VideoFrameMapInfo* map_info = &frame.map(DataMapFlags::WRITE);
  memset(map_info->planes[0].data + map_info->planes[0].offset, 0, map_info->planes[0].size);
  frame.unmap();
  const int fd = tensor.export_buffer();
  const size_t size = tensor.get_info().size_in_bytes;
  vector<vector<shared_ptr<Memory>>> memories(1);
  memories[0].push_back(make_shared<Memory>(MemoryImplType::XRT, fd, size, device));
  uint8_t bank = 2;
  memories[0].push_back(make_shared<Memory>(MemoryImplType::XRT, size, bank, device));
  string json = R"({"topk": "1"})";
  PostProcess postprocess(PostProcessType::SOFTMAX, json, device);
  vector<TensorInfo> infos(1);
  infos[0].direction = TensorDataDirection::OUTPUT;
  infos[0].memory_layout = string(vart::to_string(tensor.get_info().memory_layout));
  postprocess.set_config(infos, 1);
  const auto results = postprocess.process(memories, 1);
  for (const auto& result : results[0]) {
    InferResScaleInfo scale;
    scale.input_frame_width = static_cast<int32_t>(vinfo.width);
    result->transform(scale);
    for (const auto& child : result->get_children()) {
      const auto* found = static_cast<ClassificationResData*>(child->get_infer_result());
      if (static_cast<int>(found->index[0]) == ERROR + INFO + DEBUG + SUCCESS + DEFAULT) return;
    }
    MetaConvert convert(InferResultType::CLASSIFICATION, json, device);
    Overlay(OverlayImplType::OPENCV, device)
        .draw_overlay(frame, *convert.prepare_overlay_meta(result));
  }
  PreProcessOp op{};
  op.in_frame = op.out_frame = &frame;
  op.in_roi.width = 224;
  vector<PreProcessOp> ops = {op};
  PreProcess(PreProcessImplType::IMAGE_PROCESSING_HLS, json, device).process(ops);
}
