#include "supervisor/cli/completions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <utility>

#include "base/try.h"

namespace pa {
namespace {

// A subcommand by the words that lead to it: `policy check`; the program itself has none.
struct Command {
  std::string path;
  const CommandHelp* help;
};

void Flatten(const CommandHelp& command, const std::string& path, std::vector<Command>* out) {
  out->push_back({path, &command});
  for (const CommandHelp& sub : command.subcommands) {
    Flatten(sub, path.empty() ? sub.name : path + " " + sub.name, out);
  }
}

struct Table {
  std::vector<Command> commands;
  const CompletedValues& values;

  // Complete checks that there is one.
  const CompletedValue& Of(const OptionHelp& option) const { return values.at(option.value); }
};

Result<void> Complete(const Table& table) {
  for (const Command& command : table.commands) {
    for (const auto* list : {&command.help->options, &command.help->arguments}) {
      for (const OptionHelp& option : *list) {
        if (option.value.empty() || table.values.contains(option.value)) continue;
        return std::unexpected(
            Error("complete " + option.value, "add to make_completions.cc what may stand for it"));
      }
    }
  }
  return {};
}

std::string WordList(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

std::string SubcommandNames(const CommandHelp& command) {
  std::vector<std::string> names;
  for (const CommandHelp& sub : command.subcommands) names.push_back(sub.name);
  return WordList(names);
}

std::string Replaced(std::string_view text, char wanted, std::string_view by) {
  std::string out;
  for (const char c : text) out += c == wanted ? by : std::string_view(&c, 1);
  return out;
}

// For bash and zsh, in which nothing within single quotes has a meaning.
std::string ShellQuoted(std::string_view text) {
  return "'" + Replaced(text, '\'', R"('\'')") + "'";
}

// ---- bash ----

constexpr char kBashNames[] =
    R"sh(# Completions of project-actions for bash, made of its table of options.

# What may stand after the subcommand $1: sets subcommands and options.
_project_actions_names() {
    case $1 in
)sh";

constexpr char kBashValues[] = R"sh(    esac
}

# Sets kind and words of a value: of the option $2 of the subcommand $1,
# or of its argument number $2.
_project_actions_value() {
    kind=none words=
    case "$1 $2" in
)sh";

constexpr char kBashEngine[] = R"sh(    esac
}

# Sets places: the options so far that say where the program looks.
_project_actions_places() {
    local i word
    places=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        [[ $word == --root || $word == --policy || $word == --worker ]] || continue
        [[ ${COMP_WORDS[i + 1]} != = ]] || ((++i))
        ((i + 1 >= COMP_CWORD)) || places+=("$word" "${COMP_WORDS[++i]}")
    done
}

# Prints a JSON object for each make target with a plain name, as arguments of make.
_project_actions_targets() {
    local line
    while IFS= read -r line; do
        [[ $line != 'refused: '* && ${line%%: *} =~ ^[A-Za-z0-9_][A-Za-z0-9_./+@%-]*$ ]] || continue
        printf '{"target":"%s"}\n' "${line%%: *}"
    done < <("${COMP_WORDS[0]}" call make_targets "$@" </dev/null 2>/dev/null)
}

_project_actions_trash_ids() {
    local id rest
    while read -r id rest; do
        [[ ! $id =~ ^[0-9]{8}-[0-9]{6}-[0-9a-f]+$ ]] || printf '%s\n' "$id"
    done < <("${COMP_WORDS[0]}" trash list "$@" </dev/null 2>/dev/null)
}

_project_actions() {
    local current=${COMP_WORDS[COMP_CWORD]} command= option= arguments=0 first=
    local subcommands= options= kind= words= rest= word i quote="'"
    local -a places
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        _project_actions_names "$command"
        if [[ $word == = ]]; then
            continue # bash takes --root=DIR for three words
        elif [[ -n $option ]]; then
            option=
        elif [[ $word == -* ]]; then
            _project_actions_value "$command" "$word"
            [[ $kind == none ]] || option=$word
        elif [[ " $subcommands " == *" $word "* ]]; then
            command=${command:+$command }$word
        else
            ((++arguments))
            first=${first:-$word}
        fi
    done
    [[ $current != = ]] || current=
    _project_actions_names "$command"
    if [[ -n $option ]]; then
        _project_actions_value "$command" "$option"
    elif [[ $current == -* ]]; then
        kind=word words=$options
    elif [[ -n $subcommands ]]; then
        kind=word words=$subcommands
    else
        _project_actions_value "$command" $((arguments + 1))
        [[ $kind != none ]] || kind=word words=$options
    fi
    COMPREPLY=()
    case $kind in
        word) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current") ;;
        directory | file | word_or_file)
            compopt -o filenames
            [[ $kind != directory ]] || mapfile -t COMPREPLY < <(compgen -d -- "$current")
            [[ $kind == directory ]] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current"
                compgen -f -- "$current")
            ;;
        make_arguments)
            [[ $first == make ]] || return
            _project_actions_places
            # The line gets them in quotes, of which the first may be there already.
            [[ $current != "$quote"* ]] || quote=
            while IFS= read -r word; do
                word=$quote$word$quote
                [[ $word != "${current#"'"}"* ]] || COMPREPLY+=("$word")
            done < <(_project_actions_targets "${places[@]}")
            ;;
        trash_id)
            _project_actions_places
            mapfile -t COMPREPLY < <(compgen -W "$(_project_actions_trash_ids "${places[@]}")" \
                -- "$current")
            ;;
        word_list)
            compopt -o nospace
            [[ $current != *,* ]] || rest=${current%,*},
            words=" $words "
            for word in ${rest//,/ }; do words=${words/ $word / }; done
            mapfile -t COMPREPLY < <(compgen -P "$rest" -W "$words" -- "${current##*,}")
            ;;
    esac
}
complete -F _project_actions project-actions
)sh";

