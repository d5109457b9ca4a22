// Casts between the enumerators of the graph and those of the archive schema, which have the same
// numbers. Private to the archive codec.
#pragma once

#include "graph/compiled_model.h"
#include "graph/network/network.h"
#include "model/archive_generated.h"

namespace millrace::graph {

namespace format = model::format;

template <class A, class B>
constexpr bool same_number(A a, B b) {
  return static_cast<int>(a) == static_cast<int>(b);
}

// These fail the build if an enumerator is appended on one side only.
static_assert(same_number(format::DataType::MAX, tensor::kDataTypeCount - 1));
static_assert(same_number(format::Layout::MAX, tensor::kLayoutCount - 1));
static_assert(same_number(format::UnaryKind::MAX, kUnaryKindCount - 1));
static_assert(same_number(format::BinaryKind::MAX, kBinaryKindCount - 1));
static_assert(same_number(format::ReduceKind::MAX, kReduceKindCount - 1));
static_assert(same_number(format::PoolKind::MAX, PoolKind::kAverage));
static_assert(same_number(format::PadMode::MAX, PadMode::kEdge));
static_assert(same_number(format::ResizeMode::MAX, ResizeMode::kLinear));
static_assert(same_number(format::CoordinateMode::MAX, CoordinateMode::kAlignCorners));
static_assert(same_number(format::NearestMode::MAX, NearestMode::kRoundPreferCeil));
static_assert(same_number(format::Precision::MAX, Precision::kFp16));
static_assert(same_number(format::Rounding::MAX, tensor::Rounding::kTowardZero));
static_assert(same_number(format::PartitionKind::MAX, PartitionKind::kCollective));
static_assert(same_number(format::HwQuantisation::MAX, HwQuantisation::kVendor));
static_assert(same_number(format::AttributeKind::MAX,
                          std::variant_size_v<network::Attribute::Value> - 1));
static_assert(same_number(format::Operator::MAX, std::variant_size_v<Operator>));

// Requirement: `value` is an enumerator of its own type.
template <class To, class From>
constexpr To enum_cast(From value) {
  return static_cast<To>(value);
}

// The enumerations among the attributes of operators: for each, the cast to that of the schema, and
// what messages call an enumerator.
#define MILLRACE_X(Enum, SchemaEnum, title)                    \
  constexpr format::SchemaEnum schema_enumerator(Enum value) { \
    return enum_cast<format::SchemaEnum>(value);               \
  }                                                            \
  constexpr const char* title_of(Enum) {                       \
    return title;                                              \
  }
MILLRACE_X(UnaryKind, UnaryKind, "activation")
MILLRACE_X(BinaryKind, BinaryKind, "binary kind")
MILLRACE_X(ReduceKind, ReduceKind, "reduce kind")
MILLRACE_X(PoolKind, PoolKind, "pool kind")
MILLRACE_X(PadMode, PadMode, "pad mode")
MILLRACE_X(ResizeMode, ResizeMode, "resize mode")
MILLRACE_X(CoordinateMode, CoordinateMode, "coordinate mode")
MILLRACE_X(NearestMode, NearestMode, "nearest mode")
MILLRACE_X(tensor::DataType, DataType, "data type")
#undef MILLRACE_X

}  // namespace millrace::graph
