// Code of the kind that programs with XRT and VART contain.
#include <cstdlib>

#include "experimental/xrt_xclbin.h"
#include "vart/vart_npu_tensor.hpp"
#include "vart/vart_videoframe.hpp"
#include "xrt/xrt_bo.h"
#include "xrt/xrt_device.h"
#include "xrt/xrt_hw_context.h"
#include "xrt/xrt_kernel.h"
#include "xrt/xrt_uuid.h"

int copy_on_the_device(unsigned int index, const std::string& path, size_t words) {
  auto device = xrt::device(index);
  auto program = xrt::xclbin(path);
  device.register_xclbin(program);
  xrt::hw_context context(device, program.get_uuid());
  auto kernel = xrt::kernel(context, "pass_through");
  auto in = xrt::bo(device, words * sizeof(int), XRT_BO_FLAGS_HOST_ONLY, kernel.group_id(0));
  auto out = xrt::bo(context, words * sizeof(int), xrt::bo::flags::cacheable, kernel.group_id(1));
  auto* numbers = in.map<int*>();
  for (size_t i = 0; i < words; ++i) numbers[i] = static_cast<int>(i);
  in.sync(XCL_BO_SYNC_BO_TO_DEVICE);
  auto run = kernel(in, out, static_cast<uint32_t>(words));
  if (run.wait(1000) != ERT_CMD_STATE_COMPLETED) return EXIT_FAILURE;
  out.sync(XCL_BO_SYNC_BO_FROM_DEVICE, words * sizeof(int), 0);
  return EXIT_SUCCESS;
}

vart::NpuTensor bind(const vart::NpuTensorInfo& info, std::vector<xrt::bo>& pool) {
  xrt::device device(0);
  const xrt::uuid id = device.load_xclbin("a.xclbin");
  xrt::kernel kernel(device, id, "scale", xrt::kernel::cu_access_mode::exclusive);
  xrt::run run(kernel);
  pool.emplace_back(device, info.size_in_bytes, kernel.group_id(0));
  run.set_arg(0, pool.back());
  run.set_arg(1, 0.5f);
  run.start();
  run.wait(std::chrono::milliseconds(5));
  pool.push_back(xrt::bo(device, pool.front().export_buffer()));
  return vart::NpuTensor(info, &pool.back(), vart::MemoryType::XRT_BO);
}
