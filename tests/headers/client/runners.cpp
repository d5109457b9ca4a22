// Every declaration of vart_runner_factory.hpp.
#include <vart/vart_runner_factory.hpp>

#include "declared.h"

namespace vart {

using Batch = std::vector<std::vector<NpuTensor>>;
using Options = std::unordered_map<std::string, std::any>;

static_assert(counts_from_zero({RunnerType::VAIML}));
static_assert(counts_from_zero({RoundingMode::UNKNOWN, RoundingMode::ROUND_TO_NEAREST_EVEN,
                                RoundingMode::ROUND_TOWARD_ZERO}));
static_assert(counts_from_zero({StatusCode::SUCCESS, StatusCode::FAILURE, StatusCode::INVALID_INPUT,
                                StatusCode::INVALID_OUTPUT, StatusCode::OUT_OF_MEMORY,
                                StatusCode::RUNTIME_ERROR, StatusCode::JOB_PENDING,
                                StatusCode::INVALID_JOB_ID, StatusCode::RESOURCE_UNAVAILABLE,
                                StatusCode::UNSUPPORTED}));

static_assert(same<decltype(QuantParameters::scale), double>);
static_assert(same<decltype(QuantParameters::zero_point), int32_t>);
static_assert(same<decltype(QuantParameters::rounding_mode), RoundingMode>);
static_assert(ascending({offsetof(QuantParameters, scale), offsetof(QuantParameters, zero_point),
                         offsetof(QuantParameters, rounding_mode)}));
static_assert(QuantParameters{}.scale == 0.0 && QuantParameters{}.zero_point == 0 &&
              QuantParameters{}.rounding_mode == RoundingMode::UNKNOWN);

static_assert(same<decltype(JobHandle::status), StatusCode>);
static_assert(same<decltype(JobHandle::job_id), uint32_t>);
static_assert(ascending({offsetof(JobHandle, status), offsetof(JobHandle, job_id)}));
static_assert(std::is_constructible_v<JobHandle, StatusCode, uint32_t>);
static_assert(std::is_default_constructible_v<JobHandle> && std::is_copy_assignable_v<JobHandle>);

static_assert(same<Runner::ExecuteAsyncCallback, std::function<void(const JobHandle&)>>);
static_assert(same<ExecuteAsyncCallback, Runner::ExecuteAsyncCallback>);
static_assert(std::has_virtual_destructor_v<Runner> && std::is_abstract_v<Runner>);

// The constructor is for derived classes alone.
struct Derived : Runner {
  explicit Derived(const std::string& path, const Options& options = {}) : Runner(path, options) {}
  explicit Derived(int) : Runner("model.rai") {}
};
static_assert(!std::is_convertible_v<std::string, Derived>);
static_assert(!std::is_constructible_v<Runner, const std::string&, const Options&>);

static_assert(
    same<decltype(&Runner::get_tensors_info),
         const std::vector<NpuTensorInfo>& (Runner::*)(TensorDirection, TensorType) const>);
static_assert(same<decltype(&Runner::get_tensor_info_by_name),
                   const NpuTensorInfo& (Runner::*)(const std::string&, TensorType) const>);
static_assert(same<decltype(&Runner::get_quant_parameters),
                   const QuantParameters& (Runner::*)(const std::string&) const>);
static_assert(same<decltype(&Runner::get_num_input_tensors), size_t (Runner::*)() const>);
static_assert(same<decltype(&Runner::get_num_output_tensors), size_t (Runner::*)() const>);
static_assert(has<size_t (Runner::*)() const>(&Runner::get_batch_size));
static_assert(has<size_t (Runner::*)(TensorDirection) const>(&Runner::get_batch_size));
static_assert(
    same<decltype(&Runner::get_property), std::any (Runner::*)(const std::string&) const>);
static_assert(
    same<decltype(&Runner::execute), StatusCode (Runner::*)(const Batch&, Batch&) noexcept>);
static_assert(has<JobHandle (Runner::*)(const Batch&, Batch&) noexcept>(&Runner::execute_async));
static_assert(
    has<JobHandle (Runner::*)(const Batch&, Batch&, Runner::ExecuteAsyncCallback) noexcept>(
        &Runner::execute_async));
static_assert(
    has<JobHandle (Runner::*)(const Batch&, Batch&, std::function<void(const JobHandle&, void*)>,
                              void*) noexcept>(&Runner::execute_async));
static_assert(same<decltype(&Runner::wait),
                   StatusCode (Runner::*)(const JobHandle&, std::chrono::milliseconds) noexcept>);
static_assert(has<NpuTensor (Runner::*)(const NpuTensorInfo&) const>(&Runner::allocate_npu_tensor));
static_assert(
    has<NpuTensor (Runner::*)(const NpuTensorInfo&, uint32_t) const>(&Runner::allocate_npu_tensor));
static_assert(same<decltype(&Runner::allocate_sub_tensor),
                   NpuTensor (Runner::*)(const NpuTensor&, const NpuTensorInfo&, size_t) const>);

static_assert(same<decltype(&RunnerFactory::create_runner),
                   std::shared_ptr<Runner> (*)(RunnerType, const std::string&, const Options&)>);

// Named by exactly these functions; the argument's type decides, the result is a view.
template <class Enum>
constexpr bool named =
    same<decltype(vart::to_string(Enum())), std::string_view>&& noexcept(vart::to_string(Enum()));
static_assert(named<DataType> && named<MemoryLayout> && named<MemoryType>);
static_assert(named<TensorDirection> && named<TensorType>);
static_assert(named<RoundingMode> && named<StatusCode>);

}  // namespace vart
