// JoinedRows: the tensors of a job that several requests share along the leading dimension. One
// request after another is copied into them, and results are copied back. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "millrace/tensor.hpp"
#include "serve/batching/batch_member.h"
#include "serve/batching/row_form.h"
#include "serve/http/memory_block.h"

namespace millrace::serve {

class JoinedRows {
 public:
  using Members = std::vector<std::shared_ptr<BatchMember>>;

  // Copies the inputs of all members. Null if there is not enough memory. `form` must live until
  // the last give_back().
  static std::shared_ptr<JoinedRows> of(const RowForm& form, Members members);

  // Appends the tensors, as JobArgs has them. They must stay as long as the job may use them.
  // Throws std::bad_alloc.
  void bind(std::vector<TensorArg>& inputs, std::vector<TensorArg>& outputs);
  // Copies the rows of each member to it, after the job. kInternal if the outputs have another form
  // than they should.
  Status give_back() const;
  // A job that hung may use the tensors for ever: their memory is never freed. The members, which
  // hold the model, are let go, so nothing can be given back afterwards.
  static void keep_for_good(std::shared_ptr<JoinedRows> rows) noexcept;

 private:
  struct Tensor {
    MemoryBlock memory;
    TensorShape shape;
  };
  JoinedRows(const RowForm& form, Members members);
  static bool allocate(const std::vector<RowForm::Tensor>& form, uint32_t rows,
                       std::vector<Tensor>& tensors);
  void copy_inputs();

  const RowForm& form_;
  Members members_;
  uint32_t rows_ = 0;
  std::vector<Tensor> inputs_, outputs_;
  std::shared_ptr<JoinedRows> next_kept_;  // see keep_for_good()
};

}  // namespace millrace::serve
