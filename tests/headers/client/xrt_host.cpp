// Code of the kind that hosts of programmable logic contain, with the headers of XRT's releases
// since 2.18; tests/headers/client/xrt_program.cpp has those of the releases before.
#include <iostream>

#include "xrt/experimental/xrt_aie.h"
#include "xrt/experimental/xrt_error.h"
#include "xrt/experimental/xrt_ext.h"
#include "xrt/experimental/xrt_ini.h"
#include "xrt/experimental/xrt_ip.h"
#include "xrt/experimental/xrt_kernel.h"
#include "xrt/experimental/xrt_message.h"
#include "xrt/experimental/xrt_profile.h"
#include "xrt/experimental/xrt_queue.h"
#include "xrt/experimental/xrt_system.h"
#include "xrt/experimental/xrt_version.h"
#include "xrt/experimental/xrt_xclbin.h"
#include "xrt/xrt.h"

void show(const xrt::device& device, const xrt::xclbin& program) {
  std::cout << device.get_info<xrt::info::device::name>() << ' '
            << device.get_info<xrt::info::device::bdf>() << ' ' << program.get_xsa_name() << '\n';
  for (const auto& kernel : program.get_kernels())
    for (const auto& unit : kernel.get_cus()) std::cout << unit.get_name() << '\n';
  for (const auto& bank : program.get_mems())
    if (bank.get_used()) std::cout << bank.get_tag() << ' ' << bank.get_index() << '\n';
}

int run_graph(const std::string& path) {
  xrt::ini::set("Runtime.verbosity", 5);
  if (xrt::system::enumerate_devices() == 0 || xrt::version::code() < (2u << 16u)) return 1;
  auto device = xrt::device(0);
  const xrt::profile::user_range range("load", "the program");
  const auto id = device.register_xclbin(xrt::xclbin{path});
  xrt::hw_context context(device, id, xrt::hw_context::cfg_param_type{{"fps", 30}});
  try {
    auto graph = xrt::graph(context, "mygraph", xrt::graph::access_mode::shared);
    graph.update("mygraph.gain", 3);
    graph.run(1);
    graph.wait(std::chrono::milliseconds(100));
    xrt::aie::bo frame(context, 4096, xrt::bo::flags::normal, 0);
    frame.sync("mygraph.in", XCL_BO_SYNC_BO_TO_DEVICE, frame.size(), 0);
    xrt::ip block(context, "filter:{filter_1}");
    block.write_register(0x10, block.read_register(0x14) + 1);
  } catch (const std::exception& error) {
    xrt::message::logf(xrt::message::level::error, "host", "%s: %d", error.what(), 1);
  }
  return 0;
}

void run_lists(xrt::hw_context& context, std::vector<xrt::run>& runs) {
  xrt::runlist list(context);
  for (auto& run : runs) list.add(run);
  list.execute();
  try {
    if (list.wait(std::chrono::milliseconds(1000)) == std::cv_status::timeout) return;
  } catch (const xrt::runlist::command_error& error) {
    std::cerr << error.what() << error.get_command_state();
  }
  xrt::queue uploads;
  xrt::queue downloads;
  xrt::bo memory = xrt::ext::bo(
      context, 64, xrt::ext::bo::access_mode::read | xrt::ext::bo::access_mode::process);
  auto uploaded = uploads.enqueue([&] { memory.sync(XCL_BO_SYNC_BO_TO_DEVICE); });
  downloads.enqueue(uploaded);
  xrt::queue::event done = downloads.enqueue([&] { memory.sync(XCL_BO_SYNC_BO_FROM_DEVICE); });
  done.wait();
  runs.front().wait2(std::chrono::milliseconds(5));
}

xrtErrorCode last_error(const xrt::device& device) {
  return xrt::error(device, XRT_ERROR_CLASS_AIE).get_error_code();
}
