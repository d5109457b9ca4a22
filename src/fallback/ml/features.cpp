// Operators of ai.onnx.ml that prepare features for a model or process its scores:
// ArrayFeatureExtractor, Binarizer, FeatureVectorizer, Imputer, Normalizer, OneHotEncoder, Scaler,
// ZipMap.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fallback/common_shapes.h"
#include "fallback/families.h"
#include "fallback/ml/rows.h"

namespace millrace::fallback {
namespace {

// Gives output 0 the dimensions of input 0 and type FLOAT32.
Status floats_of_same_shape(Inference& node) {
  node.set(0, DataType::kFloat32, to_dims(node.in(0).dims));
  return {};
}

// kInvalidArgument unless the list has one entry, or one per feature.
Status check_per_feature(const char* name, size_t entries, const Rows& rows) {
  if (entries == 1 || entries == rows.features) return {};
  return invalid_argument(
      fmt::format("{} has {} entries; it must have 1, or one for each of {} features", name,
                  entries, rows.features));
}

Status shape_of_scaler(Inference& node) {
  MILLRACE_ASSIGN_OR_RETURN(const Rows rows, rows_of(node.in(0)));
  for (const char* name : {"offset", "scale"}) {
    const auto* list = node.reals(name);
    if (list != nullptr) MILLRACE_RETURN_IF_ERROR(check_per_feature(name, list->size(), rows));
  }
  return floats_of_same_shape(node);
}

float entry_of(const std::vector<float>* list, size_t feature, float absent) {
  return list == nullptr ? absent : (*list)[list->size() == 1 ? 0 : feature];
}

Status scaler(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const Rows rows, rows_of(call.in(0)));
  const auto *offset = call.reals("offset"), *scale = call.reals("scale");
  const std::vector<double> x = numbers_of(call.in(0));
  const auto y = call.out(0).as<float>();
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t feature = i % rows.features;
    y[i] = static_cast<float>((x[i] - entry_of(offset, feature, 0)) * entry_of(scale, feature, 1));
  }
  return {};
}

Status shape_of_normalizer(Inference& node) {
  const std::string norm = node.text("norm", "MAX");
  if (norm != "MAX" && norm != "L1" && norm != "L2")
    return invalid_argument(fmt::format("unknown norm '{}'", norm));
  MILLRACE_RETURN_IF_ERROR(rows_of(node.in(0)).status());
  return floats_of_same_shape(node);
}

double norm_of(const std::string& norm, std::span<const double> row) {
  if (row.empty()) return 0;
  if (norm == "MAX") return *std::ranges::max_element(row);
  double sum = 0;
  for (const double x : row) sum += norm == "L1" ? std::fabs(x) : x * x;
  return norm == "L1" ? sum : std::sqrt(sum);
}

// A row with a norm of 0 is copied.
Status normalizer(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const Rows rows, rows_of(call.in(0)));
  const std::string norm = call.text("norm", "MAX");
  const std::vector<double> x = numbers_of(call.in(0));
  float* to = call.out(0).as<float>().data();
  for (size_t row = 0; row < rows.count; ++row) {
    const auto from = std::span(x).subspan(row * rows.features, rows.features);
    const double divisor = norm_of(norm, from);
    for (const double element : from)
      *to++ = static_cast<float>(divisor == 0 ? element : element / divisor);
  }
  return {};
}

// Returns the values that replace missing ones, from the list for the type of the input.
template <class T>
const auto* imputed_values(const NodeView& node) {
  if constexpr (std::is_floating_point_v<T>)
    return node.reals("imputed_value_floats");
  else
    return node.integers("imputed_value_int64s");
}

Status shape_of_imputer(Inference& node) {
  MILLRACE_ASSIGN_OR_RETURN(const Rows rows, rows_of(node.in(0)));
  const bool is_floating = tensor::is_floating(node.in(0).type);
  const auto* floats = imputed_values<float>(node);
  const auto* integers = imputed_values<int64_t>(node);
  const size_t entries = is_floating ? (floats != nullptr ? floats->size() : 0)
                                     : (integers != nullptr ? integers->size() : 0);
  MILLRACE_RETURN_IF_ERROR(check_per_feature(
      is_floating ? "imputed_value_floats" : "imputed_value_int64s", entries, rows));
  return same_as_first(node);
}

