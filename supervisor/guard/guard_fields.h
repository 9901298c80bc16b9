// How the guard's values are packed for the janitor and unpacked from it (base/pack.h).
//
// A struct that gets a field gets it here, too; a test packs and unpacks one of each.
#pragma once

#include "base/pack.h"
#include "base/path_stamp_fields.h"
#include "base/tree_reader.h"
#include "policy/host_files.h"
#include "supervisor/guard/compare_state.h"
#include "supervisor/guard/guarded_state.h"
#include "supervisor/guard/judge_repositories.h"
#include "supervisor/guard/mount_watch.h"
#include "supervisor/guard/protected_change.h"

namespace pa {

template <>
inline constexpr auto kLastOf<policy::ProtectedPath::Kind> = policy::ProtectedPath::Kind::kReadOnly;
template <>
inline constexpr auto kLastOf<policy::ProtectedPath::Found> = policy::ProtectedPath::Found::kOther;
template <>
inline constexpr auto kLastOf<policy::ProtectionSource> = policy::ProtectionSource::kGitCommands;
template <>
inline constexpr auto kLastOf<policy::ProtectionFailure::Kind> =
    policy::ProtectionFailure::Kind::kNobody;
template <>
inline constexpr auto kLastOf<policy::RepositoryBelow::Kind> =
    policy::RepositoryBelow::Kind::kOther;
template <>
inline constexpr auto kLastOf<ChangeKind> = ChangeKind::kNewRepository;

template <>
struct PackedFields<policy::ProtectionFailure> {
  static bool Visit(auto& io, auto& v) { return io(v.op, v.subject, v.sys_errno, v.kind); }
};
template <>
struct PackedFields<FileImage> {
  static bool Visit(auto& io, auto& v) { return io(v.stamp, v.settled, v.content, v.children); }
};
template <>
struct PackedFields<policy::Holder> {
  static bool Visit(auto& io, auto& v) { return io(v.path, v.stamp, v.settled); }
};
// A line of the table, by its number.
template <>
struct PackedFields<const policy::HostFile*> {
  static bool Visit(Packer& io, const policy::HostFile* const& v) {
    return io(v == nullptr ? std::int64_t{-1} : v - policy::HostFiles().data());
  }
  static bool Visit(Unpacker& io, const policy::HostFile*& v) {
    std::int64_t line = -1;
    const auto files = policy::HostFiles();
    if (!io(line) || line < -1 || line >= std::ssize(files)) return false;
    v = line < 0 ? nullptr : &files[static_cast<std::size_t>(line)];
    return true;
  }
};
template <>
struct PackedFields<policy::ProtectedPath> {
  static bool Visit(auto& io, auto& v) {
    return io(v.path, v.kind, v.found, v.area, v.reason, v.stamp, v.holder, v.repository, v.host,
              v.source);
  }
};
template <>
struct PackedFields<policy::ProtectedPaths::Input> {
  static bool Visit(auto& io, auto& v) { return io(v.path, v.stamp, v.holder); }
};
template <>
struct PackedFields<policy::ProtectedPaths::Index> {
  static bool Visit(auto& io, auto& v) {
    return io(v.path, v.top, v.area, v.stamp, v.shared, v.shared_stamp, v.links, v.settled);
  }
};
template <>
struct PackedFields<policy::ConfiguredPath> : PackedMembers<2> {};
template <>
struct PackedFields<policy::RepositoryBelow> {
  static bool Visit(auto& io, auto& v) { return io(v.path, v.kind, v.device, v.inode, v.born_ns); }
};
// Without its pin, which is a descriptor.
template <>
struct PackedFields<GuardedPath> {
  static bool Visit(auto& io, auto& v) { return io(v.path, v.image, v.saved, v.saved_is_certain); }
};
template <>
struct PackedFields<RepositoryCopy::Stamp> {
  static bool Visit(auto& io, auto& v) { return io(v.path, v.stamp); }
};
template <>
struct PackedFields<RepositoryCopy::Tip> {
  static bool Visit(auto& io, auto& v) { return io(v.object, v.loose); }
};
template <>
struct PackedFields<RepositoryCopy> {
  static bool Visit(auto& io, auto& v) {
    return io(v.path, v.pieces, v.left_out, v.objects, v.object_stamps, v.broken_packs, v.tips);
  }
};
template <>
struct PackedFields<GuardQuery> {
  static bool Visit(auto& io, auto& v) {
    return io(v.directory, v.writable, v.places, v.unprotected, v.roots, v.anchors,
              v.audit_directory, v.home, v.config_home, v.repositories, v.mounts, v.git_read_only);
  }
};
template <>
struct PackedFields<GuardedState> {
  static bool Visit(auto& io, auto& v) {
    return io(v.paths, v.indexes, v.deciders, v.inputs, v.copies, v.audit_directory, v.settled,
              v.left_out, v.within_read_only, v.open);
  }
};
template <>
struct PackedFields<MountRecord::Seen> {
  static bool Visit(auto& io, auto& v) {
    return io(v.read_only, v.replaced, v.again, v.certain, v.young, v.saved);
  }
};
template <>
struct PackedFields<MountRecord::Directory> {
  static bool Visit(auto& io, auto& v) { return io(v.path, v.names, v.lost); }
};
template <>
struct PackedFields<MountRecord> {
  static bool Visit(auto& io, auto& v) { return io(v.directories_, v.by_path_, v.exposed_); }
};
template <>
struct PackedFields<SavedFile> {
  static bool Visit(auto& io, auto& v) { return io(v.image, v.certain); }
};
template <>
struct PackedFields<Comparison> {
  static bool Visit(auto& io, auto& v) {
    return io(v.state, v.query, v.condemned, v.record, v.quarantine, v.renew);
  }
};
// Without the flag to give up, which is another process's.
template <>
struct PackedFields<ScanLimits> {
  static bool Visit(auto& io, auto& v) {
    return io(v.directories, v.entries, v.bytes, v.depth, v.time);
  }
};
template <>
struct PackedFields<ChangedDirectory> {
  static bool Visit(auto& io, auto& v) { return io(v.path, v.below); }
};
template <>
struct PackedFields<ScannedName> {
  static bool Visit(auto& io, auto& v) { return io(v.directory, v.name, v.type); }
};
template <>
struct PackedFields<ReadDirectory> {
  static bool Visit(auto& io, auto& v) {
    return io(v.path, v.stamp, v.settled, v.readable, v.closed, v.whole, v.found, v.below);
  }
};
template <>
struct PackedFields<ReadTree> {
  static bool Visit(auto& io, auto& v) { return io(v.directories, v.deeper, v.exceeded); }
};
template <>
struct PackedFields<policy::KeptDirectory> {
  static bool Visit(auto& io, auto& v) { return io(v.path, v.whole); }
};
template <>
struct PackedFields<RepositoryMaker> {
  static bool Visit(auto& io, auto& v) { return io(v.directory, v.existing); }
};
template <>
struct PackedFields<JudgedRepositories> {
  static bool Visit(auto& io, auto& v) {
    return io(v.directory, v.kept, v.since_ns, v.made, v.excess, v.most, v.open, v.quarantine);
  }
};
template <>
struct PackedFields<ProtectedChange> {
  static bool Visit(auto& io, auto& v) {
    return io(v.path, v.kind, v.restored, v.kept, v.failure, v.why, v.repository);
  }
};
template <>
struct PackedFields<Restored> {
  static bool Visit(auto& io, auto& v) { return io(v.changes, v.owed); }
};
template <>
struct PackedFields<Compared> {
  static bool Visit(auto& io, auto& v) { return io(v.restored, v.again); }
};

}  // namespace pa
