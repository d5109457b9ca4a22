// Each layer is a root mean square normalisation, grouped-query attention with rotary embedding, a
// second normalisation and a gated feed-forward network (SwiGLU), as in the Llama models.
//
// The cache has a fixed length, so that all shapes are static: TensorScatter writes the keys and
// values of new tokens at their positions, and a mask hides the positions after each token.
#include "samples/decode/decoder_network.hpp"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <random>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::decoder {
namespace {

using onnx::AttributeProto;
using onnx::NodeProto;
using onnx::TensorProto;
using Dims = std::vector<int64_t>;

constexpr int64_t kBlock = 32;  // weights that share a scale
constexpr int kOpset = 24, kIrVersion = 10;

struct Attribute {
  std::string name;
  int64_t value = 0;
};

// Adds nodes, weights, inputs and outputs to a graph.
class Network {
 public:
  Network(onnx::GraphProto* graph, const DecoderOptions& options)
      : graph_(*graph), options_(options), random_(options.seed) {}

  void add_input(const std::string& name, TensorProto::DataType type, const Dims& dims) {
    describe(graph_.add_input(), name, type, dims);
  }

  void add_output(const std::string& name, const Dims& dims) {
    describe(graph_.add_output(), name, TensorProto::FLOAT, dims);
  }

  // Adds a node and returns the name of its output, `name` or a new one.
  std::string add(const std::string& type, std::initializer_list<std::string> inputs,
                  std::initializer_list<Attribute> attributes = {}, const std::string& name = "",
                  const std::string& domain = "") {
    NodeProto* const node = graph_.add_node();
    node->set_op_type(type);
    node->set_domain(domain);
    for (const std::string& input : inputs) node->add_input(input);
    for (const auto& [key, value] : attributes) {
      AttributeProto* const attribute = node->add_attribute();
      attribute->set_name(key);
      attribute->set_type(AttributeProto::INT);
      attribute->set_i(value);
    }
    node->add_output(name.empty() ? new_name() : name);
    return node->output(0);
  }

  template <class T>
  std::string add_constant(TensorProto::DataType type, const Dims& dims,
                           const std::vector<T>& elements) {
    TensorProto* const tensor = graph_.add_initializer();
    tensor->set_name(new_name());
    tensor->set_data_type(type);
    tensor->mutable_dims()->Assign(dims.begin(), dims.end());
    tensor->set_raw_data(elements.data(), elements.size() * sizeof(T));
    return tensor->name();
  }

  std::string add_integers(const std::vector<int64_t>& elements) {
    return add_constant(TensorProto::INT64, {static_cast<int64_t>(elements.size())}, elements);
  }

  // Adds the product of x with a random matrix [rows, columns].
  std::string add_product(const std::string& x, int64_t rows, int64_t columns) {
    const std::vector<float> matrix = numbers(rows * columns, 1 / std::sqrt(float(rows)));
    if (options_.weights == Weights::kFloat32)
      return add("MatMul", {x, add_constant(TensorProto::FLOAT, {rows, columns}, matrix)});
    return add_narrow_product(x, rows, columns, matrix);
  }

  std::string add_normalisation(const std::string& x) {
    const int64_t width = options_.width;
    return add("RMSNormalization",
               {x, add_constant(TensorProto::FLOAT, {width},
                                std::vector<float>(static_cast<size_t>(width), 1.0F))},
               {{"axis", -1}});
  }

  // Returns numbers that are distributed evenly between -bound and bound. The generator's own
  // numbers are the same with every standard library, unlike those of its distributions.
  std::vector<float> numbers(int64_t count, float bound) {
    std::vector<float> result(static_cast<size_t>(count));
    for (float& number : result)
      number = bound * (static_cast<float>(random_() >> 8) * 0x1p-23F - 1);
    return result;
  }

 private:
  std::string new_name() { return "t" + std::to_string(names_++); }

  static void describe(onnx::ValueInfoProto* value, const std::string& name,
                       TensorProto::DataType type, const Dims& dims) {
    value->set_name(name);
    auto* const tensor = value->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(type);
    for (const int64_t dim : dims) {
      auto* const shape = tensor->mutable_shape()->add_dim();
      if (dim < 0)
        shape->set_dim_param("length");
      else
        shape->set_dim_value(dim);
    }
  }

