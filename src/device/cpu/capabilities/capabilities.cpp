// To support a new type for an operator, extend the set in its row and add a kernel.
#include "device/cpu/capabilities/capabilities.h"

#include "device/cpu/capabilities/fast_fallbacks.h"

namespace millrace::device::cpu {
namespace {

using graph::TypeSet;
using tensor::DataType;

constexpr TypeSet kFloats = {DataType::kBf16, DataType::kFp16, DataType::kFloat32};
constexpr TypeSet kIntegers = {DataType::kInt8,   DataType::kUint8, DataType::kInt16,
                               DataType::kUint16, DataType::kInt32, DataType::kUint32,
                               DataType::kInt64,  DataType::kUint64};
constexpr TypeSet kAll = kFloats | kIntegers | TypeSet{DataType::kBoolean, DataType::kFloat64};
constexpr TypeSet kNone = {};

constexpr graph::OperatorTypes kOperators[] = {
    {"Conv", nullptr, kFloats, kFloats},
    {"Pool", "Max", kFloats | kByteTypes, kNone},
    {"Pool", nullptr, kFloats, kNone},
    {"GlobalPool", nullptr, kFloats, kNone},
    {"MatMul", nullptr, kFloats, kFloats},
    {"Unary", "Identity", kAll, kNone},
    {"Unary", nullptr, kFloats, kNone},
    {"Binary", nullptr, kFloats, kFloats},
    {"BatchNormalization", nullptr, kFloats, kFloats},
    {"Softmax", nullptr, kFloats, kNone},
    {"Concat", nullptr, kAll, kAll},
    {"Reshape", nullptr, kAll, kNone},
    {"Transpose", nullptr, kAll, kNone},
    {"Slice", nullptr, kAll, kNone},
    {"Gather", nullptr, kAll, kIntegers},
    {"Pad", nullptr, kAll, kNone},
    {"Resize", nullptr, kFloats, kNone},
    {"Reduce", nullptr, kFloats, kNone},
    {"Cast", nullptr, kAll, kNone},
    {"Expand", nullptr, kAll, kNone},
    {"Requantise", nullptr, kFloats, kNone},
    // The shape function of the operator refuses types that its kernel does not support.
    {"Fallback", nullptr, kAll, kAll},
};

}  // namespace

graph::Capabilities capabilities() noexcept {
  return {kOperators, kFastFallbacks};
}

}  // namespace millrace::device::cpu
