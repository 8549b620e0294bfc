#!/usr/bin/env bash
# Install leadline into an environment of its own, and put it on the path of the steps that follow.
#
# Where the action is pinned to a tag (OWNER/leadline@v1.2.3), the wheel is one of the assets of that release.
# Elsewhere the checkout that this script is part of is built without compiled kernels: no compiler is needed.
#
# LEADLINE_PACKAGE      what pip installs in place of these
# LEADLINE_TAG          the tag that the action is pinned to; other names of commits are no versions
# LEADLINE_RELEASE      page or folder of the wheels of this release
# LEADLINE_INPUTS       names of the files to be read: those in Parquet or Arrow need pyarrow
# LEADLINE_PYTHON       the interpreter; by default python3, or python where there is no python3
# RUNNER_TEMP           folder of the environment; by default the folder of temporary files
# GITHUB_PATH           file to which the folder of programs is appended, if it is set
set -euo pipefail

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=${LEADLINE_PYTHON:-$(command -v python3 || command -v python)}
folder=${RUNNER_TEMP:-${TMPDIR:-/tmp}}
environment=$folder/leadline-environment
extras=""
if grep -qiE '\.(parquet|arrow|feather)\b' <<< "${LEADLINE_INPUTS:-}"; then extras="[parquet]"; fi

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "::error title=leadline::$("$python" --version) found; expected Python 3.11 or newer (python-version)"
  exit 2
}

# The pip of the interpreter, if it can install for another one, saves the time of installing pip.
if "$python" -m pip --python "$python" --version > /dev/null 2>&1; then
  "$python" -m venv --without-pip "$environment"
  pip=("$python" -m pip --python "$environment")
else
  "$python" -m venv "$environment"
  pip=()
fi
programs=$environment/bin
[ -d "$programs" ] || programs=$environment/Scripts  # on Windows
[ ${#pip[@]} -gt 0 ] || pip=("$programs/python" -m pip)
install=("${pip[@]}" install --quiet --disable-pip-version-check --no-compile)

# Print the wheel of the release; fail where there is none.
release() {
  [[ ${LEADLINE_TAG:-} =~ ^v[0-9]+(\.[0-9]+)+ ]] && [ -n "${LEADLINE_RELEASE:-}" ] || return 1
  "${pip[@]}" download --quiet --disable-pip-version-check --no-deps --no-index --only-binary :all: \
    --find-links "$LEADLINE_RELEASE" --dest "$folder/leadline-wheel" "leadline==${LEADLINE_TAG#v}" >&2 || {
    echo "no wheel for this system at $LEADLINE_RELEASE; the checkout is built" >&2
    return 1
  }
  ls "$folder"/leadline-wheel/leadline-*.whl
}

if [ -n "${LEADLINE_PACKAGE:-}" ]; then
  "${install[@]}" "$LEADLINE_PACKAGE"
elif wheel=$(release); then
  "${install[@]}" "$wheel$extras"
else
  "${install[@]}" "setuptools>=77"
  LEADLINE_BUILD=pure "${install[@]}" --no-build-isolation "$checkout$extras"
fi
"$programs/leadline" --version
if [ -n "${GITHUB_PATH:-}" ]; then
  echo "$programs" >> "$GITHUB_PATH"
fi
