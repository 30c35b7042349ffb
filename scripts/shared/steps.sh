# shellcheck shell=bash
# Steps of a long run, for scripts that source this: each is named, watched, timed and counted as building or testing.
#
#     step build|test NAME COMMAND ARGUMENT…
#     report_steps
#
# RUN_STEPS names the file with the steps of one run; a script that finds it set belongs to a longer run, which reports
# for it.

if [ -z "${RUN_STEPS:-}" ]; then
    RUN_STEPS=$(mktemp)
    export RUN_STEPS
    steps_are_reported_here=yes
fi

steps_watchdog=$(realpath "$(dirname "${BASH_SOURCE[0]}")/watchdog.py")

step() {
    local kind=$1 name=$2 status=0 start=$SECONDS
    shift 2
    echo "──── $name"
    # A step that hangs is named, instead of taking the whole run's time with it; a slow one continues.
    "$steps_watchdog" "$@" </dev/null || status=$?
    if [ "$status" -ne 0 ]; then
        echo "──── $name: FAILED with status $status after $((SECONDS - start)) s"
        exit "$status"
    fi
    printf '%s\t%s\t%s\n' "$kind" "$((SECONDS - start))" "$name" >>"$RUN_STEPS"
    echo "──── $name: done in $((SECONDS - start)) s"
}

report_steps() {
    [ -n "${steps_are_reported_here:-}" ] || return 0
    echo
    awk -F '\t' '{ printf "%6d s  %-5s  %s\n", $2, $1, $3; all += $2; of[$1] += $2 }
        END { printf "%6d s  in all: %d s of building, %d s of testing\n", all, of["build"], of["test"] }' "$RUN_STEPS"
    rm "$RUN_STEPS"
}
