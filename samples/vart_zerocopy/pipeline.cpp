#include "pipeline.hpp"

#include <unistd.h>

// The parser of Boost 1.74 uses these names, and every compiler reports that they are deprecated.
#define BOOST_BIND_GLOBAL_PLACEHOLDERS
#include <any>
#include <boost/property_tree/json_parser.hpp>
#include <boost/property_tree/ptree.hpp>
#include <cstring>
#include <limits>
#include <opencv2/imgcodecs.hpp>
#include <sstream>
#include <stdexcept>

namespace {

using vart::DataMapFlags;
using vart::TensorDirection;

vart::NpuTensorInfo the_only(const vart::Runner& runner, TensorDirection direction,
                             vart::TensorType type) {
  const std::vector<vart::NpuTensorInfo>& infos = runner.get_tensors_info(direction, type);
  if (infos.size() == 1) return infos.front();
  throw std::runtime_error("the model has " + std::to_string(infos.size()) + " " +
                           (direction == TensorDirection::INPUT ? "inputs" : "outputs") +
                           " in this view; this program takes models with one");
}

vart::RegionOfInterest whole(const vart::VideoInfo& info) {
  vart::RegionOfInterest roi{};
  roi.width = static_cast<uint16_t>(info.width);
  roi.height = static_cast<uint16_t>(info.height);
  return roi;
}

size_t bytes_of(const vart::VideoInfo& info) {
  size_t bytes = 0;
  for (uint32_t plane = 0; plane < info.n_planes; ++plane)
    bytes += info.stride[plane] * info.elevation[plane];
  return bytes;
}

// What 8-bit elements are, for Millrace, where it is not INT8.
std::string preprocess_json(bool is_unsigned) {
  return is_unsigned ? R"({"output-type": "UINT8"})" : "";
}

// The class with the best score, by name.
std::string postprocess_json(const std::string& labels, bool is_unsigned) {
  boost::property_tree::ptree keys;
  if (is_unsigned) keys.put("tensor-type", "UINT8");
  keys.put("topk", 1);
  keys.put("label-file-path", labels);
  keys.put("post-process-print", false);
  std::ostringstream text;
  boost::property_tree::write_json(text, keys);
  return text.str();
}

cv::Mat decode(const std::string& path) {
  cv::Mat picture = cv::imread(path, cv::IMREAD_COLOR);
  if (picture.empty()) throw std::runtime_error(path + " is no picture that can be read");
  constexpr int kLargest = std::numeric_limits<uint16_t>::max();
  if (picture.cols > kLargest || picture.rows > kLargest)
    throw std::runtime_error(path + " has more than " + std::to_string(kLargest) +
                             " rows or columns");
  return picture;
}

// A descriptor of a buffer, closed at the end: what is made from it keeps one of its own.
class SharedFd {
 public:
  explicit SharedFd(int fd) : fd_(fd) {
    if (fd_ < 0) throw std::runtime_error("a buffer cannot be exported");
  }
  ~SharedFd() { ::close(fd_); }
  SharedFd(const SharedFd&) = delete;
  SharedFd& operator=(const SharedFd&) = delete;
  int& get() { return fd_; }

 private:
  int fd_;
};

}  // namespace

Pipeline::Pipeline(const std::string& model, bool zero_copy, const Board& board)
    : board_(board), device_(vart::Device::get_device_hdl(board.device_index, board.xclbin)) {
  const std::string view = zero_copy ? "HW" : "CPU";
  runner_ = vart::RunnerFactory::create_runner(vart::RunnerType::VAIML, model,
                                               {{"log_level", std::string("WARNING")},
                                                {"input_tensor_type", view},
                                                {"output_tensor_type", view}});
  if (runner_ == nullptr) throw std::runtime_error("no runner was created");
  const vart::TensorType type = zero_copy ? vart::TensorType::HW : vart::TensorType::CPU;
  input_ = the_only(*runner_, TensorDirection::INPUT, type);
  output_ = the_only(*runner_, TensorDirection::OUTPUT, type);
  format_ = picture_format(*runner_, input_);
  configure_preprocess();
  configure_postprocess();
}

