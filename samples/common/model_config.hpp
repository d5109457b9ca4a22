// The models of vart_multi_tenancy and vart_multimodel_seq, as their configuration lists them: a
// JSON array of
//
//   {"model_cache_path": "a.rai",         required
//    "start_column": 4,                   0 to 32; 0
//    "aie_columns_sharing": true,         true
//    "ifm_node_file_map": {"data": "data.bin"},
//    "ofm_dir": "."}
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace samples {

struct ModelConfig {
  std::size_t number = 0;  // its position in the array, from 1
  std::string path;
  uint32_t start_column = 0;
  bool aie_columns_sharing = true;
  std::map<std::string, std::string> ifm_files;  // by tensor name
  std::string ofm_dir = ".";
};

// Throws std::runtime_error, naming the model and what is wrong, also when two models start at the
// same column of which one does not share.
std::vector<ModelConfig> read_model_configs(const std::string& path);

}  // namespace samples
