// Checks what is easily got wrong in the headers of VART-X, as far as declarations show it; see
// entries_test.cpp. Compiled as C++17 and as C++20, with warnings as errors.
#include <vart/vart_device.hpp>
#include <vart/vart_metaconvert.hpp>
#include <vart/vart_postprocess.hpp>
#include <vart/vart_preprocess.hpp>
#include <vart/vart_videoframe.hpp>

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using vart::Device;
using vart::VideoFrame;
using vart::VideoInfo;
using SharedDevice = std::shared_ptr<Device>;

// Entry 14: programs pass lvalues that are not const.
template <class Class, class Kind>
constexpr bool takes_json = std::is_constructible_v<Class, Kind, std::string&, SharedDevice&>;
static_assert(takes_json<vart::PreProcess, vart::PreProcessImplType>);
static_assert(takes_json<vart::PostProcess, vart::PostProcessType>);
static_assert(takes_json<vart::MetaConvert, vart::InferResultType>);
static_assert(std::is_constructible_v<VideoFrame, vart::VideoFrameImplType, size_t, uint8_t,
                                      VideoInfo&, SharedDevice&>);
static_assert(std::is_constructible_v<VideoFrame, vart::VideoFrameImplType, std::vector<uint8_t*>&,
                                      VideoInfo&, SharedDevice&>);

// Entry 16: programs own one device through several pointers that know nothing of each other.
static_assert(!std::is_base_of_v<std::enable_shared_from_this<Device>, Device>);

// Entry 17: programs declare these without a value and set what they know.
template <class Struct>
constexpr bool left_as_it_is = std::is_trivially_default_constructible_v<Struct>;
static_assert(left_as_it_is<VideoInfo> && left_as_it_is<vart::VideoPlaneInfo>);

}  // namespace
