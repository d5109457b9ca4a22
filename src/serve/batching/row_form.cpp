#include "serve/batching/row_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <span>
#include <utility>

namespace millrace::serve {
namespace {

constexpr size_t kFirstBytes = 64 << 10;  // of an output whose size is not known
constexpr uint64_t kMostBytes = uint64_t{1} << 30;

bool has_leading_open(const TensorInfo& info) {
  const auto& shape = info.cpu.shape;
  return info.cpu.is_open && !shape.empty() && shape.front() == kOpenDimension;
}

// Whether it may have: nothing may be known of the shape.
bool may_have_rows(const TensorInfo& info) {
  return has_leading_open(info) || (info.cpu.is_open && info.cpu.shape.empty());
}

bool is_real(const TensorInfo& info) {
  const DataType type = info.cpu.type;
  return type == DataType::kFloat32 || type == DataType::kFloat64 || type == DataType::kFp16 ||
         type == DataType::kBf16;
}

template <class T>
void put(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

// Floating-point elements between -2 and 2 with random mantissas, whose sums depend on their order.
// Integers are 0 or 1, since they may be indices.
void fill(DataType type, std::span<std::byte> bytes, std::mt19937& random) {
  const size_t size = size_of(type);
  std::ranges::fill(bytes, std::byte{0});
  for (size_t at = 0; at + size <= bytes.size(); at += size) {
    const auto bits = static_cast<uint32_t>(random());
    const float value = (static_cast<float>(bits >> 8) - 8'388'608.0F) / 4'194'304.0F;
    std::byte* const element = bytes.data() + at;
    if (type == DataType::kFloat32)
      put(element, value);
    else if (type == DataType::kFloat64)
      put(element, double{value});
    else if (type == DataType::kFp16)
      put(element, static_cast<uint16_t>((bits & 0x8000) | 0x3800 | (bits & 0x7FF)));
    else if (type == DataType::kBf16)
      put(element, static_cast<uint16_t>((bits & 0x8000) | 0x3F00 | (bits & 0xFF)));
    else
      put(element, static_cast<uint8_t>(bits & 1));
  }
}

// The bytes of a tensor, or nothing if they are too many.
Result<size_t> bytes_of(const TensorShape& shape, const TensorInfo& info) {
  uint64_t bytes = size_of(info.cpu.type);
  for (uint32_t i = 0; i < shape.rank; ++i)
    if (__builtin_mul_overflow(bytes, uint64_t{shape.dims[i]}, &bytes) || bytes > kMostBytes)
      return Status(StatusCode::kUnsupported,
                    fmt::format("\"{}\" is too large to be joined", info.name));
  return static_cast<size_t>(bytes);
}

// Runs the jobs that show the form.
class Trial {
 public:
  Trial(const Model& model, Unit& unit, const std::function<bool()>& closed)
      : model_(model), unit_(unit), closed_(closed) {
    form_.outputs.resize(model.outputs().size());
  }

  Result<RowForm> run(uint32_t most_rows) {
    form_.most_rows = most_rows;
    MILLRACE_RETURN_IF_ERROR(make_inputs());
    alone_.resize(most_rows);
    for (uint32_t row = 0; row < most_rows; ++row)
      MILLRACE_RETURN_IF_ERROR(run_rows(row, 1, alone_[row]));
    MILLRACE_RETURN_IF_ERROR(learn_outputs());
    for (uint32_t rows = 2; rows <= most_rows; ++rows) MILLRACE_RETURN_IF_ERROR(compare(rows));
    return std::move(form_);
  }

 private:
  struct Output {
    Buffer memory;
    TensorShape shape;
  };
  using Outputs = std::vector<Output>;

  Status make_inputs() {
    std::mt19937 random{1};
    for (const TensorInfo& info : model_.inputs()) {
      RowForm::Tensor& row = form_.inputs.emplace_back();
      const auto& shape = info.cpu.shape;
      if (std::ranges::count(shape, kOpenDimension) != 1)
        return {StatusCode::kUnsupported,
                fmt::format("input \"{}\" has more open dimensions than the first", info.name)};
      row.shape.rank = static_cast<uint32_t>(shape.size());
      std::ranges::copy(shape, row.shape.dims.begin());
      row.shape.dims[0] = 1;
      MILLRACE_ASSIGN_OR_RETURN(row.bytes, bytes_of(row.shape, info));
      MILLRACE_ASSIGN_OR_RETURN(Buffer rows,
                                Buffer::allocate(std::max<size_t>(1, row.bytes * form_.most_rows)));
      fill(info.cpu.type, {rows.data(), row.bytes * form_.most_rows}, random);
      inputs_.push_back(std::move(rows));
    }
    return {};
  }

  // Runs some of the rows. Outputs get memory as large as the job says.
  Status run_rows(uint32_t first, uint32_t rows, Outputs& outputs) {
    outputs.resize(model_.outputs().size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      const size_t known = form_.outputs[i].bytes * rows;
      MILLRACE_RETURN_IF_ERROR(allocate(outputs[i], known > 0 ? known : kFirstBytes));
    }
    Status status = try_rows(first, rows, outputs);
    if (status.code() != StatusCode::kInvalidArgument) return status;
    for (size_t i = 0; i < outputs.size(); ++i) {
      MILLRACE_ASSIGN_OR_RETURN(const size_t needed,
                                bytes_of(outputs[i].shape, model_.outputs()[i]));
      if (needed > outputs[i].memory.size()) MILLRACE_RETURN_IF_ERROR(allocate(outputs[i], needed));
    }
    return try_rows(first, rows, outputs);
  }

  static Status allocate(Output& output, size_t bytes) {
    MILLRACE_ASSIGN_OR_RETURN(output.memory, Buffer::allocate(bytes));
    return {};
  }

  // A job that hangs keeps the buffers.
  Status try_rows(uint32_t first, uint32_t rows, Outputs& outputs) {
    if (closed_()) return {StatusCode::kClosed, "the server is shutting down"};
    std::vector<TensorShape> shapes;
    std::vector<TensorArg> in, out;
    for (const RowForm::Tensor& row : form_.inputs) {
      shapes.push_back(row.shape);
      shapes.back().dims[0] = rows;
    }
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const size_t bytes = form_.inputs[i].bytes;
      TensorArg& arg = in.emplace_back(inputs_[i]);
      arg.data = inputs_[i].data() + first * bytes;
      arg.bytes = rows * bytes;
      arg.shape = &shapes[i];
    }
    for (Output& output : outputs) {
      output.shape = {};
      out.emplace_back(output.memory).shape = &output.shape;
    }
    return unit_.execute(model_, {.inputs = in, .outputs = out});
  }

  // Takes the form of the outputs from those of the first row.
  Status learn_outputs() {
    for (size_t i = 0; i < form_.outputs.size(); ++i) {
      const TensorInfo& info = model_.outputs()[i];
      RowForm::Tensor& row = form_.outputs[i];
      row.shape = alone_.front()[i].shape;
      if (row.shape.rank == 0 || row.shape.dims[0] != 1)
        return {StatusCode::kUnsupported,
                fmt::format("output \"{}\" has not one row for each of the inputs", info.name)};
      MILLRACE_ASSIGN_OR_RETURN(row.bytes, bytes_of(row.shape, info));
    }
    return {};
  }

  Status compare(uint32_t rows) {
    Outputs joined;
    MILLRACE_RETURN_IF_ERROR(run_rows(0, rows, joined));
    for (size_t i = 0; i < joined.size(); ++i) {
      const std::string& name = model_.outputs()[i].name;
      TensorShape expected = form_.outputs[i].shape;
      expected.dims[0] = rows;
      if (joined[i].shape != expected)
        return {StatusCode::kUnsupported,
                fmt::format("output \"{}\" has not one row for each of the inputs", name)};
      const size_t bytes = form_.outputs[i].bytes;
      for (uint32_t row = 0; row < rows; ++row) {
        const Output& own = alone_[row][i];
        if (own.shape == form_.outputs[i].shape &&
            std::memcmp(own.memory.data(), joined[i].memory.data() + row * bytes, bytes) == 0)
          continue;
        return {
            StatusCode::kUnsupported,
            fmt::format("a row of output \"{}\" has other bits among {} rows than alone: the rows "
                        "depend on each other, or kernels for this processor sum in another "
                        "order when there are more rows",
                        name, rows)};
      }
    }
    return {};
  }

  const Model& model_;
  Unit& unit_;
  const std::function<bool()>& closed_;
  RowForm form_;
  std::vector<Buffer> inputs_;  // all rows
  std::vector<Outputs> alone_;  // by row
};

}  // namespace

bool has_rows(const Model& model) {
  return !model.inputs().empty() && std::ranges::all_of(model.inputs(), has_leading_open) &&
         std::ranges::all_of(model.outputs(), may_have_rows);
}

Result<RowForm> find_row_form(const Model& model, Unit& unit, uint32_t most_rows,
                              const std::function<bool()>& closed) {
  // Rounding to integers would hide that sums differ.
  if (std::ranges::none_of(model.outputs(), is_real))
    return Status(StatusCode::kUnsupported, "no output is floating point");
  return Trial(model, unit, closed).run(most_rows);
}

}  // namespace millrace::serve
