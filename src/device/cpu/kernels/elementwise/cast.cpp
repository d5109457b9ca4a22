// Cast. A cast between BF16, FP16 and FLOAT32 takes no step, since the device keeps all of them in
// the type that it computes in.
#include <memory>
#include <type_traits>

#include "device/cpu/kernels/elements.h"
#include "device/cpu/kernels/kernels.h"
#include "tensor/element.h"

namespace millrace::device::cpu::kernels {
namespace {

using tensor::DataType;

struct Boolean {
  uint8_t value;
};

inline double to_float(double value) {
  return value;
}
using kernels::to_float;

template <class From>
constexpr bool kIsReal =
    std::is_same_v<From, float> || std::is_same_v<From, double> || std::is_same_v<From, Bf16>;

// Rounded once.
template <class To, class Real>
To from_real(Real value) {
  if constexpr (std::is_same_v<To, Bf16>)
    return {tensor::narrow<DataType::kBf16>(value, false)};
  else
    return static_cast<To>(value);
}

template <class To, class From>
To convert(From from) {
  if constexpr (std::is_same_v<From, Boolean>) {
    return convert<To>(static_cast<uint8_t>(from.value != 0 ? 1 : 0));
  } else if constexpr (std::is_same_v<To, Boolean>) {
    if constexpr (kIsReal<From>)
      return {static_cast<uint8_t>(to_float(from) != 0)};
    else
      return {static_cast<uint8_t>(from != 0)};
  } else if constexpr (std::is_integral_v<To>) {
    if constexpr (kIsReal<From>)
      return to_integer<To>(to_float(from));
    else
      return static_cast<To>(from);
  } else if constexpr (kIsReal<From>) {
    return from_real<To>(to_float(from));
  } else if constexpr (std::is_same_v<To, double>) {
    return static_cast<double>(from);
  } else {
    return from_real<To>(static_cast<float>(from));
  }
}

template <class From, class To>
class CastStep final : public Step {
 public:
  CastStep(BufferId from, BufferId to, size_t count) : from_(from), to_(to), count_(count) {}
  std::vector<BufferId> buffers() const override { return {from_, to_}; }
  Status run(const RunState& state) const noexcept override {
    const From* from = state.input<From>(from_);
    To* to = state.output<To>(to_);
    for (size_t i = 0; i < count_; ++i) to[i] = convert<To>(from[i]);
    return {};
  }

 private:
  BufferId from_, to_;
  size_t count_;
};

// Calls `body` with an element of the C++ type that values of `type` have on the device. Returns
// false for a type without elements.
template <class Body>
bool with_stored(DataType type, ElementType floating, Body&& body) {
  switch (type) {
    case DataType::kBoolean:
      return body(Boolean{}), true;
    case DataType::kInt8:
      return body(int8_t{}), true;
    case DataType::kUint8:
      return body(uint8_t{}), true;
    case DataType::kInt16:
      return body(int16_t{}), true;
    case DataType::kUint16:
      return body(uint16_t{}), true;
    case DataType::kInt32:
      return body(int32_t{}), true;
    case DataType::kUint32:
      return body(uint32_t{}), true;
    case DataType::kInt64:
      return body(int64_t{}), true;
    case DataType::kUint64:
      return body(uint64_t{}), true;
    case DataType::kFloat64:
      return body(double{}), true;
    case DataType::kBf16:
    case DataType::kFp16:
    case DataType::kFloat32:
      return with_element(floating, body), true;
    case DataType::kUnknown:
      break;
  }
  return false;
}

}  // namespace

Status lower(Builder& builder, const Node& node, const graph::Cast& op) {
  const graph::ValueId x = node.input(0), y = node.outputs[0];
  const DataType from = builder.value(x).type;
  const bool same_here =
      from == op.to || (tensor::fits_float32(from) && tensor::fits_float32(op.to));
  if (same_here) {
    MILLRACE_ASSIGN_OR_RETURN(const Operand location, builder.current(x));
    builder.set_result(y, location);
    return {};
  }
  MILLRACE_ASSIGN_OR_RETURN(const Operand source, builder.plain(x));
  const Operand target = builder.new_result(y, builder.plain_layout(y));
  const size_t count = builder.value(y).elements();
  bool known = false;
  with_stored(from, builder.type(), [&](auto a) {
    known = with_stored(op.to, builder.type(), [&](auto b) {
      using Step = CastStep<decltype(a), decltype(b)>;
      builder.add("Cast", "millrace:cast",
                  std::make_unique<Step>(source.buffer, target.buffer, count));
    });
  });
  if (!known) return unsupported("a cast between these types");
  return {};
}

}  // namespace millrace::device::cpu::kernels
