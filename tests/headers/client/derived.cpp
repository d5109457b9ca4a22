// Classes that programs derive from those of the API, with the functions that release 6.2 declares
// and no others.
#include <vart/vart_memory_impl_vvas.hpp>
#include <vart/vart_metaconvert.hpp>
#include <vart/vart_npu_tensor.hpp>
#include <vart/vart_overlay.hpp>
#include <vart/vart_postprocess.hpp>
#include <vart/vart_preprocess.hpp>
#include <vart/vart_runner_factory.hpp>
#include <vart/vart_videoframe_impl_xrt.hpp>

#include <type_traits>
#include <utility>

namespace {

using Batch = std::vector<std::vector<vart::NpuTensor>>;

class MockRunner : public vart::Runner {
 public:
  MockRunner() : Runner("model.rai") {}

  const std::vector<vart::NpuTensorInfo>& get_tensors_info(vart::TensorDirection,
                                                           vart::TensorType) const override {
    return infos_;
  }
  const vart::NpuTensorInfo& get_tensor_info_by_name(const std::string&,
                                                     vart::TensorType) const override {
    return infos_.at(0);
  }
  const vart::QuantParameters& get_quant_parameters(const std::string&) const override {
    return quantisation_;
  }
  size_t get_num_input_tensors() const override { return 1; }
  size_t get_num_output_tensors() const override { return 1; }
  size_t get_batch_size() const override { return 4; }
  vart::StatusCode execute(const Batch&, Batch&) noexcept override {
    return vart::StatusCode::SUCCESS;
  }
  vart::JobHandle execute_async(const Batch&, Batch&) noexcept override {
    return {vart::StatusCode::SUCCESS, 1};
  }
  vart::JobHandle execute_async(const Batch&, Batch&, ExecuteAsyncCallback) noexcept override {
    return {vart::StatusCode::SUCCESS, 2};
  }
  vart::StatusCode wait(const vart::JobHandle&, std::chrono::milliseconds) noexcept override {
    return vart::StatusCode::SUCCESS;
  }
  vart::NpuTensor allocate_npu_tensor(const vart::NpuTensorInfo&) const override { return {}; }
  vart::NpuTensor allocate_sub_tensor(const vart::NpuTensor&, const vart::NpuTensorInfo&,
                                      size_t) const override {
    return {};
  }

 private:
  std::vector<vart::NpuTensorInfo> infos_;
  vart::QuantParameters quantisation_;
};
static_assert(!std::is_abstract_v<MockRunner>);

// Classes whose objects programs make themselves, with more members than they have.
template <class Base>
class Named : public Base {
 public:
  template <class... Args>
  explicit Named(std::string name, Args&&... args)
      : Base(std::forward<Args>(args)...), name_(std::move(name)) {}
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};
using SharedDevice = std::shared_ptr<vart::Device>;
using Json = std::string&;
template <class Base, class... Args>
constexpr bool derives = std::is_constructible_v<Named<Base>, std::string, Args...>;
static_assert(derives<vart::NpuTensor>);
static_assert(derives<vart::NpuTensor, vart::NpuTensorInfo&, void*, vart::MemoryType>);
static_assert(derives<vart::Memory, vart::MemoryImplType, size_t, uint8_t, SharedDevice>);
static_assert(derives<vart::VideoFrame, vart::VideoFrameImplType, size_t, uint8_t, vart::VideoInfo&,
                      SharedDevice>);
static_assert(derives<vart::PreProcess, vart::PreProcessImplType, Json, SharedDevice>);
static_assert(derives<vart::PostProcess, vart::PostProcessType, Json, SharedDevice>);
static_assert(derives<vart::InferResult, vart::InferResultType>);
static_assert(derives<vart::MetaConvert, vart::InferResultType, Json, SharedDevice>);
static_assert(derives<vart::Overlay, vart::OverlayImplType, SharedDevice>);

// The classes behind those, with their functions of release 6.2.
template <class Impl>
constexpr bool implementable = std::has_virtual_destructor_v<Impl>&& std::is_abstract_v<Impl>;
static_assert(implementable<vart::MemoryImplBase> && implementable<vart::VideoFrameImplBase>);
static_assert(implementable<vart::PreProcessImplBase> && implementable<vart::PostProcessImplBase>);

// Older programs take these, and the classes of XRT, from the headers that are named after them.
static_assert(std::is_base_of_v<vart::MemoryImplBase, vart::MemoryImplVvas>);
static_assert(std::is_base_of_v<vart::VideoFrameImplBase, vart::VideoFrameImplXRT>);
static_assert(std::is_constructible_v<xrt::bo, xrt::device&, size_t, int>);

class OwnMemory : public vart::MemoryImplBase {
 public:
  const uint8_t* map(vart::DataMapFlags) override { return nullptr; }
  void unmap() override {}
  size_t get_size() override { return 0; }
  uint64_t get_physical_addr() override { return 0; }
  SharedDevice get_device_handle() const override { return nullptr; }
};
class OwnFrame : public vart::VideoFrameImplBase {
 public:
  const vart::VideoFrameMapInfo& map(vart::DataMapFlags) override { return mapped_; }
  void unmap() override {}
  const vart::VideoInfo& get_video_info() const override { return info_; }
  SharedDevice get_device_handle() const override { return nullptr; }

 private:
  vart::VideoFrameMapInfo mapped_{};
  vart::VideoInfo info_{};
};
class OwnPreProcess : public vart::PreProcessImplBase {
 public:
  void process(std::vector<vart::PreProcessOp>&) override {}
  void get_input_vinfo(int32_t, int32_t, vart::VideoFormat, vart::VideoInfo&) override {}
  const vart::VideoInfo& get_output_vinfo() override { return output_; }
  void set_preprocess_info(vart::PreProcessInfo&) override {}
  const vart::PreProcessInfo& get_preprocess_info() override { return info_; }

 private:
  vart::VideoInfo output_{};
  vart::PreProcessInfo info_{};
};
using Results = std::vector<std::vector<std::shared_ptr<vart::InferResult>>>;
class OwnPostProcess : public vart::PostProcessImplBase {
 public:
  void set_config(std::vector<vart::TensorInfo>&, uint32_t) override {}
  Results process(std::vector<int8_t*>, uint32_t) override { return {}; }
  Results process(std::vector<std::vector<std::shared_ptr<vart::Memory>>>, uint32_t) override {
    return {};
  }
};
class OwnFunction : public vart::PostProcessFunctionBase {
 public:
  Results::value_type process(const std::vector<std::vector<float>>&) override { return {}; }
};
static_assert(!std::is_abstract_v<OwnMemory> && !std::is_abstract_v<OwnFrame>);
static_assert(!std::is_abstract_v<OwnPreProcess> && !std::is_abstract_v<OwnPostProcess>);
static_assert(!std::is_abstract_v<OwnFunction>);
static_assert(std::is_constructible_v<vart::Memory, std::shared_ptr<OwnMemory>>);
static_assert(std::is_constructible_v<vart::VideoFrame, std::shared_ptr<OwnFrame>>);
static_assert(std::is_constructible_v<vart::PreProcess, std::shared_ptr<OwnPreProcess>>);
static_assert(std::is_constructible_v<vart::PostProcess, std::shared_ptr<OwnPostProcess>>);

}  // namespace
