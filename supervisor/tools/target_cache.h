// TargetCache: keeps the .PHONY targets of a Makefile for as long as they cannot have changed.
//
//    TargetCache cache([&] { session.ListChanged(ListKind::kTools); });
//    if (const KnownTargets* known = cache.Find(key)) ... known->list, if the digest is the same
//
// A list is kept only if nothing but the Makefile's own text and the fixed environment can change
// it (DependsOnTextAlone in supervisor/tools/makefile_text.h), and is found again only while every
// part of its key is the same. Whoever uses it compares the text, too: a stamp may stay the same
// when a mapped page is written.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/digest.h"
#include "policy/policy.h"

namespace pa {

struct Target {
  std::string name;
  std::string description;  // "" = none
  bool operator==(const Target&) const = default;
};

struct RefusedTarget {
  std::string name;
  std::string reason;
  bool operator==(const RefusedTarget&) const = default;
};

struct TargetList {
  std::string makefile;  // `GNUmakefile`, `makefile` or `Makefile`
  std::vector<Target> targets;
  std::vector<RefusedTarget> refused;
  bool operator==(const TargetList&) const = default;
};

// Which file this is and whether it was touched, as far as stat(2) tells.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;
  bool operator==(const FileStamp&) const = default;
};

struct TargetKey {
  std::string directory;  // canonical
  std::uint64_t directory_device = 0;
  std::uint64_t directory_inode = 0;
  std::string makefile;
  FileStamp stamp;
  std::string make;  // the executable
  FileStamp make_stamp;
  policy::PolicyPtr policy;
  std::map<std::string, std::string> environment;
  bool operator==(const TargetKey&) const = default;
};

struct KnownTargets {
  Digest digest = {};  // of the Makefile's text
  TargetList list;
};

class TargetCache {
 public:
  // `on_seen` is called with each directory whose targets were discovered, and the files that
  // decide them.
  explicit TargetCache(
      std::function<void()> on_change = {},
      std::function<void(const std::string& directory, std::span<const std::string> files)>
          on_seen = {})
      : on_change_(std::move(on_change)), on_seen_(std::move(on_seen)) {}

  const KnownTargets* Find(const TargetKey& key);
  void Store(TargetKey key, KnownTargets known);

  // Calls on_change if the targets of `directory` are not those that were last seen there. `files`
  // are those that make read besides the Makefile, as make named them.
  void Saw(const std::string& directory, const TargetList& list,
           std::span<const std::string> files = {});
  // Whether targets of `directory` were ever seen.
  bool Knows(const std::string& directory) const { return seen_.contains(directory); }

  static constexpr std::size_t kMaxEntries = 64;

 private:
  struct Entry {
    TargetKey key;
    KnownTargets known;
  };
  std::list<Entry> entries_;                              // the most recently used first
  std::map<std::string, std::vector<std::string>> seen_;  // directory -> names
  std::function<void()> on_change_;
  std::function<void(const std::string&, std::span<const std::string>)> on_seen_;
};

}  // namespace pa