  // Adds the product with a matrix of 4 or 8 bits. Each block of a column has a scale, which maps
  // its largest magnitude to the largest integer; the integers are stored with half of the range
  // added, those of 4 bits two to a byte, the lower half first.
  std::string add_narrow_product(const std::string& x, int64_t rows, int64_t columns,
                                 const std::vector<float>& matrix) {
    const bool is_int4 = options_.weights == Weights::kInt4;
    const float largest = is_int4 ? 7 : 127;
    const int zero = is_int4 ? 8 : 128;
    std::vector<uint8_t> stored;
    std::vector<float> scales;
    for (int64_t column = 0; column < columns; ++column) {
      for (int64_t begin = 0; begin < rows; begin += kBlock) {
        const auto at = [&](int64_t row) {
          return matrix[static_cast<size_t>((begin + row) * columns + column)];
        };
        float most = 0;
        for (int64_t row = 0; row < kBlock; ++row) most = std::max(most, std::fabs(at(row)));
        const float scale = most > 0 ? most / largest : 1;
        scales.push_back(scale);
        const auto number = [&](int64_t row) {
          return static_cast<uint8_t>(zero + static_cast<int>(std::lround(at(row) / scale)));
        };
        for (int64_t row = 0; row < kBlock; row += is_int4 ? 2 : 1)
          stored.push_back(is_int4 ? static_cast<uint8_t>(number(row) | number(row + 1) << 4)
                                   : number(row));
      }
    }
    const int64_t bits = is_int4 ? 4 : 8;
    const Dims dims = {columns, rows / kBlock, kBlock * bits / 8};
    return add("MatMulNBits",
               {x, add_constant(TensorProto::UINT8, dims, stored),
                add_constant(TensorProto::FLOAT, {static_cast<int64_t>(scales.size())}, scales)},
               {{"K", rows}, {"N", columns}, {"bits", bits}, {"block_size", kBlock}}, "",
               "com.microsoft");
  }

  onnx::GraphProto& graph_;
  const DecoderOptions& options_;
  std::mt19937 random_;
  int names_ = 0;
};

// Values that all layers read: positions, lengths, and the tables of the rotary embedding.
struct Shared {
  std::string positions, length, is_visible, cosines, sines;
};

Shared add_shared(Network& network, const DecoderOptions& options) {
  Shared shared;
  const std::string zero = network.add_integers({0}), one = network.add_integers({1});
  const std::string count = network.add("Gather", {network.add("Shape", {"tokens"}), one});
  shared.length = network.add("Add", {"start", count});

  std::vector<int64_t> all(static_cast<size_t>(options.context));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
  const std::string places = network.add_integers(all);
  const std::string positions =
      network.add("Add", {network.add("Slice", {places, zero, count}), "start"});
  shared.positions = network.add("Unsqueeze", {positions, zero});
  shared.is_visible =
      network.add("LessOrEqual", {places, network.add("Unsqueeze", {positions, one})});

  const int64_t half = options.width / options.heads / 2;
  std::vector<float> cosines, sines;
  for (int64_t position = 0; position < options.context; ++position) {
    for (int64_t i = 0; i < half; ++i) {
      const double angle = static_cast<double>(position) *
                           std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(half));
      cosines.push_back(static_cast<float>(std::cos(angle)));
      sines.push_back(static_cast<float>(std::sin(angle)));
    }
  }
  shared.cosines = network.add_constant(TensorProto::FLOAT, {options.context, half}, cosines);
  shared.sines = network.add_constant(TensorProto::FLOAT, {options.context, half}, sines);
  return shared;
}

// Adds an input and an output for keys or values, and the node that writes those of new tokens.
std::string add_cache(Network& network, const DecoderOptions& options, const std::string& name,
                      const std::string& update) {
  const Dims dims = {1, options.context, options.width / options.heads * options.kv_heads};
  network.add_input("past_" + name, TensorProto::FLOAT, dims);
  network.add_output("present_" + name, dims);
  return network.add("TensorScatter", {"past_" + name, update, "start"}, {{"axis", 1}},
                     "present_" + name);
}