void Pipeline::configure_preprocess() {
  std::string json = preprocess_json(format_.is_unsigned);
  preprocess_ = std::make_unique<vart::PreProcess>(vart::PreProcessImplType::IMAGE_PROCESSING_HLS,
                                                   json, device_);
  vart::PreProcessInfo info{};
  info.qt_fctr = format_.quantisation;
  info.scale_r = 1 / 58.395F;  // of ImageNet, as are the means
  info.scale_g = 1 / 57.12F;
  info.scale_b = 1 / 57.375F;
  // The formula, (x - mean) * scale * qt_fctr, adds no zero point: it is a part of the mean.
  const float zero = format_.zero_point / format_.quantisation;
  info.mean_r = 123.675F - zero / info.scale_r;
  info.mean_g = 116.28F - zero / info.scale_g;
  info.mean_b = 103.53F - zero / info.scale_b;
  info.height = format_.height;
  info.width = format_.width;
  info.colour_format = format_.format;
  info.preprocess_type = vart::PreProcessType::PANSCAN;
  preprocess_->set_preprocess_info(info);
}

void Pipeline::configure_postprocess() {
  std::string json = postprocess_json(board_.labels, output_.data_type == vart::DataType::UINT8);
  postprocess_ = std::make_unique<vart::PostProcess>(vart::PostProcessType::SOFTMAX, json, device_);
  std::vector<vart::TensorInfo> infos{result_info(*runner_, output_)};
  postprocess_->set_config(infos, 1);
}

void Pipeline::set_picture(const std::string& path) {
  const cv::Mat picture = decode(path);
  vart::VideoInfo info{};
  preprocess_->get_input_vinfo(picture.rows, picture.cols, vart::VideoFormat::BGR, info);
  picture_frame_ = std::make_unique<vart::VideoFrame>(vart::VideoFrameImplType::XRT, bytes_of(info),
                                                      board_.input_bank, info, device_);
  const vart::VideoPlaneInfo& plane = picture_frame_->map(DataMapFlags::WRITE).planes[0];
  const size_t row_bytes = picture.cols * picture.elemSize();
  for (int row = 0; row < picture.rows; ++row)
    std::memcpy(plane.data + plane.offset + static_cast<size_t>(row) * plane.stride,
                picture.ptr(row), row_bytes);
  picture_frame_->unmap();
  bind_input();
  bind_output();
}

void Pipeline::bind_input() {
  vart::VideoInfo info = preprocess_->get_output_vinfo();
  const size_t bytes = bytes_of(info);
  if (bytes != input_.size_in_bytes)
    throw std::runtime_error("preprocessing makes " + std::to_string(bytes) + " bytes, tensor " +
                             input_.name + " has " + std::to_string(input_.size_in_bytes));
  input_frame_ = std::make_unique<vart::VideoFrame>(vart::VideoFrameImplType::XRT, bytes,
                                                    board_.output_bank, info, device_);
  vart::PreProcessOp operation;
  operation.in_frame = picture_frame_.get();
  operation.out_frame = input_frame_.get();
  operation.in_roi = whole(picture_frame_->get_video_info());
  operation.out_roi = whole(info);
  operations_.assign(1, operation);
  SharedFd fd(input_frame_->export_buffer());
  inputs_ = {{vart::NpuTensor(input_, &fd.get(), vart::MemoryType::DMA_FD)}};
}

void Pipeline::bind_output() {
  outputs_ = {{runner_->allocate_npu_tensor(output_)}};
  SharedFd fd(outputs_[0][0].export_buffer());
  result_memory_ = std::make_shared<vart::Memory>(vart::MemoryImplType::XRT, fd.get(),
                                                  output_.size_in_bytes, device_);
}

void Pipeline::preprocess() {
  preprocess_->process(operations_);
}

void Pipeline::infer() {
  const vart::StatusCode status = runner_->execute(inputs_, outputs_);
  if (status != vart::StatusCode::SUCCESS)
    throw std::runtime_error("execute failed: " + std::string(vart::to_string(status)));
}

std::optional<size_t> Pipeline::converted_bytes() const {
  try {
    return std::any_cast<size_t>(runner_->get_property("converted_bytes"));
  } catch (const std::invalid_argument&) {
    return std::nullopt;  // a property of this runtime; others need not have it
  }
}

Pipeline::Results Pipeline::postprocess() {
  return postprocess_->process({{result_memory_}}, 1);
}
