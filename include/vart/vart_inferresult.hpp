// VART-X results: a tree of what postprocessing found in a frame.
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

namespace vart {
class InferResultImplBase;  // the library's own, and not among what it exports
}

#pragma GCC visibility push(default)

namespace vart {

// A node of the tree. Nodes live in shared_ptrs: a parent keeps its children, and a child does not
// keep its parent. Postprocessing gives nodes without parent and children, one for each result;
// programs put them below a node of type ROOT. Not to be changed by one thread while another uses
// the tree.
class InferResult : public std::enable_shared_from_this<InferResult> {
 public:
  InferResult() = delete;
  // A node with an empty result of that type.
  explicit InferResult(InferResultType type);
  // A node with the data of another one. Throws std::invalid_argument when `impl` is null.
  explicit InferResult(std::shared_ptr<InferResultImplBase> impl);

  // Takes the box of a detection from the model's input to the frame; InferResScaleInfo says how.
  // Coordinates are rounded, and not clipped to the frame. A segmentation keeps its map, and
  // remembers the frame for MetaConvert. Other results, and the nodes below this one, stay as they
  // are. Throws std::invalid_argument for a geometry with a scale that is not a positive number.
  void transform(InferResScaleInfo& info);
  // The result, which the program may read and change, valid as long as this node; nullptr for
  // ROOT, which has none.
  InferResultData* get_infer_result();

  // The child leaves the parent that it had. Throws std::invalid_argument for a null pointer, and
  // for a child that is this node or above it.
  void add_child(std::shared_ptr<InferResult> child);
  void add_children(std::vector<std::shared_ptr<InferResult>> children);
  std::vector<std::shared_ptr<InferResult>> get_children();  // empty for a leaf
  std::shared_ptr<InferResult> get_parent();                 // nullptr for the root
  std::shared_ptr<InferResult> get_root();

  // Calls `visit` for this node and all below it, with `user_data`. PREORDER takes a node before
  // its children, POSTORDER after them, INORDER after the first child. What `visit` throws ends the
  // traversal and comes out of it. Throws std::invalid_argument when `visit` is empty.
  void traverse(const std::function<void(std::shared_ptr<InferResult>, void*)>& visit,
                TraversalOrder order, void* user_data);
  size_t get_depth();  // steps up to the root

  const std::shared_ptr<InferResultImplBase>& get_pimpl_handle() const;

 private:
  std::shared_ptr<InferResultImplBase> impl_;
};

}  // namespace vart

#pragma GCC visibility pop

#endif  // VART_VART_INFERRESULT_HPP
