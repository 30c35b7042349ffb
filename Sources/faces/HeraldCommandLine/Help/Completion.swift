/// What may follow on a command line, by its declarations, and the scripts with which shells ask for that.
package enum Completion {
    package enum Shell: String, Sendable, CaseIterable {
        case bash
        case zsh
        case fish
    }

    /// The line with which a shell is told to complete the path of a file.
    private static let file = ":file"

    /// A word and its description, which may be empty.
    package typealias Candidate = (word: String, summary: String)

    /// What may stand in the place of the last of these words, which follow the program's name; nil for a file.
    package static func candidates(for words: [String], of root: CommandDeclaration) -> [Candidate]? {
        var path = CommandPath(root: root)
        for word in words.dropLast() { path = path.command.subcommand(word).map(path.descending) ?? path }
        // Only those that have an effect.
        let options = path.options.filter { !$0.isUnused }
        let current = words.last ?? ""
        var lead = ""
        var option: OptionDeclaration?
        if current.hasPrefix("--"), let equals = current.firstIndex(of: "=") {
            lead = String(current[...equals])
            option = options.first { "--\($0.name)=" == lead }
        } else if let before = words.dropLast().last {
            option = options.first { $0.takesNextWord && spellings($0).contains(before) }
        }
        var candidates: [Candidate]
        if let traits = option?.value {
            guard !traits.isFile else { return nil }
            let value = current.dropFirst(lead.count)
            if traits.isList, let comma = value.lastIndex(of: ",") { lead += value[...comma] }
            candidates = (traits.choices.isEmpty ? traits.completions : traits.choices).map { (lead + $0, "") }
        } else {
            candidates = path.command.subcommands.map { ($0.name, $0.summary) }
            for argument in path.command.arguments {
                candidates += (argument.value?.choices ?? []).map { ($0, argument.summary) }
            }
            for option in options { candidates += spellings(option).map { ($0, option.summary) } }
        }
        return candidates.filter { $0.word.hasPrefix(current) }
    }

    private static func spellings(_ option: OptionDeclaration) -> [String] {
        ["--\(option.name)"] + (option.short.map { ["-\($0)"] } ?? [])
    }

    /// The same as a shell's script reads it.
    package static func answer(to words: [String], of root: CommandDeclaration, in shell: Shell) -> String {
        guard let candidates = candidates(for: words, of: root) else { return file + "\n" }
        return candidates.map { word, summary in
            switch shell {
            case .bash: word + "\n"
            case .zsh: word.replacing(":", with: "\\:") + (summary.isEmpty ? "" : ":\(summary)") + "\n"
            case .fish: "\(word)\t\(summary)\n"
            }
        }.joined()
    }

    /// The script for a shell, to be sourced; it asks the program with `completion SHELL -- WORD…`.
    package static func script(of program: String, for shell: Shell) -> String {
        switch shell {
        case .bash: bash(program)
        case .zsh: zsh(program)
        case .fish: fish(program)
        }
    }

    private static func bash(_ program: String) -> String {
        """
        # Bash completion of \(program): source it, or put it where bash-completion looks.
        _\(program)() {
            local IFS=$'\\n' glue="" word index current lead=""
            local -a parts=()
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
            COMPREPLY=($(\(program) completion bash -- "${parts[@]:1}" 2>/dev/null))
            if [[ "${COMPREPLY[0]}" == "\(file)" ]]; then
                if [[ "$current" == --*=* ]]; then lead="${current%%=*}="; fi
                COMPREPLY=($(compgen -P "$lead" -f -- "${current#"$lead"}"))
            fi
            if [[ ${#COMPREPLY[@]} -eq 1 && "${COMPREPLY[0]}" == *= ]]; then compopt -o nospace 2>/dev/null; fi
            # Readline replaces only what stands behind the last "=".
            if [[ "$COMP_WORDBREAKS" == *=* && "$current" == *=* ]]; then
                COMPREPLY=("${COMPREPLY[@]#"${current%=*}="}")
            fi
        }
        complete -o bashdefault -F _\(program) \(program)

        """
    }

    private static func zsh(_ program: String) -> String {
        """
        #compdef \(program)
        # Zsh completion of \(program): put it as _\(program) into a folder of $fpath, or source it after compinit.
        _\(program)() {
            local -a items
            items=("${(@f)$(\(program) completion zsh -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
            if [[ "${items[1]}" == "\(file)" ]]; then
                if [[ "${words[CURRENT]}" == --*=* ]]; then compset -P 1 '*='; fi
                _files
            else
                _describe '\(program)' items
            fi
        }
        if [ "$funcstack[1]" = "_\(program)" ]; then _\(program) "$@"; else compdef _\(program) \(program); fi

        """
    }

    private static func fish(_ program: String) -> String {
        """
        # fish completion of \(program): put it into ~/.config/fish/completions/\(program).fish
        function __\(program)_words
            set -l current (commandline -ct)
            set -l lead (string match -r '^--[^=]*=' -- $current)
            for line in (\(program) completion fish -- (commandline -opc)[2..-1] $current 2>/dev/null)
                if test "$line" = "\(file)"
                    for path in (__fish_complete_path (string replace -- "$lead" "" $current))
                        echo "$lead$path"
                    end
                else
                    echo $line
                end
            end
        end
        complete -c \(program) -f -a '(__\(program)_words)'

        """
    }
}

extension OptionDeclaration {
    fileprivate var takesNextWord: Bool { if case .value = form { true } else { false } }
}
