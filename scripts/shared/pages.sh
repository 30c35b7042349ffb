# shellcheck shell=bash
# Manual page and completions, of the program in a root, for scripts that source this.

# write_pages ROOT PROGRAM FOLDER
write_pages() {
    local arguments page
    mkdir -p "$3/completions"
    while read -r page arguments; do
        # shellcheck disable=SC2086  # They are several.
        LC_ALL=C.UTF-8 chroot "$1" "$2" $arguments >"$3/$page"
    done <<'PAGES'
herald.1 man
completions/herald completion bash
completions/_herald completion zsh
completions/herald.fish completion fish
PAGES
}
