// VART-X: from results to the shapes and text that show them.
//
// Sources: the published VART-X documentation and sample programs, release 6.2 and the one after
// it. Defines no macro and no name outside namespace vart. C++17 and later.
#ifndef VART_VART_METACONVERT_HPP
#define VART_VART_METACONVERT_HPP

#include <memory>
#include <string>

#include "vart/vart_device.hpp"
#include "vart/vart_inferresult.hpp"
#include "vart/vart_overlay_types.hpp"

namespace vart {
class MetaConvertImplBase;  // the library's own, and not among what it exports
}

#pragma GCC visibility push(default)

namespace vart {

// To be used from one thread at a time. Failure is reported by exceptions derived from
// std::exception.
class MetaConvert {
 public:
  MetaConvert() = delete;
  // `json_data`: the metaconvert-config object as JSON text, in which numbers and booleans may be
  // quoted; docs/vart-x.md lists the keys. `type` is what the configuration is for; every result is
  // converted as what it is, whatever `type` says. Throws std::invalid_argument, naming key and
  // value, for text that is no JSON object, a wrong type, and a value out of range.
  MetaConvert(InferResultType type, std::string& json_data, std::shared_ptr<Device> device);

  // Returns what to draw for `root` and all results below it that the configuration does not
  // exclude: a box and its label for a detection, a line of text for each class of a
  // classification, half transparent boxes for a segmentation. The levels of the configuration
  // count from 1, the results below a ROOT. Never nullptr. The shapes and their texts are
  // independent of this object and of the results. Throws std::invalid_argument when `root` is
  // null.
  std::shared_ptr<OverlayShapeInfo> prepare_overlay_meta(std::shared_ptr<InferResult> root);

 private:
  std::shared_ptr<MetaConvertImplBase> impl_;
};

}  // namespace vart

#pragma GCC visibility pop

#endif  // VART_VART_METACONVERT_HPP