template <class T>
void impute(const Call& call, const Rows& rows, T replaced) {
  const auto& values = *imputed_values<T>(call);
  const auto x = call.in(0).as<T>();
  const auto y = call.out(0).as<T>();
  for (size_t i = 0; i < x.size(); ++i) {
    const bool is_missing = x[i] == replaced || (replaced != replaced && x[i] != x[i]);
    y[i] = is_missing ? static_cast<T>(values[values.size() == 1 ? 0 : i % rows.features]) : x[i];
  }
}

Status imputer(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const Rows rows, rows_of(call.in(0)));
  return visit_element(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>)
      impute<T>(call, rows, static_cast<T>(call.real("replaced_value_float")));
    else
      impute<T>(call, rows, static_cast<T>(call.integer("replaced_value_int64")));
    return {};
  });
}

Status binarizer(const Call& call) {
  const float threshold = call.real("threshold");
  return visit_element(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    std::ranges::transform(call.in(0).as<T>(), call.out(0).as<T>().begin(), [threshold](T x) {
      return static_cast<T>(static_cast<double>(x) > threshold ? 1 : 0);
    });
    return {};
  });
}

// Selects columns of the last dimension by index. A vector counts as one row.
Status shape_of_extractor(Inference& node) {
  const TensorView &x = node.in(0), &indices = node.in(1);
  if (indices.type != DataType::kInt64) return invalid_argument("its indices must be INT64");
  if (x.rank() == 0 || indices.elements() == 0)
    return invalid_argument("its input has rank 0, or there are no indices");
  Dims dims = x.rank() == 1 ? Dims{1, 0} : to_dims(x.dims);
  dims.back() = static_cast<int64_t>(indices.elements());
  node.set(0, x.type, std::move(dims));
  return {};
}

Status extractor(const Call& call) {
  const auto columns = static_cast<size_t>(call.in(0).dims.back());
  const auto indices = call.in(1).as<int64_t>();
  for (const int64_t index : indices)
    if (index < 0 || static_cast<uint64_t>(index) >= columns)
      return invalid_argument(fmt::format("index {} is outside the {} columns", index, columns));
  return visit_storage(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    const auto x = call.in(0).as<T>();
    T* to = call.out(0).as<T>().data();
    for (size_t row = 0; row < x.size(); row += columns)
      for (const int64_t index : indices) *to++ = x[row + static_cast<size_t>(index)];
    return {};
  });
}

// An input of FeatureVectorizer: what each row holds, over all dimensions but the first, and how
// many of these features the result gets. If it has fewer than that, zeros follow.
struct Part {
  Rows rows;
  size_t width = 0;
};

Rows rows_of_any_rank(const TensorView& x) {
  if (x.rank() < 2) return {1, x.elements()};
  return {static_cast<size_t>(x.dims[0]), element_count(x.dims.subspan(1))};
}

// Returns the inputs, which are concatenated. The attribute inputdimensions states their widths.
Result<std::vector<Part>> parts_of(const NodeView& node) {
  const Dims* stated = node.integers("inputdimensions");
  if (stated != nullptr && stated->size() != node.input_count())
    return invalid_argument("inputdimensions must have one entry per input");
  std::vector<Part> parts;
  for (size_t i = 0; i < node.input_count(); ++i) {
    const Rows rows = rows_of_any_rank(node.in(i));
    if (!kFeatures.contains(node.in(i).type) || rows.count != rows_of_any_rank(node.in(0)).count)
      return invalid_argument(fmt::format("input {} differs in rows, or has no features", i));
    if (stated != nullptr && ((*stated)[i] < 0 || (*stated)[i] > graph::kMaxElements))
      return invalid_argument("inputdimensions are out of range");
    parts.push_back({rows, stated == nullptr ? rows.features : static_cast<size_t>((*stated)[i])});
  }
  return parts;
}

Status shape_of_vectorizer(Inference& node) {
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<Part> parts, parts_of(node));
  int64_t sum = 0;
  for (const Part& part : parts)
    if (__builtin_add_overflow(sum, static_cast<int64_t>(part.width), &sum))
      return invalid_argument("inputdimensions are out of range");
  node.set(0, DataType::kFloat32, {static_cast<int64_t>(parts[0].rows.count), sum});
  return {};
}

Status vectorizer(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<Part> parts, parts_of(call));
  const auto whole = static_cast<size_t>(call.out(0).dims[1]);
  std::ranges::fill(call.out(0).as<float>(), 0.0f);
  float* to = call.out(0).as<float>().data();
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto [rows, width] = parts[i];
    const std::vector<double> x = numbers_of(call.in(i));
    for (size_t row = 0; row < rows.count; ++row)
      for (size_t column = 0; column < std::min(width, rows.features); ++column)
        to[row * whole + column] = static_cast<float>(x[row * rows.features + column]);
    to += width;
  }
  return {};
}

