// Every declaration of the VART-X headers of devices, memories and frames.
#include <vart/vart_device.hpp>
#include <vart/vart_memory.hpp>
#include <vart/vart_memory_impl_vvas.hpp>
#include <vart/vart_videoframe.hpp>
#include <vart/vart_videoframe_impl_xrt.hpp>

#include "declared.h"

namespace vart {

using DevicePtr = std::shared_ptr<Device>;

static_assert(
    same<decltype(&Device::get_device_hdl), DevicePtr (*)(const int32_t, const std::string&)>);
static_assert(same<decltype(&Device::get_device_index), int32_t (Device::*)() const>);
static_assert(same<decltype(&Device::get_pimpl_handle),
                   const std::shared_ptr<DeviceImplBase>& (Device::*)() const>);
static_assert(!std::is_default_constructible_v<Device> && std::is_destructible_v<Device>);

static_assert(counts_from_zero({DataMapFlags::NONE, DataMapFlags::READ, DataMapFlags::WRITE}));
static_assert(counts_from_zero({MemoryImplType::XRT, MemoryImplType::NON_CMA}));
static_assert(!std::is_default_constructible_v<Memory>);
static_assert(made_of<Memory, MemoryImplType, size_t, uint8_t, DevicePtr>);
static_assert(made_of<Memory, MemoryImplType, uint8_t*, size_t, DevicePtr>);
static_assert(made_of<Memory, MemoryImplType, const int, size_t, DevicePtr>);
static_assert(made_of<Memory, std::shared_ptr<MemoryImplBase>>);
static_assert(same<decltype(&Memory::map), const uint8_t* (Memory::*)(DataMapFlags)>);
static_assert(same<decltype(&Memory::unmap), void (Memory::*)()>);
static_assert(same<decltype(&Memory::get_size), size_t (Memory::*)()>);
static_assert(same<decltype(&Memory::get_physical_addr), uint64_t (Memory::*)()>);
static_assert(same<decltype(&Memory::export_buffer), int (Memory::*)() const>);
static_assert(same<decltype(&Memory::get_device_handle), DevicePtr (Memory::*)() const>);
static_assert(same<decltype(&Memory::get_pimpl_handle),
                   const std::shared_ptr<MemoryImplBase>& (Memory::*)() const>);

static_assert(VART_VIDEO_MAX_PLANES == 4);
static_assert(counts_from_zero({VideoFrameImplType::XRT, VideoFrameImplType::NON_CMA}));
static_assert(
    counts_from_zero({VideoFormat::UNKNOWN,    VideoFormat::Y_UV8_420,    VideoFormat::RGBx,
                      VideoFormat::r210,       VideoFormat::Y410,         VideoFormat::BGRx,
                      VideoFormat::BGRA,       VideoFormat::RGBA,         VideoFormat::YUY2,
                      VideoFormat::NV16,       VideoFormat::RGB,          VideoFormat::v308,
                      VideoFormat::BGR,        VideoFormat::I422_10LE,    VideoFormat::NV12_10LE32,
                      VideoFormat::GRAY8,      VideoFormat::GRAY10_LE32,  VideoFormat::I420,
                      VideoFormat::RGBP,       VideoFormat::BGR_FLOAT,    VideoFormat::RGB_FLOAT,
                      VideoFormat::RGBP_FLOAT, VideoFormat::GRAY32_FLOAT, VideoFormat::RGBx_BF16,
                      VideoFormat::BGRx_BF16,  VideoFormat::GRAY_BF16,    VideoFormat::RGBx_FP16,
                      VideoFormat::BGRx_FP16,  VideoFormat::RGB_FP16,     VideoFormat::RGB_BF16,
                      VideoFormat::RGBP_FP16,  VideoFormat::RGBP_BF16,    VideoFormat::BGR_FP16,
                      VideoFormat::BGR_BF16,   VideoFormat::BGRP,         VideoFormat::BGRP_FP16,
                      VideoFormat::BGRP_BF16,  VideoFormat::BGRP_FLOAT}));

// Programs set some members and leave the rest as it is, or clear all with memset.
static_assert(std::is_trivial_v<VideoInfo> && std::is_trivial_v<VideoFrameMapInfo>);
static_assert(
    ascending({offsetof(VideoAlignment, padding_right), offsetof(VideoAlignment, padding_left),
               offsetof(VideoAlignment, padding_top), offsetof(VideoAlignment, padding_bottom),
               offsetof(VideoAlignment, stride_align)}));
static_assert(same<decltype(VideoAlignment::padding_right), uint32_t>);
static_assert(same<decltype(VideoAlignment::stride_align), uint32_t[4]>);
static_assert(ascending({offsetof(VideoInfo, width), offsetof(VideoInfo, height),
                         offsetof(VideoInfo, fmt), offsetof(VideoInfo, n_planes),
                         offsetof(VideoInfo, stride), offsetof(VideoInfo, elevation),
                         offsetof(VideoInfo, alignment)}));
static_assert(same<decltype(VideoInfo::width), int32_t>);
static_assert(same<decltype(VideoInfo::height), int32_t>);
static_assert(same<decltype(VideoInfo::n_planes), uint32_t>);
static_assert(same<decltype(VideoInfo::stride), size_t[4]>);
static_assert(same<decltype(VideoInfo::elevation), size_t[4]>);
static_assert(ascending({offsetof(VideoPlaneInfo, data), offsetof(VideoPlaneInfo, phy_addr),
                         offsetof(VideoPlaneInfo, size), offsetof(VideoPlaneInfo, offset),
                         offsetof(VideoPlaneInfo, stride), offsetof(VideoPlaneInfo, elevation)}));
static_assert(same<decltype(VideoPlaneInfo::data), uint8_t*>);
static_assert(same<decltype(VideoPlaneInfo::phy_addr), uint64_t>);
static_assert(same<decltype(VideoPlaneInfo::size), size_t>);
static_assert(same<decltype(VideoPlaneInfo::offset), size_t>);
static_assert(same<decltype(VideoPlaneInfo::stride), int32_t>);
static_assert(same<decltype(VideoPlaneInfo::elevation), int32_t>);
static_assert(ascending({offsetof(VideoFrameMapInfo, nplanes), offsetof(VideoFrameMapInfo, size),
                         offsetof(VideoFrameMapInfo, width), offsetof(VideoFrameMapInfo, height),
                         offsetof(VideoFrameMapInfo, fmt), offsetof(VideoFrameMapInfo, alignment),
                         offsetof(VideoFrameMapInfo, planes),
                         offsetof(VideoFrameMapInfo, usr_meta)}));
static_assert(same<decltype(VideoFrameMapInfo::nplanes), uint8_t>);
static_assert(same<decltype(VideoFrameMapInfo::size), size_t>);
static_assert(same<decltype(VideoFrameMapInfo::planes), VideoPlaneInfo[4]>);
static_assert(same<decltype(VideoFrameMapInfo::usr_meta), void*>);

static_assert(!std::is_default_constructible_v<VideoFrame>);
static_assert(made_of<VideoFrame, VideoFrameImplType, size_t, uint8_t, VideoInfo&, DevicePtr>);
static_assert(
    made_of<VideoFrame, VideoFrameImplType, std::vector<uint8_t*>&, VideoInfo&, DevicePtr>);
static_assert(made_of<VideoFrame, VideoFrameImplType, uint8_t, std::vector<xrt::bo*>&, VideoInfo&,
                      DevicePtr>);
static_assert(
    same<decltype(&VideoFrame::map), const VideoFrameMapInfo& (VideoFrame::*)(DataMapFlags)>);
static_assert(same<decltype(&VideoFrame::unmap), void (VideoFrame::*)()>);
static_assert(
    same<decltype(&VideoFrame::get_video_info), const VideoInfo& (VideoFrame::*)() const>);
static_assert(same<decltype(&VideoFrame::export_buffer), int (VideoFrame::*)() const>);
static_assert(same<decltype(&VideoFrame::get_device_handle), DevicePtr (VideoFrame::*)() const>);
static_assert(same<decltype(&VideoFrame::get_pimpl_handle),
                   const std::shared_ptr<VideoFrameImplBase>& (VideoFrame::*)() const>);

}  // namespace vart
