// What looks like a secret is left out of what is kept.
//
//   MaskSecrets("curl -H 'Authorization: Bearer abc123'")   // curl -H 'Authorization: Bearer ***'
//
// It knows secrets by what stands before them (`password=`, `--token `, `Authorization: Bearer `,
// `https://user:`, `curl -u user:`, `mysql -p`) and by the marks that those who issue tokens give
// them (`ghp_`, `AKIA`, `-----BEGIN ... PRIVATE KEY`). What has neither passes: it is a net, not a
// wall.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace pa {

std::string MaskSecrets(std::string_view text);

// `prefix`, and so many letters, digits, `_`, `-` or `.` after it at least, is a token.
struct SecretMark {
  std::string_view prefix;
  std::size_t least;
};
std::span<const SecretMark> SecretMarks();

// Whether what `name` is the name of is a secret: `password`, `DB_PASSWORD`, `--api-key`, `apiKey`.
// For values that stand apart from their names: members of objects, arguments after an option.
bool NamesSecret(std::string_view name);

}  // namespace pa
