// GlooRank: one rank of Gloo's collectives, used directly, over TCP.
#pragma once

#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/hash_store.h>

#include <cstdint>
#include <memory>
#include <span>

namespace millrace::bench {

class GlooRank {
 public:
  // Blocks until all ranks, which are threads of this process, have met at `store`.
  GlooRank(gloo::rendezvous::HashStore& store, uint32_t rank, uint32_t ranks);

  // `data` becomes the sum of all ranks' data.
  void all_reduce(std::span<float> data);

 private:
  std::shared_ptr<gloo::rendezvous::Context> context_;
};

}  // namespace millrace::bench
