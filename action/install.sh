#!/usr/bin/env bash
# Install leadline into an environment of its own, and put it on the path of the steps that follow.
#
# LEADLINE_PACKAGE    what pip installs; by default the checkout that this script is part of, with Parquet
# LEADLINE_PYTHON     the interpreter; by default python3, or python where there is no python3
# RUNNER_TEMP         folder of the environment; by default the folder of temporary files
# GITHUB_PATH         file to which the folder of programs is appended, if it is set
set -euo pipefail

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
package=${LEADLINE_PACKAGE:-"$checkout[parquet]"}
python=${LEADLINE_PYTHON:-$(command -v python3 || command -v python)}
environment=${RUNNER_TEMP:-${TMPDIR:-/tmp}}/leadline-environment

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "::error title=leadline::$("$python" --version) found; expected Python 3.11 or newer (python-version)"
  exit 2
}
"$python" -m venv "$environment"
programs=$environment/bin
[ -d "$programs" ] || programs=$environment/Scripts  # on Windows
"$programs/python" -m pip install --quiet --disable-pip-version-check "$package"
"$programs/leadline" --version
if [ -n "${GITHUB_PATH:-}" ]; then
  echo "$programs" >> "$GITHUB_PATH"
fi
