// An index that a command may have written. As it is: names stay beneath. As entries:
// the index that git would write of them holds their gitlinks, no more and no fewer, in every
// version.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "policy/git_index.h"
#include "tests/fuzz/check.h"

namespace pa::policy {
namespace {

struct Entry {
  std::string name;
  bool link = false;
};

// Lines of the input, an odd first byte for a gitlink. Names as git takes them: not empty, no `.`
// or `..` in them. No more than any reader takes.
std::vector<Entry> EntriesIn(std::string_view input) {
  std::vector<Entry> entries;
  while (!input.empty() && entries.size() < 1000) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    const std::string_view line = input.substr(0, end);
    input.remove_prefix(std::min(end + 1, input.size()));
    if (line.size() < 2 || line.size() > 5000 || line.contains('\0')) continue;
    const std::string name(line.substr(1));
    const std::string whole = '/' + name + '/';
    if (whole.contains("//") || whole.contains("/./") || whole.contains("/../")) continue;
    entries.push_back({name, (line.front() & 1) != 0});
  }
  return entries;
}

void AddNumber(std::string& out, std::size_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    out += static_cast<char>(value >> shift);
}

// Since version 4: how much of the name before is cut off its end, in git's variable length.
void AddCut(std::string& out, std::size_t cut) {
  std::string digits(1, static_cast<char>(cut & 0x7f));
  while ((cut >>= 7) != 0) digits.insert(digits.begin(), static_cast<char>(0x80 | (--cut & 0x7f)));
  out += digits;
}

void AddName(std::string& out, const Entry& entry, const std::string& before, unsigned version) {
  const std::size_t entry_at = out.size() - 62;
  if (version < 4) {
    out += entry.name;
    do out += '\0';
    while ((out.size() - entry_at) % 8 != 0);
    return;
  }
  std::size_t common = 0;
  while (common < before.size() && common < entry.name.size() &&
         before[common] == entry.name[common])
    ++common;
  AddCut(out, before.size() - common);
  out += entry.name.substr(common) + '\0';
}

// gitformat-index(5), with SHA-1.
std::string Written(const std::vector<Entry>& entries, unsigned version) {
  std::string out = "DIRC";
  AddNumber(out, version, 4);
  AddNumber(out, entries.size(), 4);
  std::string before;
  for (const Entry& entry : entries) {
    out.append(24, '\x01');
    AddNumber(out, entry.link ? 0160000 : 0100644, 4);
    out.append(12 + 20, '\x02');
    AddNumber(out, std::min<std::size_t>(entry.name.size(), 0xfff), 2);
    AddName(out, entry, before, version);
    before = entry.name;
  }
  return out.append(20, '\x03');
}

// More than an input has.
constexpr std::size_t kMostDirectories = 1u << 20;

void CheckEntries(std::string_view input) {
  const std::vector<Entry> entries = EntriesIn(input);
  std::vector<std::string> links;
  std::set<std::string> directories;
  for (const Entry& entry : entries) {
    if (entry.link) links.push_back(entry.name);
    directories.insert("");
    for (std::size_t at = 0; (at = entry.name.find('/', at)) != std::string::npos; ++at) {
      directories.insert(entry.name.substr(0, at));
    }
  }
  for (const unsigned version : {2u, 4u}) {
    const std::string bytes = Written(entries, version);
    const auto read = ReadGitIndex(bytes);
    Check(Given(read) != nullptr && Given(read)->links == links);
    const auto in = ReadIndexDirectories(bytes, kMostDirectories);
    Check(in && std::ranges::equal(*in, directories));
    Check(directories.empty() || !ReadIndexDirectories(bytes, directories.size() - 1));
  }
}

void CheckBytes(std::string_view bytes) {
  const auto read = ReadGitIndex(bytes);
  if (Given(read) == nullptr) return;
  for (const std::string& link : Given(read)->links) {
    Check(!link.starts_with('/') && !("/" + link + "/").contains("/../"));
  }
  Check(!Given(read)->shared.contains('/'));
}

}  // namespace
}  // namespace pa::policy

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  pa::policy::CheckBytes(input);
  pa::policy::CheckEntries(input);
  return 0;
}
