#!/usr/bin/env bash
# Run `leadline compare` with the inputs of the action, and write what it found where GitHub shows it.
#
# LEADLINE_QRELS, LEADLINE_RUNS, ...  the inputs of action.yml; several values stand on lines of their own
# GITHUB_STEP_SUMMARY                 file to which the summary is appended; by default it is printed
# GITHUB_OUTPUT                       file to which status, outcome and summary are appended, if it is set
# RUNNER_TEMP                         folder of the summary that is an output
#
# The exit status is that of `leadline compare`: 0 passed, 1 a condition failed, 2 bad input or usage.
set -uo pipefail

arguments=(compare)

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

# What no comparison can tell: a misspelt input is empty here, and a gate without conditions would be green.
blank() { [ -z "$(tr -d '[:space:]' <<< "$1")" ]; }
wrong=""
if blank "${LEADLINE_QRELS:-}"; then
  wrong="the input 'qrels' is empty. Set it to a file with judgments."
elif blank "${LEADLINE_RUNS:-}"; then
  wrong="the input 'runs' is empty. Set it to one or more run files, one per line."
elif blank "${LEADLINE_FAIL_IF_WORSE:-}${LEADLINE_REQUIRE_NOT_WORSE:-}${LEADLINE_FAIL_BELOW:-}"; then
  wrong="there is no condition. Set fail-if-worse, require-not-worse or fail-below."
fi

append "" "${LEADLINE_QRELS:-}"
append "" "${LEADLINE_RUNS:-}"
append --baseline "${LEADLINE_BASELINE:-}"
append --pool "${LEADLINE_POOL:-}"
append --machine "${LEADLINE_MACHINE:-}"
append -m "${LEADLINE_MEASURES:-}"
append --fail-if-worse "${LEADLINE_FAIL_IF_WORSE:-}"
append --require-not-worse "${LEADLINE_REQUIRE_NOT_WORSE:-}"
append --fail-below "${LEADLINE_FAIL_BELOW:-}"
append "" "${LEADLINE_ARGUMENTS:-}"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
summary=$folder/summary.md
errors=$folder/errors.txt
printed=$folder/printed.txt
: > "$printed"

if [ -n "$wrong" ]; then
  echo "leadline: error: $wrong" > "$errors"
  status=2
else
  leadline "${arguments[@]}" -f table -o "$summary" > "$printed" 2> "$errors"
  status=$?
  if [ "$status" -lt 2 ] && [ ! -s "$summary" ]; then  # --help, --version: nothing was compared
    echo "leadline: error: nothing was compared. Remove --help or --version from the input 'arguments'." >> "$errors"
    status=2
  fi
fi

# Show lines, those that fail the job as annotations.
show() {
  local line text
  while IFS= read -r line || [ -n "$line" ]; do
    text=${line#leadline: }
    case $text in
      "error: "* | "FAILED: "* | "CANNOT TELL: "*) echo "::error title=leadline::${text//%/%25}" ;;
      *) echo "$line" ;;
    esac
  done
}

show < "$printed"
show < "$errors"

if [ ! -s "$summary" ]; then
  { echo "### leadline: no comparison (status $status)"; echo; sed 's/^/    /' "$errors"; } > "$summary"
else
  failed=$(grep -cE '^(FAILED|CANNOT TELL): ' "$printed")
  conditions=$((failed + $(grep -c '^passed: ' "$printed")))
  skipped=$(sed -nE 's/^([0-9,]+) checks? (was|were) skipped.*/\1/p' "$printed")
  title="$failed of $conditions conditions failed${skipped:+, $skipped skipped}"
  if [ "$conditions" = 0 ]; then
    title="$skipped condition$([ "$skipped" = 1 ] || echo s) skipped"
  fi
  { echo "### leadline: $title"; echo; cat "$summary"; } > "$folder/whole.md"
  summary=$folder/whole.md
fi
cat "$summary" >> "${GITHUB_STEP_SUMMARY:-/dev/stdout}"
kept=$(mktemp "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/leadline-summary.XXXXXX")
cat "$summary" > "$kept"

case $status in
  0) outcome=passed ;;
  1) outcome=failed ;;
  *) outcome=error ;;
esac
if [ -n "${GITHUB_OUTPUT:-}" ]; then
  printf 'status=%s\noutcome=%s\nsummary=%s\n' "$status" "$outcome" "$kept" >> "$GITHUB_OUTPUT"
fi
exit "$status"
