// Output: what becomes of results. They are printed, and written to the folder "output" in the
// current directory:
//
//   postproc<M>_results.txt            the results of model M, frame after frame
//   overlay_<NNNNN>_<name>.jpg         frame NNNNN with the results of all models that have a
//                                      metaconvert-config drawn over it
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/output_file.hpp"
#include "pipeline.hpp"

// To be used by one thread at a time. Functions throw exceptions derived from std::exception.
class Output {
 public:
  // Creates the folder. `models` outlive the object.
  explicit Output(const std::vector<std::unique_ptr<Model>>& models);

  // A frame that has results.
  void write(Frame& frame);
  // To be called at the end: the text files get their names.
  void commit();

 private:
  void write_texts(const Frame& frame);
  void draw(Frame& frame);

  const std::vector<std::unique_ptr<Model>>& models_;
  std::vector<std::unique_ptr<samples::OutputFile>> texts_;  // by model
};
