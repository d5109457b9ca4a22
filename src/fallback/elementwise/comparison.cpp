// Comparisons (Equal, Less, LessOrEqual, Greater, GreaterOrEqual, IsInf, IsNaN), logic (And, Or,
// Xor, Not) and Where, with numpy broadcasting. A BOOLEAN is a byte; any value but 0 is true.
#include <cmath>

#include "fallback/broadcast.h"
#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"

namespace millrace::fallback {
namespace {

struct Equal {
  template <class T>
  bool operator()(T a, T b) const {
    return a == b;
  }
};
struct Less {
  template <class T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};
struct LessOrEqual {
  template <class T>
  bool operator()(T a, T b) const {
    return a <= b;
  }
};
struct Greater {
  template <class T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};
struct GreaterOrEqual {
  template <class T>
  bool operator()(T a, T b) const {
    return a >= b;
  }
};

template <class Compare>
Status compare(const Call& call) {
  return visit_element(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    apply_broadcast<T, T>(call.in(0), call.in(1), call.out(0).dims,
                          call.out(0).as<uint8_t>().data(), Compare{});
    return {};
  });
}

// BOOLEANs are compared as truth values: those of a caller may be bytes other than 0 and 1.
Status equal(const Call& call) {
  if (call.in(0).type != DataType::kBoolean) return compare<Equal>(call);
  apply_broadcast<uint8_t, uint8_t>(call.in(0), call.in(1), call.out(0).dims,
                                    call.out(0).as<uint8_t>().data(),
                                    [](uint8_t a, uint8_t b) { return (a != 0) == (b != 0); });
  return {};
}

struct And {
  bool operator()(bool a, bool b) const { return a && b; }
};
struct Or {
  bool operator()(bool a, bool b) const { return a || b; }
};
struct Xor {
  bool operator()(bool a, bool b) const { return a != b; }
};

template <class Function>
Status combine(const Call& call) {
  apply_broadcast<uint8_t, uint8_t>(
      call.in(0), call.in(1), call.out(0).dims, call.out(0).as<uint8_t>().data(),
      [](uint8_t a, uint8_t b) { return Function{}(a != 0, b != 0); });
  return {};
}

Status negate(const Call& call) {
  const auto x = call.in(0).as<uint8_t>();
  const auto y = call.out(0).as<uint8_t>();
  for (size_t i = 0; i < y.size(); ++i) y[i] = x[i] == 0;
  return {};
}

Status shape_of_classification(Inference& node) {
  node.set(0, DataType::kBoolean, to_dims(node.in(0).dims));
  return {};
}

Status is_nan(const Call& call) {
  return visit_floating(call.in(0).type, [&](auto zero) -> Status {
    const auto x = call.in(0).as<decltype(zero)>();
    const auto y = call.out(0).as<uint8_t>();
    for (size_t i = 0; i < y.size(); ++i) y[i] = std::isnan(x[i]);
    return {};
  });
}

Status is_infinite(const Call& call) {
  const bool positive = call.integer("detect_positive", 1) != 0;
  const bool negative = call.integer("detect_negative", 1) != 0;
  return visit_floating(call.in(0).type, [&](auto zero) -> Status {
    const auto x = call.in(0).as<decltype(zero)>();
    const auto y = call.out(0).as<uint8_t>();
    for (size_t i = 0; i < y.size(); ++i)
      y[i] = std::isinf(x[i]) && (x[i] > 0 ? positive : negative);
    return {};
  });
}

Status shape_of_where(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(check_one_type(node, 1));
  if (!kAll.contains(node.in(1).type))
    return unsupported("there is no kernel for a choice between elements of this type");
  MILLRACE_ASSIGN_OR_RETURN(Dims dims, broadcast_dims(node));
  node.set(0, node.in(1).type, std::move(dims));
  return {};
}

Status where(const Call& call) {
  const auto condition = call.in(0).as<uint8_t>();
  const BroadcastWalk<3> walk(call.out(0).dims,
                              {call.in(0).dims, call.in(1).dims, call.in(2).dims});
  return visit_storage(call.out(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    const auto a = call.in(1).as<T>(), b = call.in(2).as<T>();
    const auto to = call.out(0).as<T>();
    walk.for_each_row([&](const BroadcastRow<3>& row) {
      for (size_t i = 0; i < row.length; ++i) {
        const bool chosen = condition[row.in[0] + i * row.step[0]] != 0;
        to[row.out + i] = chosen ? a[row.in[1] + i * row.step[1]] : b[row.in[2] + i * row.step[2]];
      }
    });
    return {};
  });
}

constexpr AttributeSpec kIsInfAttributes[] = {{"detect_negative", AttributeKind::kInteger},
                                              {"detect_positive", AttributeKind::kInteger}};

}  // namespace

std::span<const OperatorSpec> comparison_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"And", 1, {2, 2}, {}, kBooleans, booleans_of_broadcast, combine<And>},
      {"Equal", 1, {2, 2}, {}, kAll, booleans_of_broadcast, equal},
      {"Greater", 1, {2, 2}, {}, kNumbers, booleans_of_broadcast, compare<Greater>},
      {"GreaterOrEqual", 12, {2, 2}, {}, kNumbers, booleans_of_broadcast, compare<GreaterOrEqual>},
      {"IsInf", 10, {}, {}, kReals, shape_of_classification, is_infinite, kIsInfAttributes},
      {"IsNaN", 9, {}, {}, kReals, shape_of_classification, is_nan},
      {"Less", 1, {2, 2}, {}, kNumbers, booleans_of_broadcast, compare<Less>},
      {"LessOrEqual", 12, {2, 2}, {}, kNumbers, booleans_of_broadcast, compare<LessOrEqual>},
      {"Not", 1, {}, {}, kBooleans, same_as_first, negate},
      {"Or", 1, {2, 2}, {}, kBooleans, booleans_of_broadcast, combine<Or>},
      {"Where", 9, {3, 3}, {}, kBooleans, shape_of_where, where},
      {"Xor", 1, {2, 2}, {}, kBooleans, booleans_of_broadcast, combine<Xor>},
  };
  return kOperators;
}

}  // namespace millrace::fallback
