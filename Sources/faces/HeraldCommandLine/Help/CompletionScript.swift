/// A shell's completion of the whole program, generated from its declarations.
package enum CompletionScript {
    package enum Shell: String, Sendable, CaseIterable {
        case bash
        case zsh
        case fish
    }

    /// The script for a shell, to be sourced.
    package static func render(_ root: CommandDeclaration, for shell: Shell) -> String {
        let path = CommandPath(root: root)
        return switch shell {
        case .bash: bash(path)
        case .zsh: zsh(path)
        case .fish: fish(path)
        }
    }

    /// The part shared by Bash and zsh: `chosen` holds the words of the command so far, `word` the next one.
    private static func descent(_ root: CommandPath) -> String {
        let known = root.all.dropFirst().map { "\"\($0.name)\"" }
        guard !known.isEmpty else { return ":" }
        return
            "case \"$chosen $word\" in\n            \(known.joined(separator: "|"))) chosen=\"$chosen $word\" ;;\n        esac"
    }

    /// The spellings of an option on the command line.
    private static func spellings(_ option: OptionDeclaration) -> [String] {
        ["--\(option.name)"] + (option.short.map { ["-\($0)"] } ?? [])
    }

    /// The completed options: only those that have an effect.
    private static func options(_ path: CommandPath) -> [OptionDeclaration] { path.options.filter { !$0.isUnused } }

    /// The words that a shell may propose for a value.
    private static func words(_ traits: ValueTraits) -> [String] {
        traits.choices.isEmpty ? traits.completions : traits.choices
    }

    /// The patterns before an option's value: a space or an equals sign; for a toggle only the sign.
    private static func patterns(_ option: OptionDeclaration, _ path: CommandPath) -> String {
        var beginnings = ["--\(option.name)="]
        if case .value = option.form { beginnings += spellings(option) }
        return beginnings.map { "\"\(path.name) \($0)\"" }.joined(separator: "|")
    }

    private static func bash(_ root: CommandPath) -> String {
        var values = ""
        var words = ""
        for path in root.all {
            for option in options(path) {
                guard let traits = option.value else { continue }
                let kind = traits.isFile ? "file" : traits.isList ? "list" : "word"
                values += "        \(patterns(option, path))) kind=\(kind) words=\(quoted(Self.words(traits))) ;;\n"
            }
            words += "        \"\(path.name)\") words=\(quoted(candidates(path))) ;;\n"
        }
        return """
            # Bash completion of \(root.name): source it, or put it where bash-completion looks.
            _\(root.name)() {
                local chosen="\(root.name)" kind="" words="" lead="" before="" glue="" word current option value index
                local -a parts=()
                COMPREPLY=()
                # Readline breaks words at "=": together again.
                for ((index = 0; index <= COMP_CWORD; index++)); do
                    word="${COMP_WORDS[index]}"
                    if [[ -n "$glue" || ( "$word" == "="* && index -gt 0 ) ]]; then
                        parts[${#parts[@]}-1]+="$word"
                    else
                        parts+=("$word")
                    fi
                    glue=""
                    if [[ "$word" == "=" ]]; then glue=yes; fi
                done
                current="${parts[${#parts[@]}-1]}"
                for ((index = 1; index < ${#parts[@]} - 1; index++)); do
                    word="${parts[index]}"
                    \(descent(root))
                done
                option="${parts[${#parts[@]}-2]}" value="$current"
                if [[ "$current" == --*=* ]]; then
                    lead="${current%%=*}=" value="${current#*=}"
                    option="$lead"
                fi
                case "$chosen $option" in
            \(values)    esac
                if [[ "$kind" == "file" ]]; then
                    local IFS=$'\\n'
                    COMPREPLY=($(compgen -P "$lead" -f -- "$value"))
                elif [[ -n "$kind" ]]; then
                    if [[ "$kind" == "list" && "$value" == *,* ]]; then before="${value%,*},"; fi
                    COMPREPLY=($(compgen -P "$lead$before" -W "$words" -- "${value#"$before"}"))
                else
                    case "$chosen" in
            \(words)        esac
                    COMPREPLY=($(compgen -W "$words" -- "$current"))
                fi
                if [[ ${#COMPREPLY[@]} -eq 1 && "${COMPREPLY[0]}" == *= ]]; then compopt -o nospace 2>/dev/null; fi
                # Readline replaces only what stands behind the last "=".
                if [[ "$COMP_WORDBREAKS" == *=* && "$current" == *=* ]]; then
                    COMPREPLY=("${COMPREPLY[@]#"${current%=*}="}")
                fi
            }
            complete -o bashdefault -F _\(root.name) \(root.name)

            """
    }

    /// The words that may follow a command: its subcommands, its arguments' choices, its options.
    private static func candidates(_ path: CommandPath) -> [String] {
        path.command.subcommands.map(\.name) + path.command.arguments.flatMap(\.value.choices)
            + options(path).flatMap(spellings)
    }

    private static func zsh(_ root: CommandPath) -> String {
        var values = ""
        var words = ""
        for path in root.all {
            for option in options(path) {
                guard let traits = option.value else { continue }
                let words = Self.words(traits).map { quoted([$0]) }.joined(separator: " ")
                let proposal =
                    words.isEmpty
                    ? ":" : traits.isList ? "compset -P '*,'; compadd -qS , -- \(words)" : "compadd -- \(words)"
                values += "        \(patterns(option, path))) \(traits.isFile ? "_files" : proposal); return ;;\n"
            }
            let described =
                path.command.subcommands.map { ($0.name, $0.summary) }
                + path.command.arguments.flatMap { argument in argument.value.choices.map { ($0, argument.summary) } }
                + options(path).flatMap { option in spellings(option).map { ($0, option.summary) } }
            let items = described.map { quoted(["\($0.0.replacing(":", with: "\\:")):\($0.1)"]) }
            words += "        \"\(path.name)\") items=(\(items.joined(separator: " "))) ;;\n"
        }
        return """
            #compdef \(root.name)
            # Zsh completion of \(root.name): put it as _\(root.name) into a folder of $fpath, or source it after compinit.
            _\(root.name)() {
                local chosen="\(root.name)" word option="${words[CURRENT-1]}"
                local -a items
                for word in "${(@)words[2,CURRENT-1]}"; do
                    \(descent(root))
                done
                if [[ "${words[CURRENT]}" == --*=* ]]; then
                    option="${words[CURRENT]%%=*}="
                    compset -P 1 '*='
                fi
                case "$chosen $option" in
            \(values)    esac
                case "$chosen" in
            \(words)    esac
                _describe '\(root.name)' items
            }
            if [ "$funcstack[1]" = "_\(root.name)" ]; then _\(root.name) "$@"; else compdef _\(root.name) \(root.name); fi

            """
    }

    private static func fish(_ root: CommandPath) -> String {
        var text = """
            # fish completion of \(root.name): put it into ~/.config/fish/completions/\(root.name).fish
            function __\(root.name)_path
                set -l path \(root.name)
                for word in (commandline -opc)[2..-1]
                    switch "$path $word"
                        case \(root.all.dropFirst().map { quoted([$0.name]) }.joined(separator: " "))
                            set path "$path $word"
                    end
                end
                echo $path
            end
            complete -c \(root.name) -f

            """
        for path in root.all {
            let condition = "complete -c \(root.name) -n 'test (__\(root.name)_path) = \"\(path.name)\"'"
            for command in path.command.subcommands {
                text += "\(condition) -a \(command.name) -d \(fishQuoted(command.summary))\n"
            }
            for argument in path.command.arguments where !argument.value.choices.isEmpty {
                let choices = argument.value.choices.joined(separator: " ")
                text += "\(condition) -a '\(choices)' -d \(fishQuoted(argument.summary))\n"
            }
            for option in options(path) {
                text += "\(condition) -l \(option.name)" + (option.short.map { " -s \($0)" } ?? "")
                if case .value(let traits) = option.form {
                    text += traits.isFile ? " -r -F" : " -x"
                    let words = Self.words(traits).joined(separator: " ")
                    if !words.isEmpty { text += traits.isList ? " -a '(__fish_append , \(words))'" : " -a '\(words)'" }
                }
                text += " -d \(fishQuoted(option.summary))\n"
            }
        }
        return text
    }

    /// Words in single quotes of Bash and zsh.
    private static func quoted(_ words: [String]) -> String {
        "'" + words.joined(separator: " ").replacing("'", with: "'\\''") + "'"
    }

    private static func fishQuoted(_ text: String) -> String {
        "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
    }
}
