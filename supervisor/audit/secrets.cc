#include "supervisor/audit/secrets.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "base/words.h"

namespace pa {
namespace {

constexpr std::string_view kMask = "***";

// Names after which a value is a secret. In lower case; `-` also stands for `_` and for nothing.
constexpr std::array<std::string_view, 12> kNames = {
    "password", "passwd",      "passphrase", "pwd",        "secret",      "token",
    "api-key",  "private-key", "access-key", "credential", "credentials", "authorization"};

// What issuers put in front of theirs, and how many characters follow at least (the formats that
// GitHub's secret scanning and gitleaks know, November 2026).
constexpr SecretMark kMarks[] = {
    // our own (supervisor/state/token_file.h)
    {"pa_", 64},
    // GitHub
    {"ghp_", 20},
    {"gho_", 20},
    {"ghu_", 20},
    {"ghs_", 20},
    {"ghr_", 20},
    {"github_pat_", 20},
    // GitLab
    {"glpat-", 16},
    {"gldt-", 16},
    {"glrt-", 16},
    {"glcbt-", 16},
    {"glptt-", 16},
    {"glft-", 16},
    {"glsoat-", 16},
    {"glimt-", 16},
    {"glagent-", 16},
    {"GR1348941", 16},
    // Slack
    {"xoxb-", 10},
    {"xoxp-", 10},
    {"xoxa-", 10},
    {"xoxr-", 10},
    {"xoxs-", 10},
    {"xoxe-", 10},
    {"xoxe.xox", 10},
    {"xapp-", 10},
    // OpenAI, Anthropic and others; Stripe
    {"sk-", 20},
    {"sk_live_", 16},
    {"sk_test_", 16},
    {"rk_live_", 16},
    {"rk_test_", 16},
    {"whsec_", 24},
    // AWS
    {"AKIA", 16},
    {"ASIA", 16},
    {"ABIA", 16},
    {"ACCA", 16},
    // Google
    {"AIza", 30},
    {"GOCSPX-", 20},
    {"ya29.", 20},
    // JSON Web Token
    {"eyJ", 40},
    // package registries
    {"npm_", 36},
    {"pypi-", 40},
    {"rubygems_", 40},
    {"dckr_pat_", 20},
    {"dckr_oat_", 20},
    // Atlassian, SendGrid, Shopify, Postman, New Relic, Sentry
    {"ATATT3", 40},
    {"ATCTT3", 40},
    {"ATBB", 28},
    {"SG.", 40},
    {"shpat_", 32},
    {"shpca_", 32},
    {"shppa_", 32},
    {"shpss_", 32},
    {"PMAK-", 40},
    {"NRAK-", 27},
    {"sntrys_", 40},
    {"sntryu_", 40},
    // models
    {"hf_", 30},
    {"api_org_", 30},
    {"gsk_", 40},
    {"xai-", 40},
    {"r8_", 30},
    {"nvapi-", 40},
    {"pplx-", 40},
    // infrastructure
    {"dop_v1_", 40},
    {"doo_v1_", 40},
    {"dor_v1_", 40},
    {"hvs.", 24},
    {"hvb.", 24},
    {"hvr.", 24},
    {"tskey-", 20},
    {"glc_", 32},
    {"glsa_", 32},
    {"pul-", 40},
    {"sbp_", 40},
    {"dapi", 32},
    {"dt0c01.", 40},
    {"pscale_", 20},
    {"AGE-SECRET-KEY-1", 40},
    // others
    {"figd_", 20},
    {"lin_api_", 30},
    {"ntn_", 40},
};

// Options after which a program takes a secret, or what ends in one. The word that holds the
// program's name stands before it in the same command. `flags` take no value themselves, so they
// may precede the option in its word: `curl -sSu`, but in `curl -ou` the `u` is the value of `-o`.
enum class Form { kWhole, kAfterColon };
enum class Apart { kNever, kAlso };  // whether the secret may be the next word
struct SecretOption {
  std::string_view program;
  std::string_view option;
  Form form;
  Apart apart;
  std::string_view flags = "";
};
constexpr std::string_view kCurlFlags = "#:012346BGIJLMNORSVZafgijklnpqsv";
constexpr std::string_view kMysqlFlags = "ABCEHILNUVWXbcfginoqrstvw";
constexpr SecretOption kOptions[] = {
    {"curl", "-u", Form::kAfterColon, Apart::kAlso, kCurlFlags},
    {"curl", "--user", Form::kAfterColon, Apart::kAlso},
    {"curl", "-U", Form::kAfterColon, Apart::kAlso, kCurlFlags},
    {"curl", "--proxy-user", Form::kAfterColon, Apart::kAlso},
    {"http", "-a", Form::kAfterColon, Apart::kAlso, "bcdfhjmvFIS"},
    {"mysql", "-p", Form::kWhole, Apart::kNever, kMysqlFlags},
    {"mariadb", "-p", Form::kWhole, Apart::kNever, kMysqlFlags},
    {"sshpass", "-p", Form::kWhole, Apart::kAlso, "v"},
    {"login", "-p", Form::kWhole, Apart::kAlso},
    {"redis-cli", "-a", Form::kWhole, Apart::kAlso},
    {"mongo", "-p", Form::kWhole, Apart::kAlso},
    {"ldap", "-w", Form::kWhole, Apart::kAlso, "ACIKLMNQVWZcknrtuvx"},
    {"7z", "-p", Form::kWhole, Apart::kNever},
    {"zip", "-P", Form::kWhole, Apart::kAlso, "0123456789ACDFJLTVXZabcefgjklmnopqrtuvyz"},
};

bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool IsTokenChar(char c) { return IsWord(c) || c == '_' || c == '-' || c == '.'; }
bool IsBlank(char c) { return c == ' ' || c == '\t'; }
bool EndsValue(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0 || c == '\'' || c == '"' || c == '&' ||
         c == ';' || c == ',';
}

// How much of `rest` is `name`, or nothing.
std::optional<std::size_t> MatchName(std::string_view rest, std::string_view name) {
  std::size_t at = 0;
  for (const char wanted : name) {
    const char found = at < rest.size() ? LowerCase(rest[at]) : '\0';
    if (wanted == '-' && found != '-' && found != '_') continue;
    if (wanted != '-' && found != wanted) return std::nullopt;
    ++at;
  }
  return at;
}

// Copies `text` to `out` and replaces the secrets in it, from left to right.
class Masker {
 public:
  explicit Masker(std::string_view text) : text_(text) {}

