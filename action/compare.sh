#!/usr/bin/env bash
# Run `leadline compare` with the inputs of the action, and write what it found where GitHub shows it.
#
# LEADLINE_QRELS, LEADLINE_RUNS, ...  the inputs of action.yml; several values stand on lines of their own
# GITHUB_STEP_SUMMARY                 file to which the summary is appended; by default it is printed
# GITHUB_OUTPUT                       file to which status and outcome are appended, if it is set
#
# The exit status is that of `leadline compare`: 0 passed, 1 a condition failed, 2 bad input or usage.
set -uo pipefail

arguments=(compare "${LEADLINE_QRELS:?is not set; expected the file of judgments}")

# Append every line of a text that is not blank to the arguments, after an option if there is one.
append() {
  local option=$1 line
  while IFS= read -r line || [ -n "$line" ]; do
    line="${line#"${line%%[![:space:]]*}"}"
    line="${line%"${line##*[![:space:]]}"}"
    [ -n "$line" ] || continue
    if [ -n "$option" ]; then arguments+=("$option"); fi
    arguments+=("$line")
  done <<< "$2"
}

append "" "${LEADLINE_RUNS:?is not set; expected the files of runs}"
append "" "${LEADLINE_BASELINE:-}"  # the last run is the baseline
append --baseline-file "${LEADLINE_BASELINE_FILE:-}"
append -m "${LEADLINE_MEASURES:-}"
append --fail-if-worse "${LEADLINE_FAIL_IF_WORSE:-}"
append --require-not-worse "${LEADLINE_REQUIRE_NOT_WORSE:-}"
append --fail-below "${LEADLINE_FAIL_BELOW:-}"
append "" "${LEADLINE_ARGUMENTS:-}"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
summary=$folder/summary.md
errors=$folder/errors.txt

leadline "${arguments[@]}" --summary "$summary" 2> "$errors"
status=$?

while IFS= read -r line; do
  case $line in
    "leadline: error: "* | "leadline: FAILED: "* | "leadline: CANNOT TELL: "*)
      text=${line#leadline: }
      echo "::error title=leadline::${text//%/%25}"
      ;;
    *) echo "$line" >&2 ;;
  esac
done < "$errors"

if [ ! -s "$summary" ]; then
  { echo "### leadline: no comparison (status $status)"; echo; sed 's/^/    /' "$errors"; } > "$summary"
fi
cat "$summary" >> "${GITHUB_STEP_SUMMARY:-/dev/stdout}"

case $status in
  0) outcome=passed ;;
  1) outcome=failed ;;
  *) outcome=error ;;
esac
if [ -n "${GITHUB_OUTPUT:-}" ]; then
  printf 'status=%s\noutcome=%s\n' "$status" "$outcome" >> "$GITHUB_OUTPUT"
fi
exit "$status"
