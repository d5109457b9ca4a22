// Calls around features that only hardware has: they fail as programs expect, or do nothing.
#include <poll.h>

#include <array>
#include <cstring>

#include "nrt/ndebug_stream.h"
#include "nrt/nrt_async_sendrecv.h"
#include "nrt/nrt_experimental.h"
#include "nrt/nrt_profile.h"
#include "nrt/nrt_version.h"
#include "tests/nrt/nrt_fixture.h"
#include "tests/support/log_capture.h"

namespace millrace::test {
namespace {

class HardwareOnly : public NrtTest {
 protected:
  HardwareOnly() : NrtTest("null") {}
};

TEST_F(HardwareOnly, MappingsAreDeclinedWithoutAnError) {
  const ScopedTensor tensor(64);
  const auto address = reinterpret_cast<uint64_t>(nrt_tensor_get_va(tensor.get()));
  int fd = 77;
  uint64_t offset = 77;
  void* mapped = &fd;
  size_t size = 77;
  char bdf[16] = "unchanged";
  const LogCapture log;
  EXPECT_EQ(nrt_get_dmabuf_fd(address, 64, &fd), NRT_INVALID);
  EXPECT_EQ(nrt_get_dmabuf_fd_v2(address, 64, &fd, &offset), NRT_INVALID);
  EXPECT_EQ(nrt_get_hbm_mmap_va(0, 0, &mapped, &size), NRT_INVALID);
  EXPECT_EQ(nrt_get_attached_efa_bdf(tensor.get(), bdf, &size), NRT_INVALID);
  EXPECT_EQ(fd, 77);
  EXPECT_EQ(mapped, &fd);
  EXPECT_STREQ(bdf, "unchanged");
  EXPECT_EQ(log.count("ERROR"), 0u);
}

TEST_F(HardwareOnly, ThereIsOneDevice) {
  int device = 77;
  EXPECT_EQ(nrt_get_device_id(1, &device), NRT_SUCCESS);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(nrt_get_device_id(2, &device), NRT_INVALID);
  EXPECT_EQ(nrt_get_device_id(0, nullptr), NRT_INVALID);
  uint32_t host_device = 77;
  EXPECT_EQ(nrt_host_device_id_get(0, &host_device), NRT_SUCCESS);
  EXPECT_EQ(host_device, 0u);
  EXPECT_EQ(nrt_host_device_id_get(1, &host_device), NRT_INVALID);
  std::array<uint32_t, 4> map{9, 9, 9, 9};
  uint32_t count = map.size();
  EXPECT_EQ(nrt_host_device_id_rid_map_get(&count, map.data()), NRT_SUCCESS);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(map, (std::array<uint32_t, 4>{0, 9, 9, 9}));
  count = 0;
  EXPECT_EQ(nrt_host_device_id_rid_map_get(&count, map.data()), NRT_INVALID);
}

TEST_F(HardwareOnly, ACoreHasOneDebugClientAndNoEvents) {
  int stream = -1, second = 77;
  ASSERT_EQ(nrt_debug_client_connect(0, &stream), NRT_SUCCESS);
  EXPECT_EQ(nrt_debug_client_connect(0, &second), NRT_INVALID);
  EXPECT_EQ(second, 77);
  EXPECT_EQ(nrt_debug_client_connect(2, &second), NRT_INVALID);
  pollfd readable{stream, POLLIN, 0};
  EXPECT_EQ(poll(&readable, 1, 0), 0);
  ndebug_stream_event_header_t header{};
  void* payload = &header;
  EXPECT_EQ(nrt_debug_client_read_one_event(stream, &header, &payload), NRT_QUEUE_EMPTY);
  EXPECT_EQ(payload, &header);
  EXPECT_EQ(nrt_debug_client_read_one_event(stream, nullptr, &payload), NRT_INVALID);
  nrt_debug_client_connect_close(stream);
  nrt_debug_client_connect_close(stream);
  EXPECT_EQ(nrt_debug_client_read_one_event(stream, &header, &payload), NRT_INVALID);
  EXPECT_EQ(nrt_debug_client_connect(0, &stream), NRT_SUCCESS);
}

TEST_F(HardwareOnly, ClosingTheRuntimeEndsConnectionsToIt) {
  int stream = -1;
  ASSERT_EQ(nrt_debug_client_connect(0, &stream), NRT_SUCCESS);
  ASSERT_EQ(nrt_async_sendrecv_init(0), NRT_SUCCESS);
  nrt_close();
  nrt_debug_client_connect_close(stream);
  EXPECT_EQ(nrt_async_sendrecv_close(0), NRT_CLOSED);
  ASSERT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
  EXPECT_EQ(nrt_debug_client_connect(0, &stream), NRT_SUCCESS);
  EXPECT_EQ(nrt_async_sendrecv_init(0), NRT_SUCCESS);
}

TEST_F(HardwareOnly, TheRestIsAcceptedAndIgnored) {
  const auto never = [](void*, uint32_t, uint32_t, uint64_t, NRT_STATUS) { FAIL(); };
  EXPECT_EQ(nrt_register_async_exec_callback(never, nullptr), NRT_SUCCESS);
  EXPECT_EQ(nrt_register_async_exec_callback(nullptr, nullptr), NRT_SUCCESS);
  const nrt_ucode_info microcode{};
  EXPECT_EQ(nrt_set_pool_eng_ucode(&microcode), NRT_SUCCESS);
  EXPECT_EQ(nrt_set_pool_eng_ucode(nullptr), NRT_INVALID);
}

TEST_F(HardwareOnly, CallsKnownByNameFailAndSayWhatToUse) {
  const LogCapture log;
  nrt_cc_comm_t comm{};
  nrt_cc_context_t* context = nullptr;
  EXPECT_EQ(nrt_cc_prepare_coalesced(&comm, 1, &context), NRT_FAILURE);
  EXPECT_EQ(nrta_cc_prepare_coalesced(nullptr), NRT_FAILURE);
  EXPECT_EQ(log.count("prepare the collectives one by one"), 2u);
  EXPECT_EQ(nrt_inspect_export(1), NRT_FAILURE);
  EXPECT_EQ(log.count("nrt_inspect_stop writes"), 1u);
  EXPECT_EQ(context, nullptr);
}

TEST_F(HardwareOnly, ThereIsNoNetworkPlugin) {
  int error = 0;
  std::array<char, 8> message;
  message.fill('?');
  EXPECT_EQ(nrt_get_libnccl_net(&error, message.data(), message.size()), nullptr);
  EXPECT_NE(error, 0);
  EXPECT_STREQ(message.data(), "the sof");
  EXPECT_EQ(nrt_get_libnccl_net(nullptr, nullptr, 0), nullptr);
}

TEST_F(HardwareOnly, OldCallersGetTheFirstFieldsOfTheInstance) {
  struct {
    uint32_t family, size, behind;
  } old{77, 77, 77};
  EXPECT_EQ(nrt_get_instance_info(reinterpret_cast<nrt_instance_info_t*>(&old), 8), NRT_SUCCESS);
  EXPECT_EQ(old.family, static_cast<uint32_t>(NRT_INSTANCE_UNKNOWN));
  EXPECT_EQ(old.size, static_cast<uint32_t>(NRT_INSTANCE_SIZE_UNKNOWN));
  EXPECT_EQ(old.behind, 77u);
  nrt_instance_info_t instance{};
  EXPECT_EQ(nrt_get_instance_info(&instance, sizeof instance), NRT_SUCCESS);
  EXPECT_STREQ(instance.arch_name, "millrace");
  EXPECT_EQ(nrt_get_instance_info(nullptr, 8), NRT_INVALID);
}

TEST(Version, IsThatOfTheInterface) {
  nrt_version_t version{};
  ASSERT_EQ(nrt_get_version(&version, sizeof version), NRT_SUCCESS);  // without nrt_init
  EXPECT_EQ(version.rt_major, 2u);
  EXPECT_EQ(version.rt_minor, 34u);
  EXPECT_NE(std::strstr(version.rt_detail, "Millrace"), nullptr);
  uint64_t fields[2] = {77, 77};
  EXPECT_EQ(nrt_get_version(reinterpret_cast<nrt_version_t*>(fields), 8), NRT_SUCCESS);
  EXPECT_EQ(fields[0], 2u);
  EXPECT_EQ(fields[1], 77u);
  EXPECT_EQ(nrt_get_version(nullptr, 224), NRT_INVALID);
}

}  // namespace
}  // namespace millrace::test
