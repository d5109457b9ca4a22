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

}  // namespace millrace::graph