  std::string Run() {
    while (at_ < text_.size()) {
      if (PrivateKey() || Issued() || Named() || Option() || UserInfo()) continue;
      out_ += text_[at_++];
    }
    return std::move(out_);
  }

 private:
  bool AtWordStart() const { return at_ == 0 || !IsWord(text_[at_ - 1]); }
  std::string_view Rest() const { return text_.substr(at_); }

  void Keep(std::size_t count) {
    out_ += text_.substr(at_, count);
    at_ += count;
  }
  void Mask(std::size_t count) {
    out_ += kMask;
    at_ += count;
  }

  bool PrivateKey() {
    constexpr std::string_view kBegin = "-----BEGIN ";
    if (!Rest().starts_with(kBegin)) return false;
    const std::size_t line = Rest().substr(0, 80).find("PRIVATE KEY");
    if (line == std::string_view::npos) return false;
    const std::size_t end = Rest().find("-----END ");
    const std::size_t last = end == std::string_view::npos ? end : Rest().find("-----", end + 9);
    Mask(last == std::string_view::npos ? Rest().size() : last + 5);
    return true;
  }

  bool Issued() {
    if (!AtWordStart()) return false;
    for (const SecretMark& mark : kMarks) {
      if (!Rest().starts_with(mark.prefix)) continue;
      std::size_t end = mark.prefix.size();
      while (end < Rest().size() && IsTokenChar(Rest()[end])) ++end;
      if (end < mark.prefix.size() + mark.least) continue;
      Mask(end);
      return true;
    }
    return false;
  }

