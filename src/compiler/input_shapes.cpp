// Given shapes are first compared with the model and bind the symbols of its dimensions. Then open
// leading dimensions are bound to one frame, unless a given shape keeps them open. At last each
// input gets the sizes of its given shape or of its symbols.
#include "compiler/input_shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/shape.h"

namespace millrace::compiler {
namespace {

using graph::Dims;
using network::Dimension;
using network::Input;

// The largest dimension. Descriptions of tensors have dimensions of 32 bits.
constexpr int64_t kMaxDimension = std::numeric_limits<int32_t>::max();

// The sizes of the symbols that given shapes fix, and the symbols that given shapes keep open.
struct Symbols {
  std::unordered_map<std::string, int64_t> sizes;
  std::unordered_set<std::string> open;
};

// A dimension of 0 is kept unless a shape is given. Some exporters write 0 for any size, so
// --input-shape may change it like an open dimension.
bool is_fixed(const Dimension& dim) {
  return dim.size > 0;
}

std::string text_of(const Dimension& dim) {
  if (dim.size != Dimension::kOpen) return std::to_string(dim.size);
  return dim.symbol.empty() ? "?" : dim.symbol;
}

// Formats a shape as the model states it, for example "batch,3,height,width".
std::string text_of(const std::vector<Dimension>& shape) {
  std::vector<std::string> dims;
  for (const Dimension& dim : shape) dims.push_back(text_of(dim));
  return fmt::format("{}", fmt::join(dims, ","));
}

Status check_sizes(const Dims& shape) {
  Dims closed = shape;
  std::ranges::replace(closed, Dimension::kOpen, 1);
  return graph::check_shape(closed);
}

// Checks a given shape against the dimensions that the model fixes. Only the leading dimension may
// differ from them.
Status check_given(const Input& input, const Dims& given) {
  MILLRACE_RETURN_IF_ERROR(check_sizes(given));
  if (!input.has_shape) return {};
  bool fits = input.shape.size() == given.size();
  for (size_t d = 1; fits && d < given.size(); ++d) {
    fits = !is_fixed(input.shape[d]) || input.shape[d].size == given[d];
  }
  if (fits) return {};
  return invalid_argument(fmt::format("the given shape {} does not fit the model's [{}]",
                                      graph::to_string(given), text_of(input.shape)));
}

Status bind_symbols(const Input& input, const Dims& given, Symbols* symbols) {
  for (size_t d = 0; d < input.shape.size(); ++d) {
    const std::string& symbol = input.shape[d].symbol;
    if (is_fixed(input.shape[d]) || symbol.empty()) continue;
    if (given[d] == Dimension::kOpen) {
      symbols->open.insert(symbol);
      continue;
    }
    const auto [bound, is_new] = symbols->sizes.emplace(symbol, given[d]);
    if (!is_new && bound->second != given[d]) {
      return invalid_argument(fmt::format("the given shapes set the dimension '{}' to {} and to {}",
                                          symbol, bound->second, given[d]));
    }
  }
  return {};
}

// Whether a symbol names the number of frames: exporters write "batch", "batch_size" or "N".
bool is_called_batch(std::string symbol) {
  std::ranges::transform(symbol, symbol.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return symbol == "n" || symbol.find("batch") != std::string::npos;
}

// Whether open leading dimensions count frames. If all inputs with an open leading dimension are
// vectors, their length does not count frames unless its symbol names a batch.
bool has_frames(const std::vector<Input>& inputs) {
  return std::ranges::any_of(inputs, [](const Input& input) {
    if (input.shape.empty() || input.shape.front().size != Dimension::kOpen) return false;
    return input.shape.size() > 1 || is_called_batch(input.shape.front().symbol);
  });
}

// Binds the symbols of open leading dimensions to 1, one frame. The symbol has that size in other
// dimensions, too.
void bind_frames(const std::vector<Input>& inputs, const InputShapes& given, Symbols* symbols) {
  for (const Input& input : inputs) {
    if (given.contains(input.name) || input.shape.empty()) continue;
    const Dimension& leading = input.shape.front();
    if (leading.size != Dimension::kOpen || leading.symbol.empty()) continue;
    if (!symbols->open.contains(leading.symbol)) symbols->sizes.emplace(leading.symbol, 1);
  }
}

int64_t settled_size(const Dimension& dim, bool counts_frames, const Symbols& symbols) {
  if (dim.size != Dimension::kOpen) return dim.size;
  const auto bound = symbols.sizes.find(dim.symbol);
  if (!dim.symbol.empty() && bound != symbols.sizes.end()) return bound->second;
  const bool kept_open = !dim.symbol.empty() && symbols.open.contains(dim.symbol);
  return counts_frames && !kept_open ? 1 : Dimension::kOpen;
}

// Gives an input its final dimensions, which may still be open.
Status settle(const InputShapes& given, const Symbols& symbols, bool frames, Input* input) {
  const auto entry = given.find(input->name);
  if (entry != given.end()) {
    input->shape.resize(entry->second.size());
    input->has_shape = true;
    for (size_t d = 0; d < input->shape.size(); ++d) input->shape[d].size = entry->second[d];
  } else {
    for (size_t d = 0; d < input->shape.size(); ++d) {
      input->shape[d].size = settled_size(input->shape[d], frames && d == 0, symbols);
    }
  }
  Dims sizes;
  for (Dimension& dim : input->shape) {
    if (dim.size != Dimension::kOpen) dim.symbol.clear();
    if (dim.size > kMaxDimension) {
      return unsupported(
          fmt::format("dimension {} is above the limit of {}", dim.size, kMaxDimension));
    }
    sizes.push_back(dim.size);
  }
  return check_sizes(sizes);
}

Status check_names(const std::vector<Input>& inputs, const InputShapes& given) {
  std::vector<std::string> names;
  for (const Input& input : inputs) names.push_back("'" + input.name + "'");
  for (const auto& [name, shape] : given) {
    if (std::ranges::find(names, "'" + name + "'") == names.end()) {
      return invalid_argument(
          fmt::format("a shape is given for '{}', but the model's inputs are {}", name,
                      fmt::join(names, ", ")));
    }
  }
  return {};
}

}  // namespace

Status settle_inputs(const InputShapes& given, network::Network& network) {
  MILLRACE_RETURN_IF_ERROR(check_names(network.inputs, given));
  const auto context = [](const Input& input) { return fmt::format("input '{}'", input.name); };
  Symbols symbols;
  for (const Input& input : network.inputs) {
    const auto entry = given.find(input.name);
    if (entry == given.end()) continue;
    MILLRACE_RETURN_IF_ERROR(check_given(input, entry->second).with_context(context(input)));
    MILLRACE_RETURN_IF_ERROR(
        bind_symbols(input, entry->second, &symbols).with_context(context(input)));
  }
  const bool frames = has_frames(network.inputs);
  if (frames) bind_frames(network.inputs, given, &symbols);
  for (Input& input : network.inputs) {
    MILLRACE_RETURN_IF_ERROR(settle(given, symbols, frames, &input).with_context(context(input)));
  }
  return {};
}

std::vector<AssumedFrame> assumed_frames(const InputShapes& given,
                                         const std::vector<Input>& inputs) {
  const auto is_given = [&](const std::string& symbol) {
    return std::ranges::any_of(inputs, [&](const Input& input) {
      return given.contains(input.name) &&
             std::ranges::find(input.shape, symbol, &Dimension::symbol) != input.shape.end();
    });
  };
  std::vector<AssumedFrame> assumed;
  if (!has_frames(inputs)) return assumed;
  for (const Input& input : inputs) {
    if (given.contains(input.name) || input.shape.empty()) continue;
    const Dimension& leading = input.shape.front();
    if (leading.size != Dimension::kOpen || is_called_batch(leading.symbol)) continue;
    if (!leading.symbol.empty() && is_given(leading.symbol)) continue;
    Dims shape;
    for (const Dimension& dim : input.shape) shape.push_back(dim.size);
    assumed.push_back({input.name, std::move(shape)});
  }
  return assumed;
}

bool is_static(const Input& input) {
  return input.has_shape && std::ranges::none_of(input.shape, [](const Dimension& dim) {
           return dim.size == Dimension::kOpen;
         });
}

}  // namespace millrace::compiler
