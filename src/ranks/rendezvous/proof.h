// Proofs: how ranks show each other that they know a secret without sending it. Each side
// chooses a nonce, and the proof is a keyed hash (BLAKE2b, by libsodium) of both nonces and the
// claim. So a proof is of no use on another connection. Each function may be called from any
// thread.
#pragma once

#include <span>
#include <string_view>

#include "base/status.h"
#include "ranks/rendezvous/messages.h"

namespace millrace::ranks {

// kIoError when the system has no random bytes.
Result<Nonce> make_nonce();

class Secret {
 public:
  // Returns the secret of all who have that text. An empty text gives a secret that anyone knows.
  static Secret of_text(std::string_view text) noexcept;
  // Returns the secret of the ranks of a meeting, who know this secret and were told the key.
  Secret of_session(const SessionKey& key) const noexcept;

  // Proves that a rank may join the meeting of the host that has sent `asked`, and that the other
  // side may host it.
  Proof of_joining(const Nonce& asked, const JoinHead& head) const noexcept;
  Proof of_hosting(const Nonce& asked, const JoinHead& head,
                   const SessionKey& session) const noexcept;
  // Prove the same for the two ends of a connection between two ranks.
  Proof of_linking(const Nonce& asked, const LinkHead& head) const noexcept;
  Proof of_accepting(const Nonce& asked, const LinkHead& head) const noexcept;

 private:
  using Bytes = std::span<const std::byte>;
  Proof prove(std::string_view what, std::initializer_list<Bytes> parts) const noexcept;

  std::array<std::byte, 32> key_{};
};

// Takes the same time wherever the proofs differ.
bool is_equal(const Proof& a, const Proof& b) noexcept;

}  // namespace millrace::ranks