  // `name`, then `=`, `:` or a blank (of an option), maybe a scheme, then the value.
  bool Named() {
    for (const std::string_view name : kNames) {
      const std::optional<std::size_t> length = MatchName(Rest(), name);
      if (!length) continue;
      std::size_t value = *length;
      const bool quoted_name =
          value < Rest().size() && (Rest()[value] == '"' || Rest()[value] == '\'');
      if (quoted_name) ++value;
      while (value < Rest().size() && IsBlank(Rest()[value])) ++value;
      const bool assigned = value < Rest().size() && (Rest()[value] == '=' || Rest()[value] == ':');
      const bool option = value > *length && IsOption();
      if (!assigned && !option) continue;
      if (assigned) ++value;
      while (value < Rest().size() &&
             (IsBlank(Rest()[value]) || Rest()[value] == '"' || Rest()[value] == '\'')) {
        ++value;
      }
      value += Scheme(Rest().substr(value));
      std::size_t end = value;
      while (end < Rest().size() && !EndsValue(Rest()[end])) ++end;
      if (end == value) continue;
      Keep(value);
      Mask(end - value);
      return true;
    }
    return false;
  }

  // Whether the word that we are in begins with a dash.
  bool IsOption() const {
    std::size_t start = at_;
    while (start > 0 && !IsBlank(text_[start - 1])) --start;
    return text_[start] == '-';
  }

  // How much of the rest is this option, with the flags before it; 0: it is another one.
  std::size_t LengthOf(const SecretOption& one) const {
    if (one.option.starts_with("--")) return Rest().starts_with(one.option) ? one.option.size() : 0;
    const std::size_t letter = Rest().find_first_not_of(one.flags, 1);
    return letter != std::string_view::npos && Rest()[letter] == one.option[1] ? letter + 1 : 0;
  }

  // `curl -u user:secret`, `mysql -psecret`
  bool Option() {
    if (text_[at_] != '-' || (at_ > 0 && !EndsValue(text_[at_ - 1]))) return false;
    for (const SecretOption& one : kOptions) {
      std::size_t value = LengthOf(one);
      if (value == 0 || !Before().contains(one.program)) continue;
      const auto more = [&](auto test) { return value < Rest().size() && test(Rest()[value]); };
      const bool word_ends = more([](char c) { return IsBlank(c) || c == '='; });
      if (word_ends && one.apart == Apart::kNever) continue;
      // `--user-agent` is another one.
      if (!word_ends && one.option.starts_with("--")) continue;
      while (more([](char c) { return IsBlank(c) || c == '=' || c == '"' || c == '\''; })) ++value;
      std::size_t end = value;
      while (end < Rest().size() && !EndsValue(Rest()[end])) ++end;
      if (one.form == Form::kAfterColon) {
        const std::size_t colon = Rest().substr(value, end - value).find(':');
        if (colon == std::string_view::npos) continue;
        value += colon + 1;
      }
      if (end == value) continue;
      Keep(value);
      Mask(end - value);
      return true;
    }
    return false;
  }

  // What of the same simple command stands before.
  std::string_view Before() const {
    const std::string_view before = text_.substr(0, at_);
    const std::size_t start = before.find_last_of(";|&\n(");
    return before.substr(start == std::string_view::npos ? 0 : start + 1);
  }

  static std::size_t Scheme(std::string_view value) {
    for (const std::string_view scheme : {"bearer ", "basic ", "token "}) {
      const std::string_view start = value.substr(0, scheme.size());
      if (std::ranges::equal(start, scheme, {}, LowerCase)) return scheme.size();
    }
    return 0;
  }

  // `://user:secret@`
  bool UserInfo() {
    if (!Rest().starts_with("://")) return false;
    const std::size_t end = Rest().find_first_of("/?# \t\n'\"", 3);
    const std::string_view authority =
        Rest().substr(3, end == std::string_view::npos ? end : end - 3);
    const std::size_t at = authority.rfind('@');
    const std::size_t colon = authority.find(':');
    if (at == std::string_view::npos || colon == std::string_view::npos || colon > at) return false;
    Keep(3 + colon + 1);
    Mask(at - colon - 1);
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
};

}  // namespace

std::span<const SecretMark> SecretMarks() { return kMarks; }

std::string MaskSecrets(std::string_view text) { return Masker(text).Run(); }

bool NamesSecret(std::string_view name) {
  return std::ranges::any_of(kNames, [&](std::string_view secret) {
    for (std::size_t at = 0; at < name.size(); ++at) {
      const std::optional<std::size_t> length = MatchName(name.substr(at), secret);
      if (length && at + *length == name.size()) return true;
    }
    return false;
  });
}

}  // namespace pa
