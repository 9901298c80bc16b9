// MaskSecrets: replaces what looks like a secret in text that is kept.
//
//    MaskSecrets("curl -H 'Authorization: Bearer abc123'")  // curl -H 'Authorization: Bearer ***'
//
// A secret is recognised by the text before it (`password=`, `--token `, `Authorization: Bearer `,
// `https://user:`, `curl -u user:`, `mysql -p`) or by the prefix that its issuer gives to tokens
// (`ghp_`, `AKIA`, `-----BEGIN ... PRIVATE KEY`). A secret that has neither is kept: masking
// reduces leaks, it does not exclude them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace pa {

std::string MaskSecrets(std::string_view text);

// A token: `prefix`, followed by at least `least` letters, digits, `_`, `-` or `.`.
struct SecretMark {
  std::string_view prefix;
  std::size_t least;
};
std::span<const SecretMark> SecretMarks();

// Whether `name` is the name of a secret: `password`, `DB_PASSWORD`, `--api-key`, `apiKey`. For
// values that are separate from their names: members of objects, arguments after an option.
bool NamesSecret(std::string_view name);

}  // namespace pa
