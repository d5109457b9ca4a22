// VART-X postprocessing: from a network's output tensors to results.
//
// Sources: the published VART-X documentation and sample programs, release 6.2 and the one after
// it. Defines no macro and no name outside namespace vart. C++17 and later.
#ifndef VART_VART_POSTPROCESS_HPP
#define VART_VART_POSTPROCESS_HPP

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "vart/vart_device.hpp"
#include "vart/vart_inferresult.hpp"
#include "vart/vart_memory.hpp"
#include "vart/vart_postprocess_function_base.hpp"
#include "vart/vart_postprocess_impl_base.hpp"
#include "vart/vart_postprocess_types.hpp"

#pragma GCC visibility push(default)

namespace vart {

// One configured function. To be used from one thread at a time. Failure is reported by exceptions
// derived from std::exception.
class PostProcess {
 public:
  PostProcess() = delete;

  // `json_data`: the postprocess-config keys at the root of an object, as JSON text, in which
  // numbers and booleans may be quoted; docs/vart-x.md lists them, and what each type computes. The
  // label file is read here. Throws std::invalid_argument, naming key and value, for text that is
  // no JSON object, a wrong type, a value out of range, and a type that is UNKNOWN or none;
  // std::exception for a label file that cannot be read. The key "function", and functions that
  // were registered for the type, take the place of the type (vart_postprocess_function_base.hpp).
  PostProcess(PostProcessType type, std::string& json_data, std::shared_ptr<Device> device);
  // A function of the program's own. Throws std::invalid_argument when `impl` is null.
  explicit PostProcess(std::shared_ptr<PostProcessImplBase> impl);

  // The model's tensors, and how many frames a batch has at most. Outputs come in the order in
  // which process gets them. Throws std::invalid_argument, naming the tensor, for outputs that
  // cannot be read, and for tensors that do not fit the configuration; the one set before then
  // stays.
  void set_config(std::vector<TensorInfo>& info, uint32_t batch_size);

  // Results, one list per frame, best first: nodes without parent and children. `data` holds the
  // output tensors' addresses, each of as many bytes as its tensor: all of the first frame, then
  // all of the second. Throws std::invalid_argument for a number of frames that is 0 or above the
  // batch, for fewer addresses than that, and for null pointers; std::runtime_error before
  // set_config.
  std::vector<std::vector<std::shared_ptr<InferResult>>> process(std::vector<int8_t*> data,
                                                                 uint32_t current_batch_size);
  // The same from memories, [frame][output tensor], whether mapped or not; also throws for a memory
  // smaller than its tensor.
  std::vector<std::vector<std::shared_ptr<InferResult>>> process(
      std::vector<std::vector<std::shared_ptr<Memory>>> tensor_memory, uint32_t current_batch_size);

  const std::shared_ptr<PostProcessImplBase>& get_pimpl_handle() const;

 private:
  std::shared_ptr<PostProcessImplBase> impl_;
};

}  // namespace vart

#pragma GCC visibility pop

#endif  // VART_VART_POSTPROCESS_HPP