std::string_view BashKind(ValueKind kind) {
  switch (kind) {
    case ValueKind::kFile:
      return "file";
    case ValueKind::kDirectory:
      return "directory";
    case ValueKind::kWord:
      return "word";
    case ValueKind::kWordOrFile:
      return "word_or_file";
    case ValueKind::kWordList:
      return "word_list";
    case ValueKind::kMakeArguments:
      return "make_arguments";
    case ValueKind::kTrashId:
      return "trash_id";
    case ValueKind::kAnything:
      break;
  }
  return "anything";
}

std::string BashValue(const std::string& pattern, const CompletedValue& value) {
  std::string line = fmt::format("        {}) kind={}", pattern, BashKind(value.kind));
  if (!value.words.empty()) line += " words=" + ShellQuoted(WordList(value.words));
  return line + " ;;\n";
}

std::string Bash(const Table& table) {
  std::string names;
  std::string values;
  for (const auto& [path, command] : table.commands) {
    std::vector<std::string> options;
    for (const OptionHelp& option : command->options) {
      for (const std::string& name : option.names) {
        options.push_back(name);
        if (option.value.empty()) continue;
        values += BashValue(ShellQuoted(path + " " + name), table.Of(option));
      }
    }
    names += fmt::format("        {}) subcommands={} options={} ;;\n", ShellQuoted(path),
                         ShellQuoted(SubcommandNames(*command)), ShellQuoted(WordList(options)));
    int number = 0;
    for (const OptionHelp& argument : command->arguments) {
      std::string pattern = ShellQuoted(fmt::format("{} {}", path, ++number));
      if (argument.repeats) pattern = ShellQuoted(path + " ") + "[1-9]*";
      values += BashValue(pattern, table.Of(argument));
    }
  }
  return kBashNames + names + kBashValues + values + kBashEngine;
}

// ---- zsh ----

// What stands in the brackets of a line for _arguments.
std::string ZshText(std::string_view text) {
  return Replaced(Replaced(Replaced(text, '\\', R"(\\)"), '[', R"(\[)"), ']', R"(\])");
}

std::string ZshAction(const CompletedValue& value) {
  const std::string words = WordList(value.words);
  switch (value.kind) {
    case ValueKind::kFile:
      return "_files";
    case ValueKind::kDirectory:
      return "_directories";
    case ValueKind::kWord:
      return "(" + words + ")";
    case ValueKind::kWordOrFile:
      return "_alternative \"words:name:(" + words + ")\" \"files:file:_files\"";
    case ValueKind::kWordList:
      return "_values -s , name " + words;
    case ValueKind::kMakeArguments:
      return "_project-actions_targets";
    case ValueKind::kTrashId:
      return "_project-actions_trash_ids";
    case ValueKind::kAnything:
      break;
  }
  return " ";
}

std::string ZshOption(const Table& table, const OptionHelp& option) {
  const std::string text = "[" + ZshText(option.text) + "]";
  std::string before;
  std::string names = option.names.front();
  if (option.repeats) {
    before = "'*'";
  } else if (option.names.size() > 1) {
    before = "'(" + WordList(option.names) + ")'";
  }
  if (option.names.size() > 1) names = fmt::format("{{{}}}", fmt::join(option.names, ","));
  if (option.value.empty()) return before + names + ShellQuoted(text);
  return before + names + "=" +
         ShellQuoted(text + ":" + option.value + ":" + ZshAction(table.Of(option)));
}

