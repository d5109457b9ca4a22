// Proofs: ranks prove to each other that they know a secret without sending it. Each side chooses a
// nonce; the proof is a keyed hash (BLAKE2b, by libsodium) of both nonces and the claim. So a proof
// cannot be replayed on another connection. Thread-safe.
#pragma once

#include <span>
#include <string_view>

#include "base/status.h"
#include "ranks/rendezvous/messages.h"

namespace millrace::ranks {

// Returns random bytes. kIoError if the system provides none.
Result<Nonce> make_nonce();

class Secret {
 public:
  // Returns the secret that is derived from a text. Anyone knows the secret of the empty text.
  static Secret of_text(std::string_view text) noexcept;
  // Returns the secret of the ranks of one meeting, which is derived from this secret and the
  // session key.
  Secret of_session(const SessionKey& key) const noexcept;

  // Prove that a rank may join the meeting of the host that has sent the nonce `asked`, and that
  // the host may host it.
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

// Compares in constant time, so that the time does not reveal where the proofs differ.
bool is_equal(const Proof& a, const Proof& b) noexcept;

}  // namespace millrace::ranks
