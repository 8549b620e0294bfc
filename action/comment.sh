#!/usr/bin/env bash
# Write the summary as a comment on the pull request, in place of the one that an earlier run wrote.
#
# LEADLINE_SUMMARY        file of the summary, an output of compare.sh
# LEADLINE_PULL_REQUEST   number of the pull request
# GH_TOKEN                token with the permission `pull-requests: write`, for gh
# GITHUB_REPOSITORY, GITHUB_WORKFLOW, GITHUB_JOB, GITHUB_ACTION   set by GitHub; the last three tell gates apart
#
# A comment that cannot be written is a warning: the verdict stands on the page of the job.
set -uo pipefail

LEADLINE_MARK="<!-- leadline: ${GITHUB_WORKFLOW:-} ${GITHUB_JOB:-} ${GITHUB_ACTION:-} -->"
export LEADLINE_MARK
comments="repos/$GITHUB_REPOSITORY/issues/$LEADLINE_PULL_REQUEST/comments"
body=$(mktemp)
trap 'rm -f "$body"' EXIT
{ echo "$LEADLINE_MARK"; head -c 60000 "$LEADLINE_SUMMARY"; } > "$body"  # GitHub takes 65,536 characters

write() {
  local earlier
  earlier=$(gh api --paginate "$comments" --jq '.[] | select(.body | startswith(env.LEADLINE_MARK)) | .id') || return
  if [ -n "$earlier" ]; then
    gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/${earlier%%$'\n'*}" -F "body=@$body"
  else
    gh api --silent --method POST "$comments" -F "body=@$body"
  fi
}

write || echo "::warning title=leadline::the summary could not be written to the pull request; expected the permission pull-requests: write"
