// The operators of a graph. Each is a plain struct of its attributes, and its comment states the
// operands. Shapes are static and attributes canonical: the importer resolves everything that ONNX
// expresses through optional attributes, negative axes or small constant inputs. So shape
// functions, passes, the archive and devices handle one form only.
//
// Each struct lists its attributes once, for the archive and for printed graphs: attributes() calls
// the visitor with a Member for each, in the order of the fields in the archive schema.
//
// CONTRIBUTING.md says what else a new operator needs. Operators that need not be fast need no
// struct: they are a Fallback, with a row in a table of src/fallback.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "tensor/data_type.h"

namespace millrace::graph {

using Dims = std::vector<int64_t>;

// An elementwise function of one operand. Meaning of alpha and beta:
//   kClip: lower and upper bound; kLeakyRelu, kElu: alpha is the slope; kHardSigmoid:
//   max(0, min(1, alpha * x + beta)); kPow: x ^ alpha; kLinear: alpha * x + beta.
// kHardSwish is x * max(0, min(1, x / 6 + 0.5)), and kSwish is x * sigmoid(x).
enum class UnaryKind : uint8_t {
  kIdentity,
  kRelu,
  kClip,
  kLeakyRelu,
  kElu,
  kSigmoid,
  kTanh,
  kHardSigmoid,
  kHardSwish,
  kSwish,
  kGelu,  // the exact form, by erf
  kExp,
  kLog,
  kSqrt,
  kAbs,
  kNeg,
  kErf,
  kRound,  // to nearest, ties to even
  kFloor,
  kCeil,
  kReciprocal,
  kSoftplus,
  kPow,
  kLinear,
};
inline constexpr int kUnaryKindCount = 24;

enum class BinaryKind : uint8_t { kAdd, kSub, kMul, kDiv, kPow, kMin, kMax, kPrelu };
inline constexpr int kBinaryKindCount = 8;

enum class ReduceKind : uint8_t { kSum, kMean, kMax, kMin, kProd };
inline constexpr int kReduceKindCount = 5;

// The function that a Conv or MatMul applies to its result before storing it (a fused epilogue);
// kIdentity for none.
struct Activation {
  UnaryKind kind = UnaryKind::kIdentity;
  float alpha = 0;
  float beta = 0;
  friend bool operator==(const Activation&, const Activation&) = default;
};

// An attribute of the operator Op: its name, and the member that holds it.
template <class Op, class T>
struct Member {
  constexpr Member(const char* its_name, T Op::*pointer) : name(its_name), value(pointer) {}
  const char* name;
  T Op::*value;
};

// Convolution. Inputs: x [N, C, spatial...], weight [M, C / group, kernel...], then bias [M] or
// kNoValue, residual (shape of the output) or kNoValue, and slope ([M], of PRelu) or kNoValue;
// trailing kNoValue may be left out. y = activation(conv(x) + bias + residual), or PRelu with
// `slope` as the activation if there is one. Spatial rank 1 to 3.
struct Conv {
  Dims strides, dilations, pads_begin, pads_end;  // one entry per spatial dimension
  int64_t group = 1;
  Activation activation;
  static constexpr auto attributes(auto&& visitor) {
    return visitor(Member{"strides", &Conv::strides}, Member{"dilations", &Conv::dilations},
                   Member{"pads_begin", &Conv::pads_begin}, Member{"pads_end", &Conv::pads_end},
                   Member{"group", &Conv::group}, Member{"activation", &Conv::activation});
  }
  friend bool operator==(const Conv&, const Conv&) = default;
};

// Pooling of x [N, C, spatial...]. kMax ignores padding. kAverage divides by the number of taps
// inside the input; with count_include_pad, taps in the padding count as well. Windows that extend
// beyond the end (ceil mode) are expressed by the importer through pads_end; `ceil_excess` is the
// part of pads_end that never counts.
enum class PoolKind : uint8_t { kMax, kAverage };
struct Pool {
  PoolKind kind = PoolKind::kMax;
  Dims kernel, strides, dilations, pads_begin, pads_end, ceil_excess;
  bool count_include_pad = false;
  static constexpr auto attributes(auto&& visitor) {
    return visitor(Member{"kind", &Pool::kind}, Member{"kernel", &Pool::kernel},
                   Member{"strides", &Pool::strides}, Member{"dilations", &Pool::dilations},
                   Member{"pads_begin", &Pool::pads_begin}, Member{"pads_end", &Pool::pads_end},
                   Member{"ceil_excess", &Pool::ceil_excess},
                   Member{"count_include_pad", &Pool::count_include_pad});
  }
  friend bool operator==(const Pool&, const Pool&) = default;
};

// Pooling over all spatial dimensions: input x [N, C, spatial...], output [N, C, 1...].
struct GlobalPool {
  PoolKind kind = PoolKind::kAverage;
  static constexpr auto attributes(auto&& visitor) {
    return visitor(Member{"kind", &GlobalPool::kind});
  }
  friend bool operator==(const GlobalPool&, const GlobalPool&) = default;
};

// Matrix product. Inputs: a [..., M, K] and b [..., K, N], whose leading dimensions are broadcast
// (either may have rank 1, as in numpy), then bias (broadcast to the output) or kNoValue.
// transpose_* swap the last two dimensions of an operand of rank 2 or more. y = activation(alpha *
// a b + bias).
struct MatMul {
  bool transpose_a = false, transpose_b = false;
  float alpha = 1;
  Activation activation;
  static constexpr auto attributes(auto&& visitor) {
    return visitor(Member{"transpose_a", &MatMul::transpose_a},
                   Member{"transpose_b", &MatMul::transpose_b}, Member{"alpha", &MatMul::alpha},
                   Member{"activation", &MatMul::activation});
  }
  friend bool operator==(const MatMul&, const MatMul&) = default;
};

struct Unary {
  Activation function;
  static constexpr auto attributes(auto&& visitor) {
    return visitor(Member{"function", &Unary::function});
  }
  friend bool operator==(const Unary&, const Unary&) = default;
};

// Two inputs, broadcast as in numpy. For kPrelu the second is the slope.
struct Binary {
  BinaryKind kind = BinaryKind::kAdd;
  static constexpr auto attributes(auto&& visitor) {
    return visitor(Member{"kind", &Binary::kind});
  }
  friend bool operator==(const Binary&, const Binary&) = default;
};

// Inputs: x [N, C, ...], scale [C], bias [C], mean [C], variance [C].
struct BatchNormalization {
  float epsilon = 1e-5f;
  static constexpr auto attributes(auto&& visitor) {
    return visitor(Member{"epsilon", &BatchNormalization::epsilon});
  }
  friend bool operator==(const BatchNormalization&, const BatchNormalization&) = default;
};

struct Softmax {
  int64_t axis = -1;  // 0 <= axis < rank; normalises along this dimension only
  bool log = false;   // whether to compute LogSoftmax
  static constexpr auto attributes(auto&& visitor) {
    return visitor(Member{"axis", &Softmax::axis}, Member{"log", &Softmax::log});
  }
  friend bool operator==(const Softmax&, const Softmax&) = default;
};

struct Concat {
  int64_t axis = 0;
  static constexpr auto attributes(auto&& visitor) {
    return visitor(Member{"axis", &Concat::axis});
  }
  friend bool operator==(const Concat&, const Concat&) = default;
};

// Gives the elements another shape; it also represents Flatten, Squeeze and Unsqueeze.
struct Reshape {
  Dims shape;
  static constexpr auto attributes(auto&& visitor) {
    return visitor(Member{"shape", &Reshape::shape});
  }
  friend bool operator==(const Reshape&, const Reshape&) = default;
};

struct Transpose {
  Dims permutation;  // output dimension i is input dimension permutation[i]
  static constexpr auto attributes(auto&& visitor) {
    return visitor(Member{"permutation", &Transpose::permutation});
  }
  friend bool operator==(const Transpose&, const Transpose&) = default;
};

// One entry per dimension: output[i] = input[begin + i * step] for 0 <= i < size; step != 0.
struct Slice {
  Dims begin, size, step;
  static constexpr auto attributes(auto&& visitor) {
    return visitor(Member{"begin", &Slice::begin}, Member{"size", &Slice::size},
                   Member{"step", &Slice::step});
  }
  friend bool operator==(const Slice&, const Slice&) = default;
};

// Inputs: data and indices (of an integer type). Output: data with dimension `axis` replaced by the
// shape of indices. Negative indices count from the end.
struct Gather {
  int64_t axis = 0;
  static constexpr auto attributes(auto&& visitor) {
    return visitor(Member{"axis", &Gather::axis});
  }
  friend bool operator==(const Gather&, const Gather&) = default;
};

enum class PadMode : uint8_t { kConstant, kReflect, kEdge };
struct Pad {
  PadMode mode = PadMode::kConstant;
  Dims begin, end;  // one entry per dimension; negative entries crop
  float value = 0;
  static constexpr auto attributes(auto&& visitor) {
    return visitor(Member{"mode", &Pad::mode}, Member{"begin", &Pad::begin},
                   Member{"end", &Pad::end}, Member{"value", &Pad::value});
  }
  friend bool operator==(const Pad&, const Pad&) = default;
};

enum class ResizeMode : uint8_t { kNearest, kLinear };
enum class CoordinateMode : uint8_t { kAsymmetric, kHalfPixel, kPytorchHalfPixel, kAlignCorners };
enum class NearestMode : uint8_t { kFloor, kCeil, kRoundPreferFloor, kRoundPreferCeil };
struct Resize {
  ResizeMode mode = ResizeMode::kNearest;
  CoordinateMode coordinates = CoordinateMode::kAsymmetric;
  NearestMode nearest = NearestMode::kFloor;
  Dims shape;                 // of the output
  std::vector<float> scales;  // one per dimension, output over input, as the model states them
  static constexpr auto attributes(auto&& visitor) {
    return visitor(Member{"mode", &Resize::mode}, Member{"coordinates", &Resize::coordinates},
                   Member{"nearest", &Resize::nearest}, Member{"shape", &Resize::shape},
                   Member{"scales", &Resize::scales});
  }
  friend bool operator==(const Resize&, const Resize&) = default;
};

struct Reduce {
  ReduceKind kind = ReduceKind::kMean;
  Dims axes;  // ascending, 0 <= axis < rank
  bool keep_dims = true;
  static constexpr auto attributes(auto&& visitor) {
    return visitor(Member{"kind", &Reduce::kind}, Member{"axes", &Reduce::axes},
                   Member{"keep_dims", &Reduce::keep_dims});
  }
  friend bool operator==(const Reduce&, const Reduce&) = default;
};

struct Cast {
  tensor::DataType to = tensor::DataType::kFloat32;
  static constexpr auto attributes(auto&& visitor) { return visitor(Member{"to", &Cast::to}); }
  friend bool operator==(const Cast&, const Cast&) = default;
};

// Broadcasts the input to `shape`, as in numpy.
struct Expand {
  Dims shape;
  static constexpr auto attributes(auto&& visitor) {
    return visitor(Member{"shape", &Expand::shape});
  }
  friend bool operator==(const Expand&, const Expand&) = default;
};

// Changes the quantisation. Input x is quantised or floating-point. The output has the same real
// values, rounded to the type and quantisation of the output value (Quantisation in graph.h): this
// quantises, dequantises to FLOAT32, or requantises.
struct Requantise {
  static constexpr auto attributes(auto&& visitor) { return visitor(); }
  friend bool operator==(const Requantise&, const Requantise&) = default;
};

// An attribute of a Fallback.
struct Attribute {
  using Value =
      std::variant<int64_t, float, std::string, Dims, std::vector<float>, std::vector<std::string>>;
  std::string name;
  Value value;
  friend bool operator==(const Attribute&, const Attribute&) = default;
};

// An operator of the ONNX standard, or of another domain, with a plain kernel. Operands, outputs
// and attributes are those of the newest operator set. src/fallback has its shape function and its
// kernel. This is the only operator with more than one output. Every output is a value, even if
// nothing reads it.
struct Fallback {
  std::string name;  // "GatherND"; with its domain if not the standard's: "com.microsoft.Gelu"
  std::vector<Attribute> attributes;  // in ascending order of their names
  friend bool operator==(const Fallback&, const Fallback&) = default;
};

// The list of operators, in the order of the union in the archive schema. What every operator needs
// is declared from this list.
#define MILLRACE_GRAPH_OPERATORS(X) \
  X(Conv)                           \
  X(Pool)                           \
  X(GlobalPool)                     \
  X(MatMul)                         \
  X(Unary)                          \
  X(Binary)                         \
  X(BatchNormalization)             \
  X(Softmax)                        \
  X(Concat)                         \
  X(Reshape)                        \
  X(Transpose)                      \
  X(Slice)                          \
  X(Gather)                         \
  X(Pad)                            \
  X(Resize)                         \
  X(Reduce)                         \
  X(Cast)                           \
  X(Expand)                         \
  X(Fallback)                       \
  X(Requantise)

// A variant of all types but the first, since an entry of the list begins with a comma here.
template <class, class... Ops>
using VariantOfOthers = std::variant<Ops...>;
#define MILLRACE_X(Op) , Op
using Operator = VariantOfOthers<void MILLRACE_GRAPH_OPERATORS(MILLRACE_X)>;
#undef MILLRACE_X

// Returns the name of the operator's struct, for example "Conv"; for a Fallback, the name that it
// carries.
const char* name_of(const Operator& op) noexcept;
const char* name_of(UnaryKind kind) noexcept;
const char* name_of(BinaryKind kind) noexcept;
const char* name_of(ReduceKind kind) noexcept;
const char* name_of(PoolKind kind) noexcept;
const char* name_of(PadMode mode) noexcept;
const char* name_of(ResizeMode mode) noexcept;
const char* name_of(CoordinateMode mode) noexcept;
const char* name_of(NearestMode mode) noexcept;

}  // namespace millrace::graph
