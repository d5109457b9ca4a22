// A client of the installed VART-X API: a frame and a buffer object become tensors. It includes
// headers of VART alone and takes the standard ones from them, as published programs do.
#include <vart/vart_device.hpp>
#include <vart/vart_videoframe.hpp>

#include "vart/vart_npu_tensor.hpp"
#include "xrt/xrt_bo.h"

namespace {

using Settings = std::unordered_map<std::string, std::any>;

vart::VideoFrame make_frame(const std::shared_ptr<vart::Device>& device) {
  vart::VideoInfo info{};
  info.width = 8;
  info.height = 4;
  info.fmt = vart::VideoFormat::RGBx;
  info.n_planes = 1;
  return vart::VideoFrame(vart::VideoFrameImplType::XRT, size_t{8 * 4 * 4}, uint8_t{0}, info,
                          device);
}

vart::NpuTensorInfo describe(const std::string& name) {
  vart::NpuTensorInfo info;
  info.name = name;
  info.data_type = vart::DataType::INT8;
  info.memory_layout = vart::MemoryLayout::HCWNC4;
  info.shape = {4, 1, 8, 1, 4};
  info.strides = {32, 32, 4, 4, 1};
  info.size = info.size_in_bytes = 128;
  return info;
}

vart::NpuTensor bind(vart::VideoFrame& frame) {
  int fd = frame.export_buffer();
  vart::NpuTensor tensor(describe("image"), &fd, vart::MemoryType::DMA_FD);
  close(fd);
  return tensor;
}

vart::NpuTensor bind(xrt::bo& object) {
  return vart::NpuTensor(describe("mask"), &object, vart::MemoryType::XRT_BO);
}

void print_loaded_files() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const size_t path = line.find('/');
    if (path != std::string::npos && line.find("libvart-x") != std::string::npos)
      std::cout << "loaded " << line.substr(path) << "\n";
  }
}

}  // namespace

int main() try {
  const Settings settings = {{"device", 1}};
  const auto device = vart::Device::get_device_hdl(std::any_cast<int>(settings.at("device")), "");
  vart::VideoFrame frame = make_frame(device);
  xrt::bo object(xrt::device(1), 128, xrt::bo::flags::host_only, 0);
  const std::vector<vart::NpuTensor> tensors = {bind(frame), bind(object)};
  frame.map(vart::DataMapFlags::WRITE).planes[0].data[0] = 1;
  frame.unmap();
  for (const vart::NpuTensor& tensor : tensors)
    std::cout << "bound " << tensor.get_info().name << "\n";
  print_loaded_files();
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
