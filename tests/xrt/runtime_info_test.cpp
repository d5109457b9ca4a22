// Tests what XRT says of itself, of devices and of programs, and how calls fail that are not
// emulated.
#include <gmock/gmock.h>

#include <cstdlib>
#include <functional>
#include <sstream>
#include <system_error>
#include <vector>

#include "tests/support/log_capture.h"
#include "xrt/experimental/xrt_aie.h"
#include "xrt/experimental/xrt_error.h"
#include "xrt/experimental/xrt_ext.h"
#include "xrt/experimental/xrt_fence.h"
#include "xrt/experimental/xrt_ini.h"
#include "xrt/experimental/xrt_ip.h"
#include "xrt/experimental/xrt_mailbox.h"
#include "xrt/experimental/xrt_message.h"
#include "xrt/experimental/xrt_system.h"
#include "xrt/experimental/xrt_version.h"
#include "xrt/experimental/xrt_xclbin.h"
#include "xrt/xrt.h"

namespace xrt {
namespace {

using ::testing::HasSubstr;

// The text with which a call says that it is not emulated.
std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::not_supported);
    return error.what();
  }
  return "nothing was thrown";
}

TEST(NotEmulated, FailsAtTheCallAndNamesTheClass) {
  device opened(0);
  hw_context context(opened, opened.load_xclbin(xclbin(std::vector<char>{'x'})));
  EXPECT_THAT(refusal([&] { graph(context, "g"); }), HasSubstr("xrt::graph is not emulated"));
  EXPECT_THAT(refusal([&] { ip(context, "block"); }), HasSubstr("xrt::ip"));
  EXPECT_THAT(refusal([&] { fence(opened, fence::access_mode::local); }), HasSubstr("xrt::fence"));
  EXPECT_THAT(refusal([&] { elf("a.elf"); }), HasSubstr("xrt::elf"));
  EXPECT_THAT(refusal([&] { module{elf()}; }), HasSubstr("xrt::module"));
  EXPECT_THAT(refusal([&] { ext::kernel(context, module(), "k"); }), HasSubstr("xrt::ext::kernel"));
  EXPECT_THAT(refusal([&] { aie::profiling{opened}; }), HasSubstr("xrt::aie::profiling"));
  EXPECT_THAT(refusal([&] { aie::buffer(context, "gmio"); }), HasSubstr("xrt::aie::buffer"));
  EXPECT_THAT(refusal([&] { aie::device(0U).reset_array(); }), HasSubstr("xrt::aie::device"));
  EXPECT_THAT(refusal([&] { aie::hw_context(context).reset_array(); }),
              HasSubstr("xrt::aie::hw_context::reset_array"));
  EXPECT_THAT(refusal([&] { aie::program(elf()).get_partition_size(); }),
              HasSubstr("xrt::aie::program"));
  kernel copy(context, "pass_through");
  EXPECT_THAT(refusal([&] { mailbox{run(copy)}; }), HasSubstr("xrt::mailbox"));
  EXPECT_THAT(refusal([&] { run(copy).abort(); }), HasSubstr("xrt::run::abort"));
  EXPECT_THAT(refusal([&] { copy.offset(0); }), HasSubstr("xrt::kernel::offset"));
  EXPECT_THAT(refusal([&] { copy.read_register(16); }), HasSubstr("xrt::kernel::read_register"));
  EXPECT_THAT(refusal([&] { copy.write_register(16, 1); }),
              HasSubstr("xrt::kernel::write_register"));
  aie::bo memory(context, 8, 0);
  memory.sync(XCL_BO_SYNC_BO_TO_DEVICE);
  EXPECT_THAT(refusal([&] { memory.sync("port", XCL_BO_SYNC_BO_TO_DEVICE); }),
              HasSubstr("xrt::aie::bo"));
  EXPECT_THAT(refusal([&] { opened.get_info<info::device::thermal>(); }), HasSubstr("get_info"));
}

TEST(DeviceInfo, SaysWhatASoftwareDeviceHas) {
  device opened("0000:03:00.1");
  EXPECT_EQ(opened.get_info<info::device::bdf>(), "0000:03:00.1");
  EXPECT_EQ(opened.get_info<info::device::name>(), "millrace");
  EXPECT_FALSE(opened.get_info<info::device::offline>());
  EXPECT_EQ(opened.get_info<info::device::kdma>(), 0u);
  EXPECT_THROW(device().get_info<info::device::name>(), std::invalid_argument);
  EXPECT_EQ(system::enumerate_devices(), 1u);
  const error last(opened, XRT_ERROR_CLASS_SYSTEM);
  EXPECT_EQ(last.get_error_code(), 0u);
  EXPECT_EQ(last.to_string(), "no error");
  EXPECT_THAT(error(0x2a, 5).to_string(), HasSubstr("0x2a"));
}

TEST(Version, IsThatOfTheInterface) {
  EXPECT_EQ(version::code(), version::major() * 65536 + version::minor());
  EXPECT_GE(version::code(), 2u * 65536 + 18);
}

TEST(Message, GoesToTheLogWithItsLevel) {
  millrace::test::LogCapture log;
  message::logf(message::level::warning, "host", "%d frames in %s", 3, "a second");
  message::log(message::level::critical, "host", "gone");
  ini::set("Runtime.verbosity", 7);
  EXPECT_EQ(log.count("WARNING 3 frames in a second"), 1u);
  EXPECT_EQ(log.count("ERROR gone"), 1u);
}

TEST(Program, ListsUnitsAndBanks) {
  const xclbin program(std::string_view("any content"));
  const xclbin::kernel copy = program.get_kernel("pass_through");
  ASSERT_EQ(copy.get_cus().size(), 1u);
  EXPECT_EQ(copy.get_cus()[0].get_name(), "pass_through:pass_through_1");
  EXPECT_EQ(copy.get_cus()[0].get_num_args(), copy.get_num_args());
  EXPECT_EQ(program.get_ips().size(), program.get_kernels().size());
  ASSERT_FALSE(program.get_mems().empty());
  const xclbin::mem bank = copy.get_arg(0).get_mems().at(0);
  EXPECT_EQ(bank.get_tag(), "DDR" + std::to_string(bank.get_index()));
  EXPECT_TRUE(copy.get_arg(2).get_mems().empty()) << "a number lies in no bank";
  const device opened(0);
  EXPECT_EQ(bo(opened, 4, bank.get_index()).size(), 4u);
}

TEST(ExtensionBo, IsMemoryLikeAnyOther) {
  device opened(0);
  bo memory = ext::bo(opened, 16, ext::bo::access_mode::read_write);
  memory.map<int*>()[3] = 4;
  bo other = memory;
  EXPECT_EQ(other.map<int*>()[3], 4);
  EXPECT_THAT(refusal([&] { ext::bo(opened, pid_type{1}, 3); }), HasSubstr("process"));
}

}  // namespace
}  // namespace xrt
