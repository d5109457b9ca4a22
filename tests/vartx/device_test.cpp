#include "vart/vart_device.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "vart/vart_memory.hpp"

namespace vart {
namespace {

TEST(Device, IsTheSameForTheSameIndexAndPath) {
  const auto first = Device::get_device_hdl(1, "a.xclbin");
  EXPECT_EQ(Device::get_device_hdl(1, "a.xclbin"), first);
  EXPECT_EQ(first->get_device_index(), 1);
  EXPECT_NE(first->get_pimpl_handle(), nullptr);
}

TEST(Device, IsAnotherForAnotherIndex) {
  const auto first = Device::get_device_hdl(1, "a.xclbin");
  const auto negative = Device::get_device_hdl(-1, "");
  EXPECT_NE(negative, first);
  EXPECT_EQ(negative->get_device_index(), -1);
}

TEST(Device, OpenWithAnotherPathIsRefused) {
  const auto first = Device::get_device_hdl(2, "a.xclbin");
  EXPECT_THROW(Device::get_device_hdl(2, "b.xclbin"), std::invalid_argument);
}

TEST(Device, MayBeOpenedWithAnotherPathAfterItWasReleased) {
  Device::get_device_hdl(3, "a.xclbin").reset();
  EXPECT_EQ(Device::get_device_hdl(3, "b.xclbin")->get_device_index(), 3);
}

TEST(Device, IsNotOwnedByWhatIsMadeOnIt) {
  auto device = Device::get_device_hdl(4, "");
  const std::shared_ptr<Device> borrowed(device.get(), [](Device*) {});
  Memory memory(MemoryImplType::XRT, size_t{16}, uint8_t{0}, borrowed);
  EXPECT_EQ(memory.get_device_handle().get(), device.get());
  device.reset();
  EXPECT_NE(memory.map(DataMapFlags::READ), nullptr);
}

}  // namespace
}  // namespace vart
