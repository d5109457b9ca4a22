#include "serve/batching/joined_rows.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <span>
#include <utility>

#include "base/never_destroyed.h"

namespace millrace::serve {

JoinedRows::JoinedRows(const RowForm& form, Members members)
    : form_(form), members_(std::move(members)) {
  for (const auto& member : members_) rows_ += member->frames();
}

std::shared_ptr<JoinedRows> JoinedRows::of(const RowForm& form, Members members) {
  try {
    std::shared_ptr<JoinedRows> joined(new JoinedRows(form, std::move(members)));
    if (!allocate(form.inputs, joined->rows_, joined->inputs_) ||
        !allocate(form.outputs, joined->rows_, joined->outputs_))
      return nullptr;
    joined->copy_inputs();
    // A device that leaves outputs as they are shows nobody's data.
    for (Tensor& output : joined->outputs_) std::ranges::fill(output.memory.bytes(), std::byte{0});
    return joined;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

bool JoinedRows::allocate(const std::vector<RowForm::Tensor>& form, uint32_t rows,
                          std::vector<Tensor>& tensors) {
  for (const RowForm::Tensor& row : form) {
    Tensor& tensor = tensors.emplace_back();
    tensor.shape = row.shape;
    tensor.shape.dims[0] = rows;
    if (!MemoryBlock::allocate(row.bytes * rows, 0, tensor.memory)) return false;
  }
  return true;
}

void JoinedRows::copy_inputs() {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    std::byte* to = inputs_[i].memory.data();
    for (const auto& member : members_) {
      const std::span<const std::byte> from = member->input(i);
      if (!from.empty()) std::memcpy(to, from.data(), from.size());
      to += from.size();
    }
  }
}

void JoinedRows::bind(std::vector<TensorArg>& inputs, std::vector<TensorArg>& outputs) {
  for (Tensor& tensor : inputs_) inputs.emplace_back(tensor.memory.bytes()).shape = &tensor.shape;
  for (Tensor& tensor : outputs_) outputs.emplace_back(tensor.memory.bytes()).shape = &tensor.shape;
}

Status JoinedRows::give_back() const {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    TensorShape expected = form_.outputs[i].shape;
    expected.dims[0] = rows_;
    if (outputs_[i].shape != expected)
      return {StatusCode::kInternal, "an output has not one row for each of the inputs"};
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const RowForm::Tensor& row = form_.outputs[i];
    const std::byte* from = outputs_[i].memory.data();
    for (const auto& member : members_) {
      TensorShape shape = row.shape;
      shape.dims[0] = member->frames();
      const size_t bytes = row.bytes * member->frames();
      member->take_output(i, shape, {from, bytes});
      from += bytes;
    }
  }
  return {};
}

// In a list that begins in static memory, so that leak checkers know of it.
void JoinedRows::keep_for_good(std::shared_ptr<JoinedRows> rows) noexcept {
  static NeverDestroyed<std::mutex> mutex;
  static NeverDestroyed<std::shared_ptr<JoinedRows>> first;
  rows->members_.clear();
  const std::lock_guard lock(mutex.get());
  rows->next_kept_ = std::move(first.get());
  first.get() = std::move(rows);
}

}  // namespace millrace::serve