Status shape_of_one_hot(Inference& node) {
  const Dims* categories = node.integers("cats_int64s");
  if (categories == nullptr || categories->empty())
    return unsupported("only integers are supported as categories");
  Dims dims = to_dims(node.in(0).dims);
  dims.push_back(static_cast<int64_t>(categories->size()));
  node.set(0, DataType::kFloat32, std::move(dims));
  return {};
}

// An element that is not a category gets zeros, unless the attribute zeros is 0.
Status one_hot(const Call& call) {
  const Dims& categories = *call.integers("cats_int64s");
  const bool zeros_allowed = call.integer("zeros", 1) != 0;
  float* to = call.out(0).as<float>().data();
  for (const double element : numbers_of(call.in(0))) {
    const auto known = std::ranges::find(categories, std::trunc(element), [](int64_t category) {
      return static_cast<double>(category);
    });
    if (known == categories.end() && !zeros_allowed)
      return invalid_argument(fmt::format("{} is not a category", element));
    std::fill(to, to + categories.size(), 0.0f);
    if (known != categories.end()) to[known - categories.begin()] = 1;
    to += categories.size();
  }
  return {};
}

// ZipMap makes maps from class labels to scores. Tensors cannot hold maps, so the result is the
// scores themselves, one column per class.
Status shape_of_zip_map(Inference& node) {
  const auto* names = node.texts("classlabels_strings");
  const Dims* labels = node.integers("classlabels_int64s");
  if ((names == nullptr || names->empty()) && (labels == nullptr || labels->empty()))
    return invalid_argument("it has no class labels");
  return same_as_first(node);
}

Status zip_map(const Call& call) {
  std::ranges::copy(call.in(0).as<float>(), call.out(0).as<float>().begin());
  return {};
}

constexpr AttributeSpec kScaler[] = {{"offset", AttributeKind::kFloats},
                                     {"scale", AttributeKind::kFloats}};
constexpr AttributeSpec kNormalizer[] = {{"norm", AttributeKind::kText}};
constexpr AttributeSpec kImputer[] = {{"imputed_value_floats", AttributeKind::kFloats},
                                      {"imputed_value_int64s", AttributeKind::kIntegers},
                                      {"replaced_value_float", AttributeKind::kFloat},
                                      {"replaced_value_int64", AttributeKind::kInteger}};
constexpr AttributeSpec kBinarizer[] = {{"threshold", AttributeKind::kFloat}};
constexpr AttributeSpec kVectorizer[] = {{"inputdimensions", AttributeKind::kIntegers}};
constexpr AttributeSpec kOneHot[] = {{"cats_int64s", AttributeKind::kIntegers},
                                     {"cats_strings", AttributeKind::kTexts},
                                     {"zeros", AttributeKind::kInteger}};
constexpr AttributeSpec kZipMap[] = {{"classlabels_int64s", AttributeKind::kIntegers},
                                     {"classlabels_strings", AttributeKind::kTexts}};
constexpr TypeSet kFloat32 = {DataType::kFloat32};

}  // namespace

std::span<const OperatorSpec> feature_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"ai.onnx.ml.ArrayFeatureExtractor", 1, {2, 2}, {}, kAll, shape_of_extractor, extractor},
      {"ai.onnx.ml.Binarizer", 1, {}, {}, kFeatures, same_as_first, binarizer, kBinarizer},
      {"ai.onnx.ml.FeatureVectorizer",
       1,
       {1, kAnyNumber},
       {},
       kFeatures,
       shape_of_vectorizer,
       vectorizer,
       kVectorizer},
      {"ai.onnx.ml.Imputer", 1, {}, {}, kFeatures, shape_of_imputer, imputer, kImputer},
      {"ai.onnx.ml.Normalizer", 1, {}, {}, kFeatures, shape_of_normalizer, normalizer, kNormalizer},
      {"ai.onnx.ml.OneHotEncoder", 1, {}, {}, kFeatures, shape_of_one_hot, one_hot, kOneHot},
      {"ai.onnx.ml.Scaler", 1, {}, {}, kFeatures, shape_of_scaler, scaler, kScaler},
      {"ai.onnx.ml.ZipMap", 1, {}, {}, kFloat32, shape_of_zip_map, zip_map, kZipMap},
  };
  return kOperators;
}

}  // namespace millrace::fallback
