// Compiled as C++17 and as C++20, with warnings as errors: the public headers, and code of the
// kinds that client programs contain.

// Names that other headers define as macros or that programs use for themselves.
enum { ERROR, INFO, DEBUG, SUCCESS, DEFAULT };

namespace vart {
class Runner;  // programs forward-declare it, with this key
}

#include <vart/vart_runner_factory.hpp>

#include "vart/vart_npu_tensor.hpp"

// Programs of release 6.2 define these at global scope and call them unqualified.
const char* to_string(vart::DataType) {
  return "mine";
}
const char* to_string(vart::MemoryLayout) {
  return "mine";
}
struct InferTensorInfo {};
struct TensorInfo {};

using namespace std;
using namespace vart;

namespace {

template <class A, class B>
constexpr bool same = std::is_same_v<A, B>;

static_assert(static_cast<int>(DataType::BF16) == 6 && static_cast<int>(DataType::FP16) == 7);
static_assert(static_cast<int>(DataType::INT32) == 8 && static_cast<int>(DataType::FLOAT32) == 10);
static_assert(static_cast<int>(DataType::UINT64) == 12);
static_assert(static_cast<int>(MemoryLayout::HCWNC4) == 12);
static_assert(static_cast<int>(MemoryLayout::NHW16WC4C) == 16);
static_assert(static_cast<int>(MemoryLayout::GENERIC) == 19);
static_assert(static_cast<int>(MemoryType::USER_POINTER_NON_CMA) == 4);
static_assert(static_cast<int>(StatusCode::RESOURCE_UNAVAILABLE) == 8);
static_assert(static_cast<int>(StatusCode::UNSUPPORTED) == 9);
static_assert(static_cast<int>(RoundingMode::ROUND_TOWARD_ZERO) == 2);
static_assert(static_cast<int>(TensorDirection::OUTPUT) == 1);
static_assert(static_cast<int>(TensorType::HW) == 1);
static_assert(static_cast<int>(RunnerType::VAIML) == 0);

static_assert(same<Runner::ExecuteAsyncCallback, std::function<void(const JobHandle&)>>);
static_assert(same<vart::ExecuteAsyncCallback, Runner::ExecuteAsyncCallback>);
static_assert(std::has_virtual_destructor_v<Runner> && std::is_abstract_v<Runner>);
static_assert(std::is_nothrow_move_constructible_v<NpuTensor> &&
              std::is_nothrow_move_assignable_v<NpuTensor>);
static_assert(!std::is_constructible_v<Runner, const std::string&>);

// Results of overload resolution for the calls in client programs.
static_assert(same<decltype(to_string(DataType::INT8)), const char*>);
static_assert(same<decltype(to_string(MemoryLayout::NC)), const char*>);
static_assert(same<decltype(to_string(MemoryType::XRT_BO)), std::string_view>);
static_assert(same<decltype(vart::to_string(DataType::INT8)), std::string_view>);
static_assert(same<decltype(vart::to_string(StatusCode::SUCCESS)), std::string_view>);
static_assert(same<decltype(to_string(42)), std::string>);

[[maybe_unused]] JobHandle use(Runner& runner, vector<vector<NpuTensor>>& tensors) {
  unordered_map<StatusCode, string> names = {{StatusCode::SUCCESS, "SUCCESS"}};
  NpuTensorInfo info{};
  info.name = names.at(StatusCode::SUCCESS);
  QuantParameters quantisation;
  quantisation.scale = static_cast<float>(runner.get_quant_parameters("x").scale);
  static_assert(noexcept(runner.execute(tensors, tensors)));
  static_assert(noexcept(runner.execute_async(tensors, tensors)));
  const JobHandle job;
  constexpr chrono::milliseconds timeout{1};
  static_assert(noexcept(runner.wait(job, timeout)));
  (void)runner.execute_async(tensors, tensors, [](const JobHandle&) {});
  (void)runner.execute_async(tensors, tensors, nullptr);
  (void)runner.execute_async(
      tensors, tensors, [](const JobHandle&, void*) {}, nullptr);
  int fd = 3;
  const NpuTensor imported(info, &fd, MemoryType::DMA_FD);
  const vector<int8_t> bytes(4);
  const NpuTensor constant(info, bytes.data(), MemoryType::USER_POINTER_CMA);
  const void* address = imported.get_virtual_address();
  return {address == nullptr ? StatusCode::FAILURE : StatusCode::SUCCESS, 1};
}

}  // namespace
