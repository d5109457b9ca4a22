// VART-X postprocessing: what is behind a vart::PostProcess, for programs that bring a function of
// their own. Where the outputs are to be converted to floats first,
// vart_postprocess_function_base.hpp takes less.
//
// Sources: the published VART-X documentation says that every module has such a base class to
// derive from; its functions are inferred from those of the class that programs call. Defines no
// macro and no name outside namespace vart. C++17 and later.
#ifndef VART_VART_POSTPROCESS_IMPL_BASE_HPP
#define VART_VART_POSTPROCESS_IMPL_BASE_HPP

#include <cstdint>
#include <memory>
#include <vector>

#include "vart/vart_inferresult.hpp"
#include "vart/vart_memory.hpp"
#include "vart/vart_postprocess_types.hpp"

#pragma GCC visibility push(default)

namespace vart {

// PostProcess calls the function of the same name, on the thread that calls PostProcess; what it
// throws comes out of that call.
class PostProcessImplBase {
 public:
  virtual ~PostProcessImplBase();
  PostProcessImplBase(const PostProcessImplBase&) = delete;
  PostProcessImplBase& operator=(const PostProcessImplBase&) = delete;

  virtual void set_config(std::vector<TensorInfo>& info, uint32_t batch_size) = 0;
  virtual std::vector<std::vector<std::shared_ptr<InferResult>>> process(
      std::vector<int8_t*> data, uint32_t current_batch_size) = 0;
  // Unless overridden, maps all memories of the frames that are current, frame after frame, and
  // calls the other one with their addresses. Throws std::invalid_argument for fewer frames, and
  // for a memory that is null.
  virtual std::vector<std::vector<std::shared_ptr<InferResult>>> process(
      std::vector<std::vector<std::shared_ptr<Memory>>> tensor_memory, uint32_t current_batch_size);

 protected:
  PostProcessImplBase() = default;
};

}  // namespace vart

#pragma GCC visibility pop

#endif  // VART_VART_POSTPROCESS_IMPL_BASE_HPP