std::string ZshName(std::string_view path) {
  return "_project-actions_" + Replaced(path, ' ', "_");
}

// A command of subcommands: says which there are, and gives what follows to their functions.
std::string ZshBranch(const Command& command) {
  std::string subcommands;
  std::string cases;
  for (const CommandHelp& sub : command.help->subcommands) {
    const std::string path = command.path.empty() ? sub.name : command.path + " " + sub.name;
    subcommands += " " + ShellQuoted(sub.name + ":" + sub.text);
    cases += fmt::format("                {}) {} && ret=0 ;;\n", sub.name, ZshName(path));
  }
  return fmt::format(R"sh( \
        '1: :->subcommand' '*:: :->rest' && ret=0
    case $state in
        subcommand)
            subcommands=({})
            _describe -t commands subcommand subcommands && ret=0
            ;;
        rest)
            case $words[1] in
{}            esac
            ;;
    esac
    return ret
}}
)sh",
                     subcommands.substr(1), cases);
}

constexpr char kZshBegin[] =
    R"sh(#compdef project-actions
# Completions of project-actions for zsh, made of its table of options.

# Sets places: the options so far that say where the program looks.
_project-actions_places() {
    local i
    places=()
    for ((i = 2; i < CURRENT; i++)); do
        case $words[i] in
            --root=* | --policy=* | --worker=*) places+=("${(Q)words[i]}") ;;
            --root | --policy | --worker) places+=("$words[i]" "${(Q)words[i + 1]}") ;;
        esac
    done
}

# A JSON object for each make target with a plain name, as arguments of make.
_project-actions_targets() {
    local line name
    local -a places candidates
    [[ -n ${words[(r)make]} ]] || return
    _project-actions_places
    for line in ${(f)"$(project-actions call make_targets $places </dev/null 2>/dev/null)"}; do
        name=${line%%: *}
        [[ $line != 'refused: '* && $name =~ '^[A-Za-z0-9_][A-Za-z0-9_./+@%-]*$' ]] || continue
        candidates+=("{\"target\":\"$name\"}")
    done
    compadd "$@" -a candidates
}

_project-actions_trash_ids() {
    local line
    local -a places candidates
    _project-actions_places
    for line in ${(f)"$(project-actions trash list $places </dev/null 2>/dev/null)"}; do
        [[ ! $line =~ '^[0-9]{8}-[0-9]{6}-[0-9a-f]+ ' ]] || candidates+=("${line%% *}")
    done
    compadd "$@" -a candidates
}
)sh";

std::string Zsh(const Table& table) {
  std::string out = kZshBegin;
  for (const Command& command : table.commands) {
    out += fmt::format("\n{}() {{\n", ZshName(command.path));
    const bool branch = !command.help->subcommands.empty();
    if (branch) {
      out += "    local curcontext=$curcontext state state_descr ret=1\n";
      out += "    local -a line subcommands\n    local -A opt_args\n";
    }
    out += branch ? "    _arguments -C" : "    _arguments";
    for (const OptionHelp& option : command.help->options) {
      out += " \\\n        " + ZshOption(table, option);
    }
    int number = 0;
    for (const OptionHelp& argument : command.help->arguments) {
      const std::string which = argument.repeats ? "*" : std::to_string(++number);
      out += " \\\n        " +
             ShellQuoted(which + ":" + argument.value + ":" + ZshAction(table.Of(argument)));
    }
    out += branch ? ZshBranch(command) : "\n}\n";
  }
  return out + "\n" + ZshName("") + " \"$@\"\n";
}

// ---- fish ----

constexpr char kFishBegin[] =
    R"sh(# Completions of project-actions for fish, made of its table of options.

# The subcommand so far and the number of its arguments: `policy explain/1`.
function __project_actions_place
    set -l command
    set -l arguments 0
    set -l is_value no
    for word in (commandline -opc)[2..-1]
        if test $is_value = yes
            set is_value no
        else if contains -- $word )sh";

constexpr char kFishMiddle[] = R"sh(
            set is_value yes
        else if string match -q -- '-*' $word
            continue
        else if contains -- (string join ' ' $command $word) )sh";

constexpr char kFishEnd[] = R"sh(
            set command $command $word
        else
            set arguments (math $arguments + 1)
        end
    end
    echo "$command/$arguments"
end

