// Checks what headers of this API most easily get wrong; see entries_test.cpp.
// Compiled as C++17 and as C++20, with warnings as errors.

// Entry 12: programs forward-declare classes, so these are classes of namespace vart itself.
namespace vart {
class Runner;
class RunnerFactory;
struct JobHandle;
Runner* forwarded(const JobHandle& job);
}  // namespace vart

// Entry 20: names that programs use for themselves, before the headers and after them.
enum Before { ERROR, INFO, DEBUG, SUCCESS, DEFAULT };

#include <vart/vart_npu_tensor.hpp>
#include <vart/vart_runner_factory.hpp>

enum class After { ERROR, INFO, DEBUG, WARNING, SUCCESS, FAILURE, DEFAULT, UNKNOWN, INPUT, OUTPUT };
struct TensorInfo {};
struct InferTensorInfo {};
struct Device {};
struct Status {};
namespace utils {}
static_assert(ERROR == 0 && INFO == 1 && DEBUG == 2 && SUCCESS == 3 && DEFAULT == 4);

// Entry 1: programs of release 6.2 define these at global scope and call them unqualified, those of
// the next release call the ones of namespace vart.
constexpr const char* to_string(vart::DataType) {
  return "mine";
}
constexpr const char* to_string(vart::MemoryLayout) {
  return "mine";
}

namespace {

template <class A, class B>
constexpr bool same = std::is_same_v<A, B>;

static_assert(same<decltype(to_string(vart::DataType::INT8)), const char*>);
static_assert(same<decltype(to_string(vart::MemoryLayout::NHWC)), const char*>);
static_assert(same<decltype(vart::to_string(vart::DataType::INT8)), std::string_view>);
static_assert(same<decltype(vart::to_string(vart::MemoryLayout::NHWC)), std::string_view>);
static_assert(same<decltype(to_string(vart::StatusCode::SUCCESS)), std::string_view>);

// Entry 12: what was forward-declared is what the headers define.
static_assert(same<decltype(vart::forwarded(vart::JobHandle())), vart::Runner*>);
static_assert(std::is_abstract_v<vart::Runner>);

// Entry 10: programs print the numbers.
template <class Enum>
constexpr bool numbered(Enum value, int number) {
  return static_cast<int>(value) == number;
}
using vart::DataType;
static_assert(numbered(DataType::UNKNOWN, 0) && numbered(DataType::BOOLEAN, 1));
static_assert(numbered(DataType::INT8, 2) && numbered(DataType::UINT8, 3));
static_assert(numbered(DataType::INT16, 4) && numbered(DataType::UINT16, 5));
static_assert(numbered(DataType::BF16, 6) && numbered(DataType::FP16, 7));
static_assert(numbered(DataType::INT32, 8) && numbered(DataType::UINT32, 9));
static_assert(numbered(DataType::FLOAT32, 10) && numbered(DataType::INT64, 11));
static_assert(numbered(DataType::UINT64, 12));

}  // namespace