std::string add_attention(Network& network, const DecoderOptions& options, const Shared& shared,
                          int64_t layer, const std::string& x) {
  const int64_t kv_width = options.width / options.heads * options.kv_heads;
  const std::string suffix = std::to_string(layer);
  const auto rotated = [&](const std::string& heads, int64_t count) {
    return network.add("RotaryEmbedding", {heads, shared.cosines, shared.sines, shared.positions},
                       {{"num_heads", count}});
  };
  const std::string query =
      rotated(network.add_product(x, options.width, options.width), options.heads);
  const std::string key =
      rotated(network.add_product(x, options.width, kv_width), options.kv_heads);
  const std::string value = network.add_product(x, options.width, kv_width);
  const std::string result =
      network.add("Attention",
                  {query, add_cache(network, options, "key_" + suffix, key),
                   add_cache(network, options, "value_" + suffix, value), shared.is_visible, "", "",
                   shared.length},
                  {{"q_num_heads", options.heads}, {"kv_num_heads", options.kv_heads}});
  return network.add_product(result, options.width, options.width);
}

std::string add_feed_forward(Network& network, const DecoderOptions& options,
                             const std::string& x) {
  const std::string gate =
      network.add("Swish", {network.add_product(x, options.width, options.feed_forward)});
  const std::string inner =
      network.add("Mul", {gate, network.add_product(x, options.width, options.feed_forward)});
  return network.add_product(inner, options.feed_forward, options.width);
}

void check(const DecoderOptions& options) {
  const bool is_positive =
      std::min({options.layers, options.width, options.heads, options.kv_heads,
                options.feed_forward, options.vocabulary, options.context}) > 0;
  if (is_positive && options.width % (kBlock * options.heads) == 0 &&
      options.heads % options.kv_heads == 0 && options.feed_forward % kBlock == 0)
    return;
  throw std::invalid_argument(
      "all sizes must be positive, the width a multiple of 32 times the heads, the inner width a "
      "multiple of 32, and the number of heads a multiple of that of keys and values");
}

void add_decoder(Network& network, const DecoderOptions& options) {
  network.add_input("tokens", TensorProto::INT64, {1, -1});
  network.add_input("start", TensorProto::INT64, {1});
  network.add_input("last", TensorProto::INT64, {1});
  network.add_output("logits", {1, options.vocabulary});
  const std::string embedding =
      network.add_constant(TensorProto::FLOAT, {options.vocabulary, options.width},
                           network.numbers(options.vocabulary * options.width, 1));
  std::string x = network.add("Gather", {embedding, "tokens"});
  const Shared shared = add_shared(network, options);
  for (int64_t layer = 0; layer < options.layers; ++layer) {
    x = network.add(
        "Add", {x, add_attention(network, options, shared, layer, network.add_normalisation(x))});
    x = network.add("Add", {x, add_feed_forward(network, options, network.add_normalisation(x))});
  }
  const std::string wanted =
      network.add("Reshape", {network.add("Gather", {x, "last"}, {{"axis", 1}}),
                              network.add_integers({1, options.width})});
  const std::string logits =
      network.add_product(network.add_normalisation(wanted), options.width, options.vocabulary);
  network.add("Identity", {logits}, {}, "logits");
}

}  // namespace

std::string decoder_network(const DecoderOptions& options) {
  check(options);
  onnx::ModelProto model;
  model.set_ir_version(kIrVersion);
  model.set_producer_name("millrace-decode");
  const std::pair<const char*, int> opsets[] = {{"", kOpset}, {"com.microsoft", 1}};
  for (const auto& [domain, version] : opsets) {
    auto* const opset = model.add_opset_import();
    opset->set_domain(domain);
    opset->set_version(version);
  }
  model.mutable_graph()->set_name("decoder");
  Network network(model.mutable_graph(), options);
  add_decoder(network, options);
  std::string bytes;
  if (!model.SerializeToString(&bytes))
    throw std::runtime_error("the model is larger than a file of ONNX can be");
  return bytes;
}

}  // namespace millrace::decoder