function __project_actions_at
    string match -q -- "$argv[1]" (__project_actions_place)
end

# The options so far that say where the program looks.
function __project_actions_places
    set -l words (commandline -opc)
    for i in (seq 2 (count $words))
        switch $words[$i]
            case '--root=*' '--policy=*' '--worker=*'
                echo $words[$i]
            case --root --policy --worker
                printf '%s\n' $words[$i] $words[(math $i + 1)]
        end
    end
end

# A JSON object for each make target with a plain name, as arguments of make.
function __project_actions_targets
    contains make (commandline -opc); or return
    project-actions call make_targets (__project_actions_places) </dev/null 2>/dev/null |
        string match -v 'refused: *' |
        string replace -r ': .*' '' |
        string match -r '^[A-Za-z0-9_][A-Za-z0-9_./+@%-]*$' |
        string replace -r '(.*)' '{"target":"$1"}'
end

function __project_actions_trash_ids
    project-actions trash list (__project_actions_places) </dev/null 2>/dev/null |
        string match -r '^[0-9]{8}-[0-9]{6}-[0-9a-f]+(?= )'
end

complete -c project-actions -f
)sh";

std::string FishQuoted(std::string_view text) {
  return "'" + Replaced(Replaced(text, '\\', R"(\\)"), '\'', R"(\')") + "'";
}

std::string FishValue(const CompletedValue& value) {
  const std::string words = WordList(value.words);
  switch (value.kind) {
    case ValueKind::kFile:
      return " -F";
    case ValueKind::kDirectory:
      return R"( -f -a '(__fish_complete_directories)"
             R"( (commandline -ct | string replace -r -- "^--[^=]*=" ""))')";
    case ValueKind::kWord:
      return " -f -a " + FishQuoted(words);
    case ValueKind::kWordOrFile:
      return " -F -a " + FishQuoted(words);
    case ValueKind::kWordList:
      return " -f -a " + FishQuoted("(__fish_complete_list , 'printf %s\\\\n " + words + "')");
    case ValueKind::kMakeArguments:
      return " -f -a '(__project_actions_targets)'";
    case ValueKind::kTrashId:
      return " -f -a '(__project_actions_trash_ids)'";
    case ValueKind::kAnything:
      break;
  }
  return " -f";
}

// `pattern`: of what __project_actions_place prints.
std::string FishLine(const std::string& pattern, const std::string& what, std::string_view text) {
  return fmt::format("complete -c project-actions -n \"__project_actions_at '{}'\"{} -d {}\n",
                     pattern, what, FishQuoted(text));
}

std::string FishLines(const Table& table, const Command& command) {
  std::string out;
  for (const OptionHelp& option : command.help->options) {
    std::string what;
    for (const std::string& name : option.names) {
      const bool is_long = name.starts_with("--");
      what += is_long ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    if (!option.value.empty()) what += " -r" + FishValue(table.Of(option));
    out += FishLine(command.path + "/*", what, option.text);
  }
  for (const CommandHelp& sub : command.help->subcommands) {
    out += FishLine(command.path + "/0", " -a " + sub.name, sub.text);
  }
  int number = 0;
  for (const OptionHelp& argument : command.help->arguments) {
    const std::string which = argument.repeats ? "*" : std::to_string(number++);
    if (table.Of(argument).kind == ValueKind::kAnything) continue;
    out += FishLine(command.path + "/" + which, FishValue(table.Of(argument)), argument.value);
  }
  return out;
}

std::string Fish(const Table& table) {
  std::set<std::string> with_values;
  std::vector<std::string> paths;
  std::string lines;
  for (const Command& command : table.commands) {
    if (!command.path.empty()) paths.push_back(FishQuoted(command.path));
    for (const OptionHelp& option : command.help->options) {
      if (!option.value.empty()) with_values.insert(option.names.begin(), option.names.end());
    }
    lines += FishLines(table, command);
  }
  return fmt::format("{}{}{}{}{}{}", kFishBegin, fmt::join(with_values, " "), kFishMiddle,
                     WordList(paths), kFishEnd, lines);
}

}  // namespace

Result<std::string> CompletionScript(std::string_view shell, const CommandHelp& program,
                                     const CompletedValues& values) {
  Table table{.values = values};
  Flatten(program, "", &table.commands);
  PA_TRY_VOID(Complete(table));
  if (shell == "bash") return Bash(table);
  if (shell == "zsh") return Zsh(table);
  if (shell == "fish") return Fish(table);
  return std::unexpected(Error("write completions", "only bash, zsh and fish are known"));
}

}  // namespace pa
