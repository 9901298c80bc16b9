// Attempts that are not in this table: on the file tools in supervisor/tools/*_test.cc, with
// snapshots of a file system in tests/integration/multiplexers_test.cc, on trust anchors in
// tests/integration/trust_anchors_test.cc, on the audit log in tests/integration/audit_test.cc.
#include "tests/escapes/attempts.h"

#include <list>
#include <tuple>
#include <utility>

#include "tests/support/temp_dir.h"

namespace pa::testing {
namespace {

using Judge = std::function<bool(const World&, const Trial&)>;
using Attempts = std::vector<Attempt>;

// --- how one sees that an attempt worked

bool SecretSeen(const World& world, const Trial& run) { return world.SecretIn(run); }
bool BystanderSignalled(const World& world, const Trial&) { return world.Signalled(); }
bool BystanderChanged(const World& world, const Trial&) { return world.MemoryChanged(); }
bool LeftBehind(const World& world, const Trial&) { return world.survivors(); }
bool TerminalTouched(const World& world, const Trial&) { return world.TerminalTouched(); }

Judge Made(const char* name) {
  return [name](const World& world, const Trial&) { return world.Exists(name); };
}
Judge Appeared(const char* path) {
  return [path](const World& world, const Trial&) { return world.Appeared(path); };
}
Judge Gone(const char* name) {
  return [name](const World& world, const Trial&) { return !world.Exists(name); };
}
Judge TextIs(const char* name, const char* text) {
  return [name, text](const World& world, const Trial&) { return world.Text(name) == text; };
}
Judge TextHas(const char* name, const char* text) {
  return [name, text](const World& world, const Trial&) {
    return world.Text(name).find(text) != std::string::npos;
  };
}
Judge Reached(const char* listener) {
  return [listener](const World& world, const Trial&) { return world.Reached(listener); };
}
// For what leaves no trace: the helper says that the system call succeeded.
Judge Did(const char* verb) {
  return [said = std::string("did ") + verb](const World&, const Trial& run) {
    return run.output.find(said) != std::string::npos;
  };
}

// --- reading

void AddReading(Attempts& all) {
  all.push_back(
      {"ReadSshKey", "./attempt read {home}/.ssh/id_ed25519", "./attempt read ours", SecretSeen});
  all.push_back(
      {"ReadOtherProject", "cat {outside}/* >&2; ls {outside}", "cat ours; ls .", SecretSeen});
  all.push_back({"ListOutside", "./attempt list {outside}", "./attempt list .", SecretSeen});
  all.push_back({"ReadThroughSymlink", "ln -s {home}/.ssh/id_ed25519 key; cat key",
                 "ln -s ours link; cat link", SecretSeen});
  all.push_back({"ReadThroughDotDot", "cat ../home/.ssh/id_ed25519", "mkdir -p a; cat a/../ours",
                 SecretSeen});
  all.push_back({"ReadThroughOwnCwd", "cat /proc/self/cwd/../home/.ssh/id_ed25519",
                 "cat /proc/self/cwd/ours", SecretSeen});
  all.push_back({"LinkSecretIn", "ln {home}/.ssh/id_ed25519 key && cat key",
                 "ln ours key && cat key", SecretSeen});
  all.push_back({"MoveSecretIn", "mv {home}/.ssh/id_ed25519 key; cat key", "mv ours key; cat key",
                 SecretSeen});
  all.push_back({"ArchiveHome", "tar -cf - -C {home} .", "tar -cf - ours | tar -tf -", SecretSeen});
  all.push_back({"OpenByHandle",
                 "./attempt open-by-handle {home}/.ssh/id_ed25519",
                 "./attempt read ours",
                 SecretSeen,
                 {},
                 {},
                 Sandbox::kUnconfined,
                 /*root_only=*/true});
  all.push_back({"ReadShadow",
                 "./attempt read /etc/shadow",
                 "./attempt read /etc/passwd",
                 Did("read"),
                 {},
                 {},
                 Sandbox::kUnconfined,
                 /*root_only=*/true});
}

// --- writing

void AddWriting(Attempts& all) {
  all.push_back(
      {"CreateOutside", "./attempt create {outside}/new", "./attempt create new", Made("new")});
  all.push_back({"AppendToBashrc", "echo escaped >>{home}/.bashrc", "echo escaped >>ours",
                 TextHas("../home/.bashrc", "escaped")});
  // seccomp sees no paths: what Landlock does not know yet it refuses everywhere.
  constexpr int kTruncate = 3;
  // A Landlock without REFER lets nothing change its directory.
  constexpr int kRefer = 2;
  all.push_back({.name = "TruncateOutside",
                 .escape = "./attempt truncate {outside}/victim",
                 .twin = "./attempt truncate victim",
                 .escaped = TextIs("victim", ""),
                 .twin_from_abi = kTruncate});
  all.push_back({.name = "OpenTruncating",
                 .escape = "./attempt open-truncating {outside}/victim",
                 .twin = "./attempt open-truncating victim",
                 .escaped = TextIs("victim", ""),
                 .twin_from_abi = kTruncate});
  all.push_back({.name = "RenameOut",
                 .escape = "./attempt rename ours {outside}/new",
                 .twin = "./attempt rename ours empty/new",
                 .escaped = Made("new"),
                 .twin_from_abi = kRefer});
  all.push_back({"RenameOver", "./attempt rename victim {outside}/victim",
                 "./attempt rename ours victim", TextIs("victim", "ours\n")});
  all.push_back({"RenameIn", "./attempt rename {outside}/victim stolen",
                 "./attempt rename ours stolen", Gone("victim")});
  all.push_back({"Exchange", "./attempt exchange victim {outside}/victim",
                 "./attempt exchange victim ours", TextIs("victim", "ours\n")});
  all.push_back({"LinkAndWrite", "./attempt link-and-write {outside}/victim link",
                 "./attempt link-and-write victim link", TextHas("victim", "escaped")});
  all.push_back({.name = "LinkOut",
                 .escape = "ln ours {outside}/new",
                 .twin = "ln ours empty/new",
                 .escaped = Made("new"),
                 .twin_from_abi = kRefer});
  all.push_back({"SymlinkAndWrite", "./attempt symlink-and-write {outside}/victim",
                 "./attempt symlink-and-write victim", TextHas("victim", "escaped")});
  all.push_back({"SymlinkRace", "./attempt symlink-race {outside}", "./attempt symlink-race empty",
                 Made("raced")});
  all.push_back(
      {"Unlink", "./attempt unlink {outside}/victim", "./attempt unlink victim", Gone("victim")});
  all.push_back(
      {"MakeDirectory", "./attempt mkdir {outside}/new", "./attempt mkdir new", Made("new")});
  all.push_back({"RemoveDirectory", "./attempt rmdir {outside}/empty", "./attempt rmdir empty",
                 Gone("empty")});
  all.push_back(
      {"MakeFifo", "./attempt mkfifo {outside}/new", "./attempt mkfifo new", Made("new")});
  all.push_back(
      {"MakeSymlink", "./attempt symlink {outside}/new", "./attempt symlink new", Made("new")});
  all.push_back({"CreateInTmp", "./attempt create /tmp/{abstract}", "./attempt create $TMPDIR/new",
                 Appeared("/tmp/{abstract}")});
  all.push_back({"CreateInVarTmp", "./attempt create /var/tmp/{abstract}",
                 "./attempt create $TMPDIR/new", Appeared("/var/tmp/{abstract}")});
  all.push_back({"CreateInDevShm", "./attempt create /dev/shm/{abstract}",
                 "./attempt create $TMPDIR/new", Appeared("/dev/shm/{abstract}")});
  all.push_back({.name = "InheritedDescriptor",
                 .escape = "./attempt write-to-descriptor 20",
                 .twin = "./attempt write-to-descriptor 1",
                 .escaped = TextHas("inherited", "escaped"),
                 .off = Sandbox::kNone});
}

// --- what Landlock does not cover

void AddMetadata(Attempts& all) {
  all.push_back(
      {.name = "ChangeMode",
       .escape = "./attempt chmod {outside}/victim 0600",
       .twin = "./attempt chmod victim 0600",
       .escaped = [](const World& world,
                     const Trial&) { return (world.Status("victim").st_mode & 07777) == 0600; },
       .open_in_tier0 = true});
  all.push_back({.name = "ChangeTimes",
                 .escape = "./attempt utimens {outside}/victim",
                 .twin = "./attempt utimens victim",
                 .escaped = [](const World& world,
                               const Trial&) { return world.Status("victim").st_mtime == 1; },
                 .open_in_tier0 = true});
  all.push_back({.name = "ChangeOwner",
                 .escape = "./attempt chown {outside}/victim",
                 .twin = "./attempt chown victim",
                 .escaped = Did("chown"),
                 .root_only = true,
                 .open_in_tier0 = true});
  all.push_back({.name = "SeeOutside",
                 .escape = "test -e {outside}/victim && echo did see",
                 .twin = "test -e victim",
                 .escaped = Did("see"),
                 .open_in_tier0 = true});
  // What everybody may write to, its owner may change: here to the mode that it has.
  all.push_back({.name = "ChangeModeOfDevice",
                 .escape = "./attempt chmod /dev/zero 0666",
                 .twin = "echo >/dev/zero",
                 .escaped = Did("chmod"),
                 .root_only = true,
                 .open_in_tier0 = true});
  all.push_back({.name = "WatchWithInotify",
                 .escape = "./attempt inotify {outside}",
                 .twin = "./attempt inotify .",
                 .escaped = Did("inotify"),
                 .open_in_tier0 = true});
  all.push_back({.name = "SetAttribute",
                 .escape = "./attempt setxattr {outside}/victim",
                 .twin = "./attempt chmod victim 0600",
                 .escaped = Did("setxattr"),
                 .kernel_may_lack = true});
  all.push_back({"SetUserIdBit", "./attempt chmod attempt 4755", "./attempt chmod attempt 0700",
                 Did("chmod")});
  all.push_back({"SetGroupIdBit", "./attempt chmod attempt 2755", "./attempt chmod attempt 0700",
                 Did("chmod")});
  // A device that may be opened and nothing more.
  all.push_back({.name = "DeviceIoctl",
                 .escape = "./attempt ioctl {terminal} 0x5411",      // TIOCOUTQ
                 .twin = "./attempt ioctl /dev/urandom 0x80045200",  // RNDGETENTCNT
                 .escaped = Did("ioctl"),
                 .setting = {.policy = "filesystem: {read: [/dev]}\n"},
                 .open_below_abi = 5});  // in tier 1 the host's terminals are out of view
}

// --- what the user's next git command outside would execute

bool NextGitRunsIt(const World& world, const Trial&) { return world.NextGitRunsIt(); }

void AddProtectedPaths(Attempts& all) {
  // What the agent wants executed, and a repository that says so.
  constexpr std::string_view kEvil =
      "printf '#!/bin/sh\\ntouch {outside}/executed\\n' >evil; chmod +x evil; git init -q other; "
      "git -C other config core.fsmonitor $PWD/evil; ";
  // So that the lists of what git executes are tried in both tiers.
  static constexpr char kWritable[] = "git: {commands: write}\n";
  const auto way = [&](const char* name, const char* escape, const char* twin,
                       std::vector<std::vector<std::string>> git = {{"status"}},
                       Vector vector = Vector::kRecipe) {
    all.push_back({.name = name,
                   .escape = escape,
                   .twin = twin,
                   .escaped = NextGitRunsIt,
                   .setting = {.vector = vector, .policy = kWritable, .git = std::move(git)},
                   .off = Sandbox::kNone,
                   .before = kEvil});
  };
  // And one mount in place of the lists.
  const auto read_only = [&](const char* name, const char* escape, const char* twin) {
    way(name, escape, twin);
    all.back().setting.policy = "";
    all.back().twin_policy = kWritable;
  };
  read_only("GitReadOnlyHook", "cp evil .git/hooks/pre-commit", "cp evil .git/evil");
  read_only("GitReadOnlyMoved", "mv .git .git2; git init -q .; cp evil .git/hooks/pre-commit",
            "mv .git/objects .git/o; mv .git/o .git/objects");
  read_only(
      "GitReadOnlySubmodule",
      "git -C other -c user.name=a -c user.email=b commit -q --allow-empty -m x; git add other",
      "cp evil .git/evil");
  // The user's git works while the command does: what is undone afterwards was executed by then.
  read_only("GitHookMeanwhile", "cp evil .git/hooks/post-checkout; sleep 0.5", "cp evil .git/evil");
  all.back().escaped = [](const World& world, const Trial&) { return world.Exists("executed"); };
  all.back().open_in_tier0 = true;
  way("GitHookWritten", "cp evil .git/hooks/pre-commit", "cp evil build-hook");
  way("GitHookLinked", "ln evil .git/hooks/pre-commit", "ln evil build-hook");
  way("GitHookBySymlink", "ln -s ../../evil .git/hooks/pre-commit", "ln -s evil build-hook");
  way("GitHookRenamed", "mv evil .git/hooks/pre-commit", "mv evil build-hook");
  way("GitHooksReplaced", "mkdir h; cp evil h/pre-commit; rm -r .git/hooks; mv h .git/hooks",
      "mkdir h; mv h hooks");
  way("GitConfigChanged", "git config core.fsmonitor ./evil", "git config --list");
  way("GitMovedAside", "mv .git .git2; git init -q .; cp evil .git/hooks/pre-commit",
      "mv empty empty2; mkdir empty");
  way("GitReplacedBySymlink", "mv .git git; cp evil git/hooks/pre-commit; ln -s git .git",
      "mv empty empty2; ln -s empty2 empty");
  way("GitReplacedByLinkFile", "mv .git git; cp evil git/hooks/pre-commit; echo gitdir: git >.git",
      "echo gitdir: git >link");
  way("GitCommonDirectoryNamed", "echo ../other/.git >.git/commondir", "echo other >commondir");
  way("GitWorktreeRedirected", "echo $PWD/other/.git >.git/worktrees/tree/commondir",
      "echo free >tree/ours", {{"worktree", "add", "-q", "tree"}});
  way("GitHooksPathWritten", "mkdir -p .githooks; cp evil .githooks/pre-commit",
      "mkdir -p githooks; cp evil githooks/pre-commit",
      {{"config", "core.hooksPath", ".githooks"}});
  way("GitIncludeWritten", "printf '[core]\\nfsmonitor = ./evil\\n' >shared.config",
      "printf '[core]\\nfsmonitor = ./evil\\n' >other.config",
      {{"config", "include.path", "../shared.config"}});
  way("GitRepositoryMade", "git init -q .; cp evil .git/hooks/pre-commit", "git init -q empty", {});
  way("GitSubmoduleMade",
      "git -C other -c user.name=a -c user.email=b commit -q --allow-empty -m x; git add other",
      "git -C other status");
  way("GitIndexBySymlink",
      "git -C other -c user.name=a -c user.email=b commit -q --allow-empty -m x; git add other; "
      "mv .git/index idx; ln -s ../idx .git/index",
      "echo x >idx; ln -s idx link");
  way("GitLinkedIndexWritten",
      "git init -q tree/s; git -C tree/s -c user.name=a -c user.email=b commit -q --allow-empty -m "
      "x; git -C tree/s config core.fsmonitor $PWD/evil; git -C tree add s",
      "echo x >tree/file; git -C tree add file", {{"worktree", "add", "-q", "tree"}});
  way("GitRebaseStepAdded",
      "git -c user.name=a -c user.email=b -c sequence.editor='echo break >' rebase -q -i --root; "
      "echo exec $PWD/evil >>.git/rebase-merge/git-rebase-todo",
      "git -c user.name=a -c user.email=b -c sequence.editor='echo break >' rebase -q -i --root",
      {{"-c", "user.name=a", "-c", "user.email=b", "commit", "-q", "--allow-empty", "-m", "x"}});
  // The twin goes on with the rebase inside, by a strategy of git's.
  constexpr char kStop[] =
      "git -c user.name=a -c user.email=b commit -q --allow-empty -m x; echo 1 >f; git add f; "
      "git -c user.name=a -c user.email=b commit -q -m y; "
      "git -c user.name=a -c user.email=b -c sequence.editor='sed -i 1ibreak' rebase -q -i HEAD~1; "
      "mkdir git-merge-x; cp evil git-merge-x/evil; ";
  static const std::string kNames = std::string(kStop) + "echo x/evil >.git/rebase-merge/strategy";
  static const std::string kGoesOn =
      std::string(kStop) +
      "echo ort >.git/rebase-merge/strategy; git -c user.name=a -c user.email=b rebase --continue; "
      "test ! -e .git/rebase-merge";
  way("GitMergeStrategyNamed", kNames.c_str(), kGoesOn.c_str(),
      {{"-c", "user.name=a", "-c", "user.email=b", "commit", "-q", "--allow-empty", "-m", "z"}});
  constexpr char kConflict[] =
      "mkdir git-merge-x; cp evil git-merge-x/evil; export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=b "
      "GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=b GIT_EDITOR=true; for n in 1 2; do echo $n >f; "
      "git add f; git commit -q -m $n; done; git reset -q --hard HEAD~2; "
      "git cherry-pick ORIG_HEAD ORIG_HEAD~1 && exit 1; ";
  static const std::string kPicks =
      std::string(kConflict) + "git config -f .git/sequencer/opts options.strategy x/evil";
  static const std::string kPicksByOurs =
      std::string(kConflict) +
      "git config -f .git/sequencer/opts options.strategy ort; git add f; "
      "git cherry-pick --continue; test -e .git/sequencer";
  way("GitCherryPickStrategyNamed", kPicks.c_str(), kPicksByOurs.c_str(),
      {{"-c", "user.name=a", "-c", "user.email=b", "commit", "-q", "--allow-empty", "-m", "z"}});
  way("GitBelowHookWritten", "cp evil tree/.git/hooks/pre-commit", "cp evil tree/build-hook",
      {{"init", "-q", "tree"}});
  way("GitBelowConfigChanged", "git -C tree config core.fsmonitor $PWD/evil",
      "git -C tree config --list", {{"init", "-q", "tree"}});
  way("GitBelowReplaced",
      "mv tree/.git git; git init -q tree; git -C tree config core.fsmonitor $PWD/evil",
      "mv empty empty2; git init -q empty", {{"init", "-q", "tree"}});
  way("GitBelowMade", "git init -q tree; git -C tree config core.fsmonitor $PWD/evil",
      "git init -q tree; git -C tree -c user.name=a -c user.email=b commit -q --allow-empty -m x");
  way("GitBelowLinked", "mkdir tree; echo gitdir: ../other/.git >tree/.git",
      "mkdir tree; echo gitdir: ../other/.git >tree/link");
  way("GitBelowClosed",
      "git init -q tree; git -C tree config core.fsmonitor $PWD/evil; chmod 300 tree",
      "git init -q tree; chmod 300 tree");
  way("GitBelowManyHooks",
      "git init -q tree; cd tree/.git/hooks; touch $(seq -f a%g 1100); cp ../../../evil pre-commit",
      "git init -q tree; cd tree/.git; touch $(seq -f a%g 1100)");
  way("GitBelowInOwn", "mv other/.git .git/evil; mkdir tree; echo gitdir: ../.git/evil >tree/.git",
      "mv other/.git .git/evil; mkdir tree; echo gitdir: ../.git/evil >tree/link");
  // More than the guard can hold open; the last of them by name.
  std::vector<std::vector<std::string>> many;
  for (int i = 1; i <= 100; ++i) {
    many.push_back({"init", "-q", "--template=", "r" + std::to_string(i)});
  }
  way("GitBelowOneOfMany", "mv r99 tree; git -C tree config core.fsmonitor $PWD/evil",
      "cp evil r99/build-hook", std::move(many));
  way("GitConfigChangedByHook", "git config core.fsmonitor ./evil", "git config --list", {},
      Vector::kGitHook);
  // The user's next commit runs the hook, too, which does nothing then.
  const auto by_hook = [&](const char* name, const char* escape, const char* twin) {
    static std::list<std::string> kept;
    const auto once = [&](const char* command) {
      return kept.emplace_back("[ ! -e ran ] || exit 0; touch ran; " + std::string(kEvil) + command)
          .c_str();
    };
    way(name, once(escape), once(twin), {{"status"}}, Vector::kGitHook);
    all.back().before = {};
    // Also where it did not run in the sandbox, because nothing does: what the user's own commit
    // executes is no escape.
    all.back().escaped = [](const World& world, const Trial& run) {
      WriteText(world.project().root() / "ran", "");
      return NextGitRunsIt(world, run);
    };
  };
  by_hook("GitHookWrittenByHook", "cp evil .git/hooks/post-commit", "cp evil build-hook");
  by_hook("GitSubmoduleMadeByHook",
          "env -u GIT_INDEX_FILE git -C other -c user.name=a -c user.email=b commit -q "
          "--allow-empty -m x; git add other",
          "env -u GIT_INDEX_FILE git -C other status");
}

// --- what the user's next agent, editor or shell would execute by itself

void AddHostFiles(Attempts& all) {
  const auto way = [&](const char* name, const char* file, const char* escape, const char* twin,
                       std::vector<std::vector<std::string>> git = {},
                       Vector vector = Vector::kRecipe) {
    all.push_back(
        {.name = name,
         .escape = escape,
         .twin = twin,
         .escaped = [file](const World& world,
                           const Trial&) { return world.ProjectText(file).contains("escaped"); },
         .setting = {.vector = vector, .git = std::move(git)},
         .off = Sandbox::kNone});
  };
  // No mount keeps a file from being made: it is undone when the command has ended.
  all.push_back({.name = "HostServersMeanwhile",
                 .escape = "echo escaped >.mcp.json; sleep 0.5",
                 .twin = "echo free >mcp.json",
                 .escaped = TextHas("seen", "escaped"),
                 .off = Sandbox::kNone,
                 .open_in_tier0 = true,
                 .open_in_tier1 = true});
  way("HostServersNamed", ".mcp.json", "echo escaped >.mcp.json", "echo free >mcp.json");
  way("HostServersOfGemini", ".gemini/settings.json",
      "mkdir -p .gemini; echo escaped >.gemini/settings.json",
      "mkdir -p .gemini/skills/x; echo free >.gemini/skills/x/SKILL.md");
  way("HostHooksChanged", ".claude/settings.json", "echo escaped >>.claude/settings.json",
      "mkdir -p .claude/worktrees/x .claude/skills; echo free >.claude/worktrees/x/file");
  way("HostHooksReplaced", ".claude/settings.json",
      "echo escaped >new; mv -f new .claude/settings.json",
      "echo free >new; mv new .claude/notes.md");
  way("HostDirectoryReplaced", ".claude/settings.json",
      "mv .claude claude; mkdir .claude; echo escaped >.claude/settings.json",
      "mkdir claude; mv claude claude2");
  way("HostDirectoryLinked", ".vscode/tasks.json",
      "mkdir v; echo escaped >v/tasks.json; ln -s v .vscode",
      "mkdir -p node_modules/x/.vscode; echo free >node_modules/x/.vscode/tasks.json");
  way("HostTasksWritten", ".vscode/tasks.json", "mkdir .vscode; echo escaped >.vscode/tasks.json",
      "mkdir .vscode; echo free >.vscode/extensions.json");
  way("HostShellEntered", ".envrc", "echo escaped >.envrc", "echo free >.envrc.example");
  way("HostWorktreeEntered", "tree/.envrc", "echo escaped >tree/.envrc", "echo free >tree/ours",
      {{"worktree", "add", "-q", "tree"}});
  way("HostServersNamedByHook", ".mcp.json", "echo escaped >.mcp.json", "echo free >mcp.json", {},
      Vector::kGitHook);
}

// Each of these files by each way that a shell has to it; the twin does the same to one that no
// program executes, or that the policy gives up, and it stays.
void AddHostFilesByBash(Attempts& all) {
  const auto holds = [](const char* file, const char* text) {
    return [file, text](const World& world, const Trial&) {
      return world.ProjectText(file).contains(text);
    };
  };
  const auto way = [&](const char* name, const char* file, const char* escape, const char* free,
                       const char* twin, const char* policy = "") {
    all.push_back({.name = name,
                   .escape = escape,
                   .twin = twin,
                   .escaped = holds(file, "escaped"),
                   .setting = {.vector = Vector::kBash},
                   .twin_policy = policy,
                   .off = Sandbox::kNone,
                   .allowed = holds(free, "escaped")});
  };
  way("BashNamesServers", ".mcp.json", "echo escaped >.mcp.json", "node_modules/x/.mcp.json",
      "mkdir -p node_modules/x; echo escaped >node_modules/x/.mcp.json");
  way("BashNamesServersOfGemini", ".gemini/settings.json",
      "mkdir -p .gemini; echo escaped >.gemini/settings.json",
      "node_modules/x/.gemini/settings.json",
      "mkdir -p node_modules/x/.gemini; echo escaped >node_modules/x/.gemini/settings.json");
  way("BashChangesHooks", ".claude/settings.json", "echo escaped >.claude/settings.json",
      ".claude/settings.json", "echo escaped >.claude/settings.json",
      "filesystem: {unprotect: [.claude/settings.json]}\n");
  way("BashWritesTasks", ".vscode/tasks.json", "mkdir .vscode; echo escaped >.vscode/tasks.json",
      ".vscode/tasks.json", "mkdir .vscode; echo escaped >.vscode/tasks.json",
      "filesystem: {unprotect: [.vscode/tasks.json]}\n");
  way("BashWritesEnvrc", ".envrc", "echo escaped >.envrc", ".envrc", "echo escaped >.envrc",
      "filesystem: {unprotect: [.envrc]}\n");
  way("BashMovesOver", ".claude/settings.json",
      "echo escaped >new; mv -f new .claude/settings.json", ".claude/notes.md",
      "echo free >.claude/notes.md; echo escaped >new; mv -f new .claude/notes.md");
  way("BashRemovesAndMakes", ".claude/settings.json",
      "rm -f .claude/settings.json; echo escaped >.claude/settings.json", "victim",
      "rm -f victim; echo escaped >victim");
  way("BashWritesALink", ".claude/settings.json",
      "ln .claude/settings.json link; echo escaped >>link", "victim",
      "ln victim link; echo escaped >>link");
  way("BashLinksIn", ".envrc", "echo escaped >new; ln new .envrc", ".envrc.example",
      "echo escaped >new; ln new .envrc.example");
  way("BashPutsASymlink", ".claude/settings.json",
      "echo escaped >new; ln -sf ../new .claude/settings.json", ".claude/notes.md",
      "echo escaped >new; ln -sf ../new .claude/notes.md");
  way("BashReplacesTheDirectory", ".claude/settings.json",
      "mv .claude claude; mkdir .claude; echo escaped >.claude/settings.json", "empty/a",
      "mv empty empty2; mkdir empty; echo escaped >empty/a");
  way("BashExchangesTheDirectory", ".claude/settings.json",
      "mkdir new; echo escaped >new/settings.json; ./attempt exchange new .claude", "empty/a",
      "mkdir new; echo escaped >new/a; ./attempt exchange new empty");
  way("BashMovesADirectoryIn", ".vscode/tasks.json",
      "mkdir new; echo escaped >new/tasks.json; mv new .vscode",
      "node_modules/x/.vscode/tasks.json",
      "mkdir -p new node_modules/x; echo escaped >new/tasks.json; mv new node_modules/x/.vscode");
  way("BashCopiesADirectory", ".claude/settings.json",
      "mkdir -p new/.claude; echo escaped >new/.claude/settings.json; cp -a new/. .",
      "empty/settings.json",
      "mkdir -p new/empty; echo escaped >new/empty/settings.json; cp -a new/. .");
  way("BashFillsADirectoryOfHooks", ".claude/hooks/start.sh",
      "mkdir .claude/hooks; echo escaped >.claude/hooks/start.sh", ".claude/skills/start.sh",
      "mkdir .claude/skills; echo escaped >.claude/skills/start.sh");
  // A call chooses its directory, and may do so within what is protected.
  way("BashInTheMidst", ".claude/settings.json",
      "[ ! -d .claude ] || cd .claude; echo escaped >settings.json", ".claude/notes.md",
      "echo escaped >notes.md");
  all.back().setting.directory = ".claude";
  way("BashInADirectoryOfHooks", ".gemini/hooks/start.sh",
      "[ ! -d .gemini ] || cd .gemini/hooks; echo escaped >start.sh", ".gemini/hooks/start.sh",
      "echo escaped >start.sh", "filesystem: {unprotect: [.gemini/hooks]}\n");
  all.back().setting.directory = ".gemini/hooks";
}

// --- other ways to be run: each must end as a recipe would

void AddVectors(Attempts& all) {
  constexpr std::string_view kRead = "./attempt read {home}/.ssh/id_ed25519";
  all.push_back({.name = "DiscoveryReadsSecret",
                 .escape = kRead,
                 .twin = "./attempt read ours",
                 .escaped = SecretSeen,
                 .setting = {.vector = Vector::kDiscovery}});
  all.push_back({.name = "DiscoveryWritesProject",
                 .escape = "echo changed >victim",
                 .twin = "echo changed >victim",
                 .escaped = TextIs("../project/victim", "changed\n"),
                 .setting = {.vector = Vector::kDiscovery}});
  all.push_back({.name = "DiscoveryRemakesInclude",
                 .escape = "echo changed >victim",
                 .twin = "echo changed >victim",
                 .escaped = TextIs("../project/victim", "changed\n"),
                 .setting = {.vector = Vector::kInclude}});
  all.push_back({.name = "DiscoveryConnects",
                 .escape = "./attempt tcp {tcp}",
                 .twin = "./attempt tcp {tcp}",
                 .escaped = Reached("tcp"),
                 .setting = {.vector = Vector::kDiscovery, .policy = "network: full\n"}});
  all.push_back({.name = "DiscoveryLeavesDaemon",
                 .escape = "./attempt double-fork",
                 .twin = "sleep 0.1 & wait",
                 .escaped = LeftBehind,
                 .setting = {.vector = Vector::kDiscovery},
                 .off = Sandbox::kNone});
  all.push_back({.name = "DryRunWritesProject",
                 .escape = "echo changed >victim",
                 .twin = "echo changed >victim",
                 .escaped = TextIs("../project/victim", "changed\n"),
                 .setting = {.vector = Vector::kDryRun}});
  all.push_back({.name = "DryRunChangesMode",
                 .escape = "chmod 0600 victim",
                 .twin = "chmod 0600 victim",
                 .escaped =
                     [](const World& world, const Trial&) {
                       return (world.Status("../project/victim").st_mode & 07777) == 0600;
                     },
                 .setting = {.vector = Vector::kDryRun}});
  all.push_back({.name = "GitHookReadsSecret",
                 .escape = "./attempt read {home}/.ssh/id_ed25519; exit 1",
                 .twin = "./attempt read ours",
                 .escaped = SecretSeen,
                 .setting = {.vector = Vector::kGitHook}});
  all.push_back({.name = "GitHookWritesOutside",
                 .escape = "./attempt create {outside}/new",
                 .twin = "./attempt create new",
                 .escaped = Made("new"),
                 .setting = {.vector = Vector::kGitHook}});
  all.push_back({.name = "GitHookLeavesDaemon",
                 .escape = "./attempt ignore-signals",
                 .twin = "sleep 0.1 & wait",
                 .escaped = LeftBehind,
                 .setting = {.vector = Vector::kGitHook},
                 .off = Sandbox::kNone});
  all.push_back({.name = "GitFilterWritesOutside",
                 .escape = "./attempt create {outside}/new",
                 .twin = "./attempt create new",
                 .escaped = Made("new"),
                 .setting = {.vector = Vector::kGitFilter}});
  all.push_back({.name = "GitHookRunsThoughSkipped",
                 .escape = "echo changed >victim",
                 .twin = "echo changed >victim",
                 .escaped = TextIs("../project/victim", "changed\n"),
                 .setting = {.vector = Vector::kGitHook, .policy = "git: {hooks: skip}\n"},
                 .off = Sandbox::kNone});
  all.push_back({.name = "GitFilterRunsThoughSkipped",
                 .escape = "echo changed >victim",
                 .twin = "echo changed >victim",
                 .escaped = TextIs("../project/victim", "changed\n"),
                 .setting = {.vector = Vector::kGitFilter, .policy = "git: {hooks: skip}\n"},
                 .off = Sandbox::kNone});
}

void AddEnvironment(Attempts& all) {
  all.push_back({.name = "SecretInEnvironment",
                 .escape = "env",
                 .twin = "test -n \"$PATH\" && test -n \"$HOME\"",
                 .escaped = SecretSeen,
                 .off = Sandbox::kNone});
  all.push_back(
      {.name = "MakeFlagsFromServer",
       .escape = "true",
       .twin = "make --version",
       .escaped = TextHas("inherited", "escaped"),
       .setting = {.server_environment =
                       {"MAKEFLAGS=--eval=$$(shell\\ ./attempt\\ write-to-descriptor\\ 20)"}},
       .off = Sandbox::kNone});
  all.push_back({.name = "GitVariablesFromServer",
                 .escape = "env | grep ^GIT_SSH_COMMAND= && echo did inherit",
                 .twin = "git --version",
                 .escaped = Did("inherit"),
                 .setting = {.server_environment = {"GIT_SSH_COMMAND=sh -c true"}},
                 .off = Sandbox::kNone});
  all.push_back({.name = "PreloadFromServer",
                 .escape = "env | grep ^LD_LIBRARY_PATH= && echo did inherit",
                 .twin = "env",
                 .escaped = Did("inherit"),
                 .setting = {.server_environment = {"LD_LIBRARY_PATH=/nonexistent"}},
                 .off = Sandbox::kNone});
}

// --- the network

void AddNetwork(Attempts& all) {
  const auto inet = [&](const char* name, std::string_view escape, const char* listener) {
    all.push_back({.name = name,
                   .escape = escape,
                   .twin = escape,
                   .escaped = Reached(listener),
                   .twin_policy = "network: full\n"});
  };
  inet("Tcp", "./attempt tcp {tcp}", "tcp");
  inet("Tcp6", "./attempt tcp6 {tcp6}", "tcp6");
  inet("Udp", "./attempt udp {udp}", "udp");
  inet("TcpFastOpen", "./attempt tcp-fast-open {tcp}", "tcp");
  all.push_back({.name = "TcpWithGnuTools",
                 .escape = "bash -c 'echo escaped >/dev/tcp/127.0.0.1/{tcp}'",
                 .twin = "bash -c 'echo escaped >/dev/tcp/127.0.0.1/{tcp}'",
                 .escaped = Reached("tcp"),
                 .twin_policy = "network: full\n"});
  all.push_back({.name = "MultipathTcp",
                 .escape = "./attempt mptcp {tcp}",
                 .twin = "./attempt tcp {tcp}",
                 .escaped = Reached("tcp"),
                 .twin_policy = "network: full\n",
                 .kernel_may_lack = true});
  all.push_back({.name = "MultipathTcpThoughTcpIsGranted",
                 .escape = "./attempt mptcp {tcp}",
                 .twin = "./attempt tcp {tcp}",
                 .escaped = Reached("tcp"),
                 .setting = {.policy = "network: full\n"},
                 .kernel_may_lack = true});
  all.push_back({.name = "Listen",
                 .escape =
                     "./attempt listen port & while ! test -s port && kill -0 $!; do :; done; "
                     "bash -c \": </dev/tcp/127.0.0.1/$(cat port)\"; wait $!",
                 .twin = "./attempt listen port & while ! test -s port && kill -0 $!; do :; done; "
                         "bash -c \": </dev/tcp/127.0.0.1/$(cat port)\"; wait $!",
                 .escaped = Did("listen"),
                 .twin_policy = "network: full\n"});
  const auto family = [&](const char* name, std::string_view escape, const char* verb,
                          bool root_only) {
    all.push_back({.name = name,
                   .escape = escape,
                   .twin = "./attempt stream-pair",
                   .escaped = Did(verb),
                   .root_only = root_only,
                   .kernel_may_lack = true});
  };
  family("RawSocket", "./attempt raw-socket", "raw-socket", true);
  family("PacketSocket", "./attempt packet-socket", "packet-socket", true);
  family("VirtualMachineSocket", "./attempt vsock", "vsock", false);
  family("CryptoSocket", "./attempt alg", "alg", false);
  family("NetlinkUevent", "./attempt netlink 15", "netlink", false);
  family("NetlinkGeneric", "./attempt netlink 16", "netlink", false);
  all.push_back({"UnixPathSocket", "./attempt unix-path {socket}", "./attempt stream-pair",
                 Reached("socket")});
  all.push_back({"UnixAbstractSocket", "./attempt unix-abstract {abstract}",
                 "./attempt stream-pair", Reached("abstract")});
  // A command that reaches the server that confines it can approve its own calls. Each way there.
  const auto own = [&](const char* name, const char* policy) {
    all.push_back(
        {.name = name,
         .escape = "./attempt own-socket {outside}/own",
         .twin = "./attempt stream-pair",
         .escaped = [](const World&,
                       const Trial& run) { return run.output.find("served") != std::string::npos; },
         .setting = {.policy = policy, .listen = "unix:{outside}/own"}});
  };
  own("OwnSocket", "");
  own("OwnSocketInAGrant", "filesystem: {read: [\"{outside}\"]}\n");
  own("OwnSocketGranted", "filesystem: {read: [\"{outside}/own\"]}\n");
  own("OwnSocketWithFullNetwork", "filesystem: {read: [\"{outside}\"]}\nnetwork: full\n");
  all.push_back({.name = "OwnTokens",
                 .escape = "cat {home}/.local/state/project-actions/tokens/tokens.json",
                 .twin = "cat {home}/.bashrc",
                 .escaped = SecretSeen,
                 .setting = {.policy = "filesystem: {read: [\"{home}/.local\"]}\n", .tokens = true},
                 .twin_policy = "filesystem: {read: [\"{home}/.bashrc\"]}\n",
                 .off = Sandbox::kNone});
  all.push_back({"UnixDatagramPair", "./attempt datagram-pair {datagram}", "./attempt stream-pair",
                 Reached("datagram")});
}

// --- other processes. SIGURG (23), because whoever does not expect it ignores it.

// Until Landlock scopes them, every single process of the user can be signalled.
constexpr int kScopes = 6;

void AddProcesses(Attempts& all) {
  const auto signalled = [&](const char* name, std::string_view escape, std::string_view twin,
                             int open_below_abi = kScopes) {
    all.push_back({.name = name,
                   .escape = escape,
                   .twin = twin,
                   .escaped = BystanderSignalled,
                   .open_below_abi = open_below_abi});
  };
  const auto answered = [&](const char* name, std::string_view escape, std::string_view twin) {
    all.push_back({.name = name,
                   .escape = escape,
                   .twin = twin,
                   .escaped = Did("kill"),
                   .open_below_abi = kScopes});
  };
  constexpr std::string_view kOwnChild = "sleep 9 & ./attempt kill $! 23 && kill $!";
  signalled("SignalBystander", "./attempt kill {bystander} 23", kOwnChild);
  signalled("SignalEverybody", "./attempt kill -1 23", kOwnChild, 0);  // seccomp refuses it
  signalled("SignalByQueue", "./attempt sigqueue {bystander} 23",
            "sleep 9 & ./attempt sigqueue $! 23 && kill $!");
  signalled("SignalThread", "./attempt tgkill {bystander} 23",
            "sleep 9 & ./attempt tgkill $! 23 && kill $!");
  signalled("SignalByPidfd", "./attempt pidfd-kill {bystander} 23",
            "sleep 9 & ./attempt pidfd-kill $! 23 && kill $!");
  signalled("SignalAsOwner", "./attempt owner-signal {bystander} 23",
            "sleep 9 & ./attempt owner-signal $! 23 && kill $!");
  answered("SignalServer", "./attempt kill {server} 23", kOwnChild);
  // The first process of a pid namespace hears nothing from within, not even SIGKILL
  // (pid_namespaces(7)).
  answered("SignalGuardian",
           "guardian=$(sed 's/.*) . //; s/ .*//' /proc/$PPID/stat); "
           "./attempt kill $guardian 23 >said && [ $guardian != 1 ] && cat said",
           kOwnChild);
  answered("SignalLauncher",
           "for file in $(grep -ls pa-launcher /proc/[0-9]*/comm); do pid=${file#/proc/}; "
           "./attempt kill ${pid%/comm} 23; done",
           kOwnChild);
  all.push_back({"Trace", "./attempt trace {bystander} {address}", "./attempt trace-child",
                 BystanderChanged});
  all.push_back({"ReadMemory", "./attempt read-memory {bystander} {address}",
                 "./attempt trace-child", SecretSeen});
  all.push_back({"ReadMemoryFile", "./attempt read-memory-file {bystander} {address}",
                 "./attempt read /proc/self/status", SecretSeen});
  all.push_back({"BystanderEnvironment", "cat /proc/{bystander}/environ", "cat /proc/self/environ",
                 SecretSeen});
  all.push_back(
      {"ServerEnvironment", "cat /proc/{server}/environ", "cat /proc/self/environ", SecretSeen});
  all.push_back(
      {"BystanderDescriptors", "cat /proc/{bystander}/fd/3", "cat /proc/self/fd/0", SecretSeen});
  all.push_back({"BystanderRoot", "cat /proc/{bystander}/root{home}/.ssh/id_ed25519",
                 "cat /proc/self/root{project}/ours", SecretSeen});
  all.push_back(
      {"BystanderDirectory", "ls /proc/{bystander}/cwd/", "ls /proc/self/cwd/", SecretSeen});
  all.push_back(
      {"LimitBystander", "./attempt limit-other {bystander}", "ulimit -c 0", Did("limit-other")});
  // What the server's own processes lose they never get back, and every later call inherits it.
  for (auto [name, escape, verb, twin] :
       {std::tuple("ReniceBystander", "./attempt renice {bystander}", "renice",
                   "nice ./attempt renice 0"),
        std::tuple("ReniceServer", "./attempt renice {server}", "renice", "./attempt renice 0"),
        std::tuple("PinBystander", "./attempt pin {bystander}", "pin", "./attempt pin 0"),
        std::tuple("PinServer", "./attempt pin {server}", "pin", "./attempt pin 0"),
        std::tuple("IdleBystander", "./attempt idle {bystander}", "idle", "./attempt idle 0"),
        std::tuple("IdleInputBystander", "./attempt idle-input {bystander}", "idle-input",
                   "./attempt idle-input 0")}) {
    all.push_back({name, escape, twin, Did(verb)});
  }
  all.push_back({.name = "CommandLineOfBystander",
                 .escape = "grep -q id_ed25519 /proc/{bystander}/cmdline && echo did see",
                 .twin = "grep -q cmdline /proc/self/cmdline",
                 .escaped = Did("see"),
                 .open_in_tier0 = true});
  all.push_back(
      {.name = "MessageQueue",
       .escape = "./attempt message-queue {key}",
       .twin = "./attempt stream-pair",
       .escaped = [](const World& world, const Trial&) { return world.MessageReceived(); },
       .open_in_tier0 = true});
  all.push_back({"SharedMemory", "./attempt shared-memory {key}", "./attempt stream-pair",
                 [](const World& world, const Trial&) { return world.SharedMemoryChanged(); }});
  all.push_back({.name = "WriteTerminal",
                 .escape = "./attempt write-terminal",
                 .twin = "echo to the client",
                 .escaped = TerminalTouched,
                 .off = Sandbox::kNone});
  all.push_back({.name = "StuffTerminal",
                 .escape = "./attempt stuff-terminal",
                 .twin = "echo to the client",
                 .escaped = TerminalTouched,
                 .off = Sandbox::kNone,
                 .kernel_may_lack = true});
}

// --- what will not end

void AddSurvivors(Attempts& all) {
  for (auto [name, escape] :
       {std::pair("Setsid", "./attempt setsid"), std::pair("DoubleFork", "./attempt double-fork"),
        std::pair("IgnoreSignals", "./attempt ignore-signals"),
        std::pair("HoldOutput", "./attempt hold-output"), std::pair("Stopped", "./attempt stopped"),
        std::pair("Relay", "./attempt relay"), std::pair("Nohup", "nohup sleep 60 & sleep 0.1")}) {
    all.push_back({.name = name,
                   .escape = escape,
                   .twin = "sleep 0.1 & wait",
                   .escaped = LeftBehind,
                   .off = Sandbox::kNone});
  }
}

// --- the kernel's surface

void AddKernel(Attempts& all) {
  const auto call = [&](const char* name, std::string_view escape, const char* verb,
                        std::string_view twin) { all.push_back({name, escape, twin, Did(verb)}); };
  const auto as_root = [&](const char* name, std::string_view escape, const char* verb,
                           std::string_view twin) {
    all.push_back(
        {.name = name, .escape = escape, .twin = twin, .escaped = Did(verb), .root_only = true});
  };
  const auto optional = [&](const char* name, std::string_view escape, const char* verb) {
    all.push_back({.name = name,
                   .escape = escape,
                   .twin = "./attempt read ours",
                   .escaped = Did(verb),
                   .kernel_may_lack = true});
  };
  as_root("Mount", "./attempt mount {project}/empty", "mount", "ls empty");
  as_root("NewMountApi", "./attempt fsopen", "fsopen", "ls empty");
  as_root("OpenTree", "./attempt open-tree {outside}", "open-tree", "ls empty");
  as_root("MountNamespace", "./attempt mount-namespace", "mount-namespace", "sh -c true");
  as_root("JoinNamespace", "./attempt setns self", "setns", "sh -c true");
  as_root("Chroot", "./attempt chroot {project}", "chroot", "cd {project}");
  as_root("Bpf", "./attempt bpf", "bpf", "./attempt read ours");
  optional("UserNamespace", "./attempt user-namespace", "user-namespace");
  optional("CloneNamespace", "./attempt clone-namespace", "clone-namespace");
  optional("Clone3Namespace", "./attempt clone3", "clone3");
  optional("Keyring", "./attempt keyring", "keyring");
  optional("IoUring", "./attempt io-uring", "io-uring");
  optional("AsynchronousIo", "./attempt io-setup", "io-setup");
  all.push_back({.name = "LeaseFile",
                 .escape = "./attempt lease ours",
                 .twin = "./attempt lock ours",
                 .escaped = Did("lease")});
  all.push_back({.name = "WatchWithDnotify",
                 .escape = "./attempt dnotify .",
                 .twin = "./attempt inotify .",
                 .escaped = Did("dnotify"),
                 .kernel_may_lack = true});
  all.push_back({.name = "LineDiscipline",
                 .escape = "./attempt line-discipline",
                 .twin = "./attempt stream-pair",
                 .escaped = Did("line-discipline"),
                 .kernel_may_lack = true});
  // Of the whole machine; in tier 0 /proc is everybody's.
  all.push_back({.name = "PageCounts",
                 .escape = "./attempt read /proc/kpagecount",
                 .twin = "./attempt read /proc/meminfo",
                 .escaped = Did("read"),
                 .root_only = true,
                 .open_in_tier0 = true,
                 .kernel_may_lack = true});
  optional("Perf", "./attempt perf", "perf");
  optional("UserFault", "./attempt userfaultfd", "userfaultfd");
  call("ModifyLdt", "./attempt modify-ldt", "modify-ldt", "./attempt read ours");
  optional("Int80", "./attempt int80", "int80");
  optional("X32", "./attempt x32", "x32");
}

// --- privileges

void AddPrivileges(Attempts& all) {
  all.push_back({.name = "GainByExecution",
                 .escape = "./attempt may-gain-by-execution",
                 .twin = "./attempt read ours",
                 .escaped = Did("may-gain-by-execution"),
                 .off = Sandbox::kNone,
                 .kernel_may_lack = true});  // or the tests run where nobody gains anything
  all.push_back({.name = "SetHostName",
                 .escape = "./attempt set-host-name",
                 .twin = "uname -n",
                 .escaped = Did("set-host-name"),
                 .root_only = true});
}

// --- limits

void AddLimits(Attempts& all) {
  all.push_back({.name = "ForkBomb",
                 .escape = "./attempt fork 300",
                 .twin = "./attempt fork 5",
                 .escaped = Did("fork"),
                 .setting = {.policy = "limits: {processes: 60}\n"},
                 .off = Sandbox::kNone});
  all.push_back({.name = "Memory",
                 .escape = "./attempt allocate 200",
                 .twin = "./attempt allocate 8",
                 .escaped = Did("allocate"),
                 .setting = {.policy = "limits: {memory: 64MiB}\n"},
                 .off = Sandbox::kNone});
  all.push_back({.name = "OpenFiles",
                 .escape = "./attempt open-many 200",
                 .twin = "./attempt open-many 20",
                 .escaped = Did("open-many"),
                 .setting = {.policy = "limits: {open_files: 64}\n"}});
  all.push_back({.name = "FileSize",
                 .escape = "./attempt grow big 9",
                 .twin = "./attempt grow big 1",
                 .escaped = Did("grow"),
                 .setting = {.policy = "limits: {file_size: 4MiB}\n"}});
  all.push_back({.name = "CpuTime",
                 .escape = "./attempt burn 2",
                 .twin = "./attempt burn 0",
                 .escaped = Did("burn"),
                 .setting = {.policy = "limits: {cpu_time: 1s}\n"},
                 .off = Sandbox::kNone});
  all.push_back({.name = "FillDisk",
                 .escape = "./attempt grow a 3 && ./attempt grow b 3 && echo did fill",
                 .twin = "./attempt grow a 3",
                 .escaped = Did("fill"),
                 .setting = {.policy = "limits: {file_size: 4MiB}\n"},
                 .open_in_tier0 = true,
                 .open_in_tier1 = true});
  all.push_back({.name = "CpuTimeOfMany",
                 .escape = "for i in 1 2 3; do ./attempt burn 1; done; echo did outlast",
                 .twin = "./attempt burn 0",
                 .escaped = Did("outlast"),
                 .setting = {.policy = "limits: {cpu_time: 2s}\n"},
                 .open_in_tier0 = true,
                 .open_in_tier1 = true});
  all.push_back({.name = "MemoryWithoutMapping",
                 .escape = "./attempt fill-memfd 100",
                 .twin = "./attempt fill-memfd 1",
                 .escaped = Did("fill-memfd"),
                 .setting = {.policy = "limits: {memory: 64MiB}\n"},
                 .open_in_tier0 = true,
                 .open_in_tier1 = true});
  all.push_back({.name = "TwoProcessors",
                 .escape = "./attempt burn 1 & ./attempt burn 1; wait",
                 .twin = "./attempt burn 0",
                 .escaped = Did("burn"),
                 .open_in_tier0 = true,
                 .open_in_tier1 = true});
  all.push_back({.name = "WallTime",
                 .escape = "sleep 2; echo did wait",
                 .twin = "sleep 0.1",
                 .escaped = Did("wait"),
                 .setting = {.policy = "limits: {wall_time: 1s}\n"},
                 .off = Sandbox::kNone});
}

}  // namespace

Attempts AllAttempts() {
  Attempts all;
  AddReading(all);
  AddWriting(all);
  AddMetadata(all);
  AddProtectedPaths(all);
  AddHostFiles(all);
  AddHostFilesByBash(all);
  AddVectors(all);
  AddEnvironment(all);
  AddNetwork(all);
  AddProcesses(all);
  AddSurvivors(all);
  AddKernel(all);
  AddPrivileges(all);
  AddLimits(all);
  return all;
}

}  // namespace pa::testing
