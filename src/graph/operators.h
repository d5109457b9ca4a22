// The operators of a graph, each a plain struct of its attributes; operand conventions are in the
// comments. Shapes are static and canonical: an importer resolves everything its source format
// expresses through optional attributes, negative axes or small constant inputs, so that shape
// functions, passes, archive and devices see one form only.
//
// A new operator needs a struct here and in Operator, a shape function (shape.cpp), a table in the
// archive schema and its serialisation, and a kernel in a device. Operators that need not be fast
// need none of these: they are a Fallback, and a row in a table of src/fallback.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "tensor/data_type.h"

namespace millrace::graph {

using Dims = std::vector<int64_t>;

// An elementwise function of one operand. alpha and beta mean:
//   kClip: bounds low, high; kLeakyRelu, kElu: alpha is the slope; kHardSigmoid: max(0, min(1,
//   alpha * x + beta)); kHardSwish: x * max(0, min(1, x / 6 + 0.5)); kSwish: x * sigmoid(x);
//   kPow: x ^ alpha; kLinear: alpha * x + beta.
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
  kGelu,  // by erf
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

// The function that a Conv or MatMul applies to its result before storing it; kIdentity for none.
struct Activation {
  UnaryKind kind = UnaryKind::kIdentity;
  float alpha = 0;
  float beta = 0;
  friend bool operator==(const Activation&, const Activation&) = default;
};

// Inputs: x [N, C, spatial...], weight [M, C / group, kernel...], then bias [M] or kNoValue, then
// residual (shape of the output) or kNoValue, then slope ([M], PRelu) or kNoValue; trailing
// kNoValue may be left out. y = activation(conv(x) + bias + residual), or PRelu with `slope` where
// there is one. Spatial rank 1 to 3.
struct Conv {
  Dims strides, dilations, pads_begin, pads_end;  // one entry per spatial dimension
  int64_t group = 1;
  Activation activation;
  friend bool operator==(const Conv&, const Conv&) = default;
};

// Input: x [N, C, spatial...]. kMax ignores padding; kAverage divides by the window's real size, or
// by its full size when count_include_pad. Windows that extend beyond the end (ceil mode) are
// expressed by the importer through pads_end; `ceil_excess` is the part of pads_end that is never
// counted.
enum class PoolKind : uint8_t { kMax, kAverage };
struct Pool {
  PoolKind kind = PoolKind::kMax;
  Dims kernel, strides, dilations, pads_begin, pads_end, ceil_excess;
  bool count_include_pad = false;
  friend bool operator==(const Pool&, const Pool&) = default;
};

// Input x [N, C, spatial...], output [N, C, 1...].
struct GlobalPool {
  PoolKind kind = PoolKind::kAverage;
  friend bool operator==(const GlobalPool&, const GlobalPool&) = default;
};

// Inputs: a [..., M, K], b [..., K, N] with leading dimensions broadcast (either may be rank 1, as
// in numpy), then bias (broadcast to the output) or kNoValue. transpose_* swap the last two
// dimensions of an operand of rank >= 2. y = activation(alpha * a b + bias).
struct MatMul {
  bool transpose_a = false, transpose_b = false;
  float alpha = 1;
  Activation activation;
  friend bool operator==(const MatMul&, const MatMul&) = default;
};

struct Unary {
  Activation function;
  friend bool operator==(const Unary&, const Unary&) = default;
};

// Two inputs, broadcast as in numpy. For kPrelu the second is the slope.
struct Binary {
  BinaryKind kind = BinaryKind::kAdd;
  friend bool operator==(const Binary&, const Binary&) = default;
};

// Inputs: x [N, C, ...], scale [C], bias [C], mean [C], variance [C].
struct BatchNormalization {
  float epsilon = 1e-5f;
  friend bool operator==(const BatchNormalization&, const BatchNormalization&) = default;
};

struct Softmax {
  int64_t axis = -1;  // 0 <= axis < rank: normalises along this one dimension
  bool log = false;   // the logarithm of the softmax
  friend bool operator==(const Softmax&, const Softmax&) = default;
};

struct Concat {
  int64_t axis = 0;
  friend bool operator==(const Concat&, const Concat&) = default;
};

// Same elements, other shape (Flatten, Squeeze and Unsqueeze too).
struct Reshape {
  Dims shape;
  friend bool operator==(const Reshape&, const Reshape&) = default;
};

struct Transpose {
  Dims permutation;  // output dimension i is input dimension permutation[i]
  friend bool operator==(const Transpose&, const Transpose&) = default;
};

// One entry per dimension: output[i] = input[begin + i * step], `size` elements; step != 0.
struct Slice {
  Dims begin, size, step;
  friend bool operator==(const Slice&, const Slice&) = default;
};

// Inputs: data, indices (an integer type). Output: data with dimension `axis` replaced by the shape
// of indices. Negative indices count from the end.
struct Gather {
  int64_t axis = 0;
  friend bool operator==(const Gather&, const Gather&) = default;
};

enum class PadMode : uint8_t { kConstant, kReflect, kEdge };
struct Pad {
  PadMode mode = PadMode::kConstant;
  Dims begin, end;  // one entry per dimension, may be negative (crop)
  float value = 0;
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
  friend bool operator==(const Resize&, const Resize&) = default;
};

struct Reduce {
  ReduceKind kind = ReduceKind::kMean;
  Dims axes;  // ascending, 0 <= axis < rank
  bool keep_dims = true;
  friend bool operator==(const Reduce&, const Reduce&) = default;
};

struct Cast {
  tensor::DataType to = tensor::DataType::kFloat32;
  friend bool operator==(const Cast&, const Cast&) = default;
};

// Broadcasts the input to `shape`, as in numpy.
struct Expand {
  Dims shape;
  friend bool operator==(const Expand&, const Expand&) = default;
};

// Input x, quantised or floating point. Output: the same real numbers, rounded to what the type and
// the quantisation of the output value can hold (see Quantisation in graph.h): it quantises,
// dequantises to FLOAT32, or changes the quantisation.
struct Requantise {
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

// An operator of the ONNX standard with a plain kernel, as the newest operator set defines
// it: operands, outputs and attributes are the standard's. src/fallback has its shape function and
// its kernel. The only operator with more than one output; all of its outputs are values, those
// that nothing reads, too.
struct Fallback {
  std::string name;  // "GatherND"; "com.microsoft.Gelu" where the domain is not the standard's
  std::vector<Attribute> attributes;  // in ascending order of their names
  friend bool operator==(const Fallback&, const Fallback&) = default;
};

using Operator = std::variant<Conv, Pool, GlobalPool, MatMul, Unary, Binary, BatchNormalization,
                              Softmax, Concat, Reshape, Transpose, Slice, Gather, Pad, Resize,
                              Reduce, Cast, Expand, Fallback, Requantise>;

// The name of the operator's struct, for example "Conv"; of a Fallback, the name it carries.
const char* name_of(const Operator& op) noexcept;
const char* name_of(UnaryKind kind) noexcept;
const char* name_of(BinaryKind kind) noexcept;

}  // namespace millrace::graph
