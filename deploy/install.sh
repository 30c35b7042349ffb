#!/bin/sh
# Installs Herald from the tarball that lies beside this script, on any x86-64 Linux with glibc 2.36 or newer.
#
#     ./install.sh                  into /usr/local as root, into ~/.local as anybody else
#     PREFIX=FOLDER ./install.sh    there: a path from the root
#     ./install.sh --dry-run        checks everything, says what it would do, and does nothing
#     ./install.sh --uninstall      takes away what it has put there (PREFIX as before); settings stay
#
# It needs the tarball and SHA256SUMS of one release in its folder, fetches nothing, and writes nothing outside of PREFIX.
set -eu

say() { printf 'install.sh: %s\n' "$*"; }
fail() {
    printf 'install.sh: %s\n' "$*" >&2
    exit 1
}

usage() { sed -n '2,9s/^# \{0,1\}//p' "$0"; }

mode=install
case ${1-} in
'') ;;
--dry-run) mode=dry-run ;;
--uninstall) mode=uninstall ;;
-h | --help) usage && exit ;;
*) usage >&2 && exit 2 ;;
esac
[ $# -le 1 ] || { usage >&2 && exit 2; }

if [ -z "${PREFIX-}" ]; then
    if [ "$(id -u)" -eq 0 ]; then PREFIX=/usr/local; else PREFIX=${HOME:?PREFIX and HOME are not set}/.local; fi
fi
case $PREFIX in
*[!A-Za-z0-9/._+@-]*) fail "PREFIX has a character that a unit file would need to have escaped: $PREFIX" ;;
/*) PREFIX=${PREFIX%/} ;;
*) fail "PREFIX has to be a path from the root: $PREFIX" ;;
esac
installed=$PREFIX/share/herald/installed-files

# Takes away the files of a list, of paths below PREFIX, and the folders that are empty then.
remove_files() {
    while IFS= read -r file; do
        rm -f "$PREFIX/$file"
    done <"$1"
    # The deepest first; what else has files in it stays.
    sed -n 's|/[^/]*$||p' "$1" | sort -ru | while IFS= read -r folder; do
        while [ "$folder" != . ] && rmdir "$PREFIX/$folder" 2>/dev/null; do folder=$(dirname "$folder"); done
    done
}

if [ "$mode" = uninstall ]; then
    [ -f "$installed" ] || fail "there is nothing of this script in $PREFIX (no $installed)"
    say "taking the $(wc -l <"$installed") files of $installed out of $PREFIX"
    list=$(mktemp)
    trap 'rm -f "$list"' EXIT
    cp "$installed" "$list"
    remove_files "$list"
    exit
fi

cd "$(dirname "$0")"
[ -f SHA256SUMS ] || fail "SHA256SUMS of the release has to lie beside this script"
line=$(grep -E '^[0-9a-f]{64}  herald-[0-9][A-Za-z0-9.+-]*-linux-x86_64\.tar\.gz$' SHA256SUMS) ||
    fail "SHA256SUMS names no tarball"
[ "$(printf '%s\n' "$line" | wc -l)" -eq 1 ] || fail "SHA256SUMS names several tarballs"
tarball=${line##* }
[ -f "$tarball" ] || fail "$tarball has to lie beside this script"
printf '%s\n' "$line" | sha256sum -c - >/dev/null 2>&1 || fail "$tarball is not what SHA256SUMS says: fetch both anew"
say "$tarball is as SHA256SUMS says"

[ "$(uname -s) $(uname -m)" = "Linux x86_64" ] || fail "the program is for Linux on x86-64, this is $(uname -s) on $(uname -m)"
glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null) || glibc=
glibc=${glibc#glibc }
case $glibc in
[0-9]*.[0-9]*) ;;
*) fail "the program needs glibc 2.36 or newer, and this machine has none (Alpine's musl is another one)" ;;
esac
[ "${glibc%%.*}" -gt 2 ] || [ "$(printf %s "${glibc#*.}" | cut -d . -f 1)" -ge 36 ] ||
    fail "the program needs glibc 2.36 or newer, and this machine has $glibc"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -xzf "$tarball" -C "$work"
tree=$work/${tarball%.tar.gz}
(cd "$tree" && find . -type f | sed 's|^\./||' | LC_ALL=C sort) >"$work/files"
echo share/herald/installed-files >>"$work/files"

say "putting $(wc -l <"$work/files") files into $PREFIX: bin/herald, its libraries in lib/herald, documents and examples in share"
if [ -f "$installed" ]; then say "in place of what is there from an earlier time"; fi
[ "$mode" = install ] || exit 0

for file in herald.service herald-feedback.service herald.yaml; do
    sed "s|@PREFIX@|$PREFIX|g" "$tree/share/herald/$file" >"$work/text"
    cat "$work/text" >"$tree/share/herald/$file"
done
mkdir -p "$PREFIX" 2>/dev/null && [ -w "$PREFIX" ] || fail "$(id -un) may not write to $PREFIX: choose another PREFIX, or be root"
if [ -f "$installed" ]; then
    # What a newer version no longer has.
    grep -Fvx -f "$work/files" "$installed" >"$work/gone" || true
    remove_files "$work/gone"
fi
while IFS= read -r file; do
    mkdir -p "$PREFIX/$(dirname "$file")"
    # By another name first: a program that runs goes on with its own file.
    [ ! -f "$tree/$file" ] || { cp "$tree/$file" "$PREFIX/$file.new" && mv -f "$PREFIX/$file.new" "$PREFIX/$file"; }
done <"$work/files"
cp "$work/files" "$installed"

"$PREFIX/bin/herald" --version | head -n 1
say "try it:     $PREFIX/bin/herald demo"
say "a service:  $PREFIX/share/herald/herald.service and herald.yaml are examples; share/doc/herald/deploy/README.md has the steps"
case :$PATH: in
*:"$PREFIX/bin":*) ;;
*) say "$PREFIX/bin is not in PATH" ;;
esac
