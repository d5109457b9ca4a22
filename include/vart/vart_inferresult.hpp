// VART-X results: a tree of what postprocessing found in a frame.
//
// Declared, not implemented yet: programs compile against this header and do not link.
//
// Sources: the published VART-X documentation and sample programs, release 6.2 and the one after
// it. Defines no macro and no name outside namespace vart. C++17 and later.
#ifndef VART_VART_INFERRESULT_HPP
#define VART_VART_INFERRESULT_HPP

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "vart/vart_inferresult_types.hpp"
#include "vart/vart_standard_headers.hpp"

#pragma GCC visibility push(default)

namespace vart {

class InferResultImplBase;

// A node of the tree. Nodes live in shared_ptrs: a parent keeps its children. Not to be changed by
// one thread while another uses the tree.
class InferResult : public std::enable_shared_from_this<InferResult> {
 public:
  InferResult() = delete;
  explicit InferResult(InferResultType type);
  explicit InferResult(std::shared_ptr<InferResultImplBase> impl);

  // Takes the coordinates of a detection from the model's input to the frame; leaves other results
  // as they are.
  void transform(InferResScaleInfo& info);
  // The result, valid as long as this node; nullptr where there is none, as for ROOT.
  InferResultData* get_infer_result();

  void add_child(std::shared_ptr<InferResult> child);
  void add_children(std::vector<std::shared_ptr<InferResult>> children);
  std::vector<std::shared_ptr<InferResult>> get_children();  // empty for a leaf
  std::shared_ptr<InferResult> get_parent();                 // nullptr for the root
  std::shared_ptr<InferResult> get_root();

  // Calls `visit` for this node and all below it, with `user_data`.
  void traverse(const std::function<void(std::shared_ptr<InferResult>, void*)>& visit,
                TraversalOrder order, void* user_data);
  size_t get_depth();  // steps up to the root

 private:
  std::shared_ptr<InferResultImplBase> impl_;
};

}  // namespace vart

#pragma GCC visibility pop

#endif  // VART_VART_INFERRESULT_HPP
