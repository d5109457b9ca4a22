// VART-X postprocessing: functions of the program's own, or of a plugin, that a vart::PostProcess
// finds by name or by type and gives the outputs as floats.
//
// Sources: the published VART-X documentation names PostProcessFunctionBase, says that it converts
// outputs to floats, and that functions are selected by their PostProcessType. Its functions and
// the registry are this library's own. Defines no macro and no name outside namespace vart. C++17
// and later.
#ifndef VART_VART_POSTPROCESS_FUNCTION_BASE_HPP
#define VART_VART_POSTPROCESS_FUNCTION_BASE_HPP

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "vart/vart_inferresult.hpp"
#include "vart/vart_postprocess_types.hpp"

#pragma GCC visibility push(default)

namespace vart {

// Every PostProcess has an object of its own, which it uses from one thread at a time. What a
// function throws comes out of the call of PostProcess.
class PostProcessFunctionBase {
 public:
  virtual ~PostProcessFunctionBase();
  PostProcessFunctionBase(const PostProcessFunctionBase&) = delete;
  PostProcessFunctionBase& operator=(const PostProcessFunctionBase&) = delete;

  // Called by PostProcess::set_config, before the first process: with the configuration text that
  // PostProcess was made with, all tensors of the model, and the frames of a batch. PostProcess has
  // checked that the outputs can be read. Unless overridden, does nothing.
  virtual void set_config(const std::string& json_data, const std::vector<TensorInfo>& info,
                          uint32_t batch_size);
  // Returns the results of one frame, none of them null, from the elements of its outputs, in the
  // order of the outputs in `info`. Elements of INT8 tensors are multiplied by scale_coeff.
  virtual std::vector<std::shared_ptr<InferResult>> process(
      const std::vector<std::vector<float>>& outputs) = 0;

 protected:
  PostProcessFunctionBase() = default;
};

// The functions of the process. A PostProcess looks for its function when it is made: by the key
// "function" of its configuration, whatever its type; else by its type; else it has the one that
// this library has for that type.
//
// A name that is not registered is a plugin: the library libmillrace-function-NAME.so in the folder
// that the environment variable MILLRACE_PLUGIN_DIR names, or beside the core library. It exports
//
//   extern "C" unsigned millrace_postprocess_plugin() {
//     vart::PostProcessRegistry::add("NAME", [] { return std::make_shared<MyFunction>(); });
//     return vart::PostProcessRegistry::kVersion;
//   }
//
// It is loaded once and never unloaded, and not at all where others than the user and root could
// have written it, or where its version is another one. Thread-safe.
class PostProcessRegistry {
 public:
  // Changes with every change of the classes that a plugin derives from or is given.
  static constexpr unsigned kVersion = 1;
  using Maker = std::function<std::shared_ptr<PostProcessFunctionBase>()>;

  // From now on, `maker` makes the functions of that name or type; one that was added before is
  // replaced. Throws std::invalid_argument for an empty maker, and for a name that is empty or has
  // other characters than letters, digits, "-" and "_".
  static void add(const std::string& name, Maker maker);
  static void add(PostProcessType type, Maker maker);
};

}  // namespace vart

#pragma GCC visibility pop

#endif  // VART_VART_POSTPROCESS_FUNCTION_BASE_HPP
